import GRDB
package import Model

/// What time alone takes away from the queue.
extension Store {
  private struct Upkeep<Answer: Sendable>: Sendable {
    let answer: Answer
    let report: CommitReport
  }

  /// Drops expected changes that have stood over what settled them for long enough.
  ///
  /// - Returns: when the next ones go; nil where there are none.
  package func dropLingering(now: Timestamp) async throws(StorageError) -> Timestamp? {
    try await upkeep { try OverlayRows.expire(in: $0, now: now) }
  }

  /// Forgets mutations that ended a month ago, whose keys may come again as new ones then, and
  /// temporary ids that were made a quarter of a year ago. A few hundred at a time.
  ///
  /// - Parameter now: queue time, in which both are kept.
  /// - Returns: whether there may be more.
  package func forgetMutations(at now: Timestamp) async throws(StorageError) -> Bool {
    try await upkeep { try MutationHistory($0).forget(at: now) }
  }

  private func upkeep<Answer: Sendable>(
    _ body: @escaping @Sendable (WriteContext) throws -> Answer
  ) async throws(StorageError) -> Answer {
    let catalogue = catalogue
    let perform: @Sendable (Database, WriterMemory) throws -> Upkeep<Answer> = { database, memory in
      let context = WriteContext(
        database, memory, catalogue, call: CallNumber(memory.counters.call),
        horizon: CallNumber(memory.horizon))
      let answer = try body(context)
      return Upkeep(answer: answer, report: context.finish())
    }
    return try await writer.write(report: { $0.report }, perform).answer
  }
}
