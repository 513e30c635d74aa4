import GRDB
package import Model
import Synchronization

extension Store {
  /// Does a list of writes to local types in one transaction: all of it, or nothing.
  ///
  /// - Parameters:
  ///   - owner: whose rows; no others are read or written.
  ///   - now: for the age of rows; nothing is ordered by it.
  ///   - quota: what owners may have stored; who has more may still write less.
  ///   - deadline: of looking for the entities of all filters, before the writer is asked.
  /// - Returns: what each operation did, in their order, and the commit; or why nothing was done.
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

  /// Nil for a write to one entity. Whose rows it finds is the owner's business alone.
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

  /// A command that a ``WriteRefusal`` undoes.
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
            // Thrown on, so that what was written already is undone.
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
