import GRDB
package import Model
import Synchronization

extension Store {
  /// Does a list of writes to local types in one transaction: all of it, or nothing.
  ///
  /// - Parameters:
  ///   - owner: whose rows; no others are read or written.
  ///   - now: for the age of rows; nothing is ordered by it.
  ///   - deadline: of looking for the entities of each filter; nobody writes meanwhile.
  /// - Returns: what each operation did, in their order, and the commit; or why nothing was done.
  package func writeLocal(
    _ operations: [LocalOperation], schema: LocalSchema, owner: LocalOwner, now: Timestamp,
    deadline: QueryDeadline? = nil
  ) async throws(StorageError) -> Result<WriteCommit, WriteRefusal> {
    let catalogue = catalogue
    return try await refusable { database, memory in
      let context = WriteContext(
        database, memory, catalogue, call: CallNumber(memory.counters.call),
        horizon: CallNumber(memory.horizon))
      var writer = LocalWriter(
        rows: LocalRows(context, schema: schema, owner: owner, now: now, deadline: deadline))
      let outcomes = try writer.perform(operations)
      return WriteCommit(outcomes: outcomes, report: context.finish())
    }
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
