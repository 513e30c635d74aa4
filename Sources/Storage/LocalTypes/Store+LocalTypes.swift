package import Filtering
import GRDB
package import Model
import Synchronization

extension Store {
  /// Performs a list of writes to local types in one transaction, all or nothing.
  ///
  /// - Parameters:
  ///   - owner: the owner of the rows; no other rows are read or written.
  ///   - now: the time of the write, for the age of rows only.
  ///   - quota: the limits of stored bytes; an owner over its quota can still reduce its usage.
  ///   - deadline: the time limit for finding the entities of all filters, before the write begins.
  /// - Returns: the outcome of each operation in order and the commit, or the reason of the refusal.
  package func writeLocal(
    _ operations: [LocalOperation], schema: LocalSchema, owner: LocalOwner, now: Timestamp,
    quota: DataQuota = .unlimited, deadline: QueryDeadline? = nil
  ) async throws(StorageError) -> Result<WriteCommit, WriteRefusal> {
    let searches = operations.enumerated().compactMap { place, operation in
      Self.search(operation, place, owner)
    }
    let matches: FilterMatches
    let lane = QueryLane(.write, in: searches.first?.scope ?? .public)
    switch try await self.matches(searches, lane: lane, within: deadline) {
    case .success(let found): matches = found
    case .failure(let refusal): return .failure(refusal)
    }
    let catalogue = catalogue
    return try await refusable { database, memory in
      let context = WriteContext(
        database, memory, catalogue, call: CallNumber(memory.counters.call),
        horizon: CallNumber(memory.horizon))
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
          recheck: FilterRecheck(matches, context, deadline: deadline), checkQuota: checkQuota))
      let outcomes = try writer.perform(operations)
      try checkQuota()
      return WriteCommit(outcomes: outcomes, report: context.finish())
    }
  }

  /// Returns the search for a write with a filter, in the owner's scope; nil for a write to one entity.
  private static func search(
    _ operation: LocalOperation, _ place: Int, _ owner: LocalOwner
  ) -> FilterMatches.Search? {
    guard case .filter(let filter) = operation.target,
      let scope = owner.scope(operation.type.scope)
    else { return nil }
    return FilterMatches.Search(
      place: place, type: operation.type.entityType, filter: filter, scope: scope,
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

/// The commit of a list of writes.
package struct WriteCommit: Sendable {
  /// In the order of the operations.
  package let outcomes: [WriteOutcome]
  package let report: CommitReport
}
