import GRDB
package import Model
import Synchronization

extension Store {
  /// Does a list of writes to local types in one transaction: all of it, or nothing.
  ///
  /// - Parameters:
  ///   - owner: whose rows; no others are read or written.
  ///   - now: for the age of rows; nothing is ordered by it.
  /// - Returns: what each operation did, in their order, and the commit; or why nothing was done.
  package func writeLocal(
    _ operations: [LocalOperation], schema: LocalSchema, owner: LocalOwner, now: Timestamp
  ) async throws(StorageError) -> Result<LocalCommit, LocalRefusal> {
    let catalogue = catalogue
    let note = RefusalNote()
    let perform: @Sendable (Database, WriterMemory) throws -> LocalCommit = { database, memory in
      let context = WriteContext(
        database, memory, catalogue, call: CallNumber(memory.counters.call),
        horizon: CallNumber(memory.horizon))
      var writer = LocalWriter(rows: LocalRows(context, schema: schema, owner: owner, now: now))
      do {
        let outcomes = try writer.perform(operations)
        return LocalCommit(outcomes: outcomes, report: context.finish())
      } catch let error as LocalRefusal {
        // Thrown on, so that what was written already is undone.
        note.refusal.withLock { $0 = error }
        throw error
      }
    }
    do throws(StorageError) {
      return .success(try await writer.write(report: { $0.report }, perform))
    } catch {
      guard let refusal = note.refusal.withLock({ $0 }) else { throw error }
      return .failure(refusal)
    }
  }
}

/// Brings a refusal out of a command that is undone.
private final class RefusalNote: Sendable {
  let refusal = Mutex<LocalRefusal?>(nil)
}
