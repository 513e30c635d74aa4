package import Filtering
import GRDB
package import Model
import Synchronization

extension Store {
  /// Performs a list of writes to local types and to local fields in one transaction, all or nothing.
  ///
  /// - Parameters:
  ///   - owner: the owner of the rows; no other rows are written.
  ///   - viewer: the scopes of the upstream entities whose local fields are written, and of those that
  ///     filters' key paths lead to; by default the owner's and the public one.
  ///   - now: the time of the write, for the age of rows only.
  ///   - quota: the limits of stored bytes; an owner over its quota can still reduce its usage.
  ///   - deadline: the time limit for finding the entities of all filters, before the write begins.
  ///   - key: under which the list is written at most once; nil for none.
  ///   - review: the hooks that are asked before; nothing is written unless they allowed exactly these
  ///     changes.
  /// - Returns: the outcome of each operation in order and the commit, or the reason of the refusal.
  package func writeLocal(
    _ operations: [LocalOperation], schema: LocalSchema, owner: LocalOwner,
    viewer: Viewer? = nil, now: Timestamp, quota: DataQuota = .unlimited,
    deadline: QueryDeadline? = nil, key: LocalWriteKey? = nil,
    review: LocalWriteReview = .none
  ) async throws(StorageError) -> Result<WriteCommit, WriteRefusal> {
    // Before the searches, which can find other entities by now.
    if let key, let known = try await replay(key) { return known }
    let viewer =
      viewer ?? Viewer(layers: [owner.device, owner.user, .public].compactMap { $0 })
    let searches = operations.enumerated().compactMap { place, operation in
      Self.search(operation, place, owner, viewer)
    }
    let matches: FilterMatches
    let lane = QueryLane(
      .write, in: searches.first?.scope ?? owner.device ?? owner.user ?? .public)
    switch try await self.matches(searches, lane: lane, within: deadline) {
    case .success(let found): matches = found
    case .failure(let refusal): return .failure(refusal)
    }
    let catalogue = catalogue
    return try await refusable { database, memory in
      let context = WriteContext(
        database, memory, catalogue, call: CallNumber(memory.counters.call),
        horizon: CallNumber(memory.horizon))
      let keys = LocalWriteKeys(database: database)
      if let known = try key.flatMap({ try keys.replay($0) }) {
        return WriteCommit(outcomes: [], report: context.finish(), replay: known)
      }
      // The removal has deleted the device's rows, and would not see these.
      if let device = owner.device, try !DeviceTable(database: database).exists(device.subject) {
        throw WriteRefusal.ownerRemoved
      }
      let usage = OwnerUsage(database: database)
      let owners = [owner.device, owner.user].compactMap { $0 }
      let before = try owners.map { try usage.bytes(of: $0) }
      let checkQuota = {
        for (owner, bytes) in zip(owners, before) where try usage.bytes(of: owner) > bytes {
          if let excess = try usage.excess(of: owner, adding: 0, under: quota) {
            throw WriteRefusal.overQuota(excess)
          }
        }
      }
      var writer = LocalWriter(
        rows: LocalRows(
          context, schema: schema, owner: owner, now: now,
          recheck: FilterRecheck(matches, context, viewer: viewer, deadline: deadline),
          viewer: viewer,
          watched: review.hooks.types.union(memory.hooks?.subscriptions.types ?? []),
          checkQuota: checkQuota))
      let outcomes = try writer.perform(operations)
      if let key { try keys.insert(key, outcomes: try key.encode(outcomes), at: now) }
      try checkQuota()
      try review.check(writer.changes)
      try memory.hooks?.write(writer.changes, in: context, at: now)
      return WriteCommit(outcomes: outcomes, report: context.finish())
    }
  }

  /// Returns the outcome of an earlier request with the same key; nil if there was none.
  func replay(
    _ key: LocalWriteKey
  ) async throws(StorageError) -> Result<WriteCommit, WriteRefusal>? {
    let known: Result<[UInt8], WriteRefusal>? = try await reader.read { database in
      do {
        return try LocalWriteKeys(database: database).replay(key).map { .success($0) }
      } catch let refusal as WriteRefusal {
        return .failure(refusal)
      }
    }
    let report = CommitReport(
      revision: nil, changes: [], invalidated: [], resultChanged: false, isExact: true, head: head)
    return known?.map { WriteCommit(outcomes: [], report: report, replay: $0) }
  }

  /// Returns the search for a write with a filter, in the owner's scope, or among upstream's entities that the
  /// writer sees; nil for a write to one entity.
  private static func search(
    _ operation: LocalOperation, _ place: Int, _ owner: LocalOwner, _ viewer: Viewer
  ) -> FilterMatches.Search? {
    guard case .filter(let filter) = operation.target else { return nil }
    var scope: Scope?
    if operation.type.extended == nil {
      guard let own = owner.scope(operation.type.scope) else { return nil }
      scope = own
    }
    return FilterMatches.Search(
      place: place, type: operation.filtered, filter: filter, scope: scope, viewer: viewer,
      pointer: operation.pointer)
  }

  /// Performs a command that a thrown ``WriteRefusal`` rolls back.
  func refusable(
    _ perform: @escaping @Sendable (Database, WriterMemory) throws -> WriteCommit
  ) async throws(StorageError) -> Result<WriteCommit, WriteRefusal> {
    let note = ThrownRefusal<WriteRefusal>()
    do throws(StorageError) {
      return .success(
        try await writer.write(report: { $0.report }) { database, memory in
          do {
            return try perform(database, memory)
          } catch let error as WriteRefusal {
            // Rethrown, so that the transaction rolls back.
            note.refusal.withLock { $0 = error }
            throw error
          }
        })
    } catch {
      guard let refusal = note.refusal.withLock({ $0 }) else { throw error }
      return .failure(refusal)
    }
  }
}

/// The owner that local types are written for; a write can access no other owner's rows.
package struct LocalOwner: Hashable, Sendable {
  /// Nil if the writer is not a registered device.
  package let device: Scope?
  /// Nil if the writer is not a signed-in user.
  package let user: Scope?

  package init(device: Scope?, user: Scope?) {
    self.device = device
    self.user = user
  }

  package func scope(_ kind: Scope.Kind) -> Scope? {
    switch kind {
    case .device: device
    case .user: user
    case .public, .role, .claim: nil
    }
  }
}

/// The hooks that are asked before a list of local writes, and what they have allowed.
package struct LocalWriteReview: Sendable {
  package static let none = LocalWriteReview(hooks: .none)

  package let hooks: HookSubscriptions
  /// The changes that the hooks have allowed; empty before they are asked.
  package var allowed: [LocalChange] = []

  package init(hooks: HookSubscriptions) {
    self.hooks = hooks
  }

  /// Throws if hooks must be asked about other changes than those they have allowed. The entities can
  /// have changed since.
  func check(_ changes: [LocalChange]) throws(WriteRefusal) {
    guard !hooks.isEmpty else { return }
    let asked = changes.filter { !hooks.hooks(for: $0.trigger).isEmpty }
    guard asked.isEmpty || asked == allowed else { throw .unreviewed(asked) }
  }
}

/// The commit of a list of writes.
package struct WriteCommit: Sendable {
  /// In the order of the operations; none for a replay.
  package let outcomes: [WriteOutcome]
  package let report: CommitReport
  /// The encoded outcomes of the earlier request with the same key; nil if the list was written now.
  package var replay: [UInt8]?
}
