import GRDB
package import Model

/// The clean-up that only the passing of time causes.
extension Store {
  private struct Upkeep<Output: Sendable>: Sendable {
    let output: Output
    let report: CommitReport
  }

  /// Drops overlays that have lingered long enough after their mutation was settled.
  ///
  /// - Returns: when the next ones expire; nil if there are none.
  package func dropLingering(now: Timestamp) async throws(StorageError) -> Timestamp? {
    try await upkeep { try OverlayRows.expire(in: $0, now: now) }
  }

  /// Removes mutations that ended 30 days ago, whose idempotency keys count as new from then on, keys
  /// of local writes of that age, and temporary ids that were created 90 days ago. A few hundred at a time.
  ///
  /// - Parameter now: the queue time, in which both ages are measured.
  /// - Returns: whether there can be more.
  package func forgetMutations(at now: Timestamp) async throws(StorageError) -> Bool {
    try await upkeep { try MutationHistory($0).forget(at: now) }
  }

  private func upkeep<Output: Sendable>(
    _ body: @escaping @Sendable (WriteContext) throws -> Output
  ) async throws(StorageError) -> Output {
    let catalogue = catalogue
    let perform: @Sendable (Database, WriterMemory) throws -> Upkeep<Output> = { database, memory in
      let context = WriteContext(
        database, memory, catalogue, call: CallNumber(memory.counters.call),
        horizon: CallNumber(memory.horizon))
      let output = try body(context)
      return Upkeep(output: output, report: context.finish())
    }
    return try await writer.write(report: { $0.report }, perform).output
  }
}

/// Removes finished mutations and temporary ids once their retention has passed.
struct MutationHistory {
  /// How long a finished mutation is reported, and its idempotency key is recognised.
  static let keyLife = Duration.seconds(30 * 86_400)
  /// How long a temporary id resolves to the entity created under it: a device that was offline for
  /// that long can still hold one.
  static let temporaryIDLife = Duration.seconds(90 * 86_400)

  /// Rows removed by one command, so that it holds the writer only briefly.
  private static let rowsMax = 256

  private let context: WriteContext

  init(_ context: WriteContext) { self.context = context }

  /// Removes one batch of expired rows.
  ///
  /// - Returns: whether there can be more.
  func forget(at now: Timestamp) throws -> Bool {
    let ended = now.advanced(by: .zero - Self.keyLife)
    let made = now.advanced(by: .zero - Self.temporaryIDLife)
    let statement = try PreparedStatement(
      context.database,
      """
      SELECT id, device FROM mutation WHERE settled < ?1 AND NOT is_held ORDER BY settled LIMIT ?2
      """)
    statement.bind(ended.milliseconds, at: 1)
    statement.bind(Int64(Self.rowsMax), at: 2)
    var found: [(id: MutationID, device: String)] = []
    while try statement.step() {
      found.append((MutationID(statement.string(0)), statement.string(1)))
    }
    statement.reset()
    for row in found {
      try OutcomeRows(context, device: row.device, now: now).remove(row.id)
      try run("DELETE FROM mutation WHERE id = ?1") { $0.bind(row.id.value, at: 1) }
    }
    try run(
      """
      DELETE FROM temporary_id WHERE (device, temporary) IN \
      (SELECT device, temporary FROM temporary_id WHERE made < ?1 LIMIT ?2)
      """
    ) {
      $0.bind(made.milliseconds, at: 1)
      $0.bind(Int64(Self.rowsMax), at: 2)
    }
    let hasMore = found.count == Self.rowsMax || context.database.changesCount == Self.rowsMax
    let hasMoreKeys = try LocalWriteKeys(database: context.database)
      .forget(madeBefore: ended, limit: Self.rowsMax)
    return hasMore || hasMoreKeys
  }

  private func run(_ sql: String, _ bind: (PreparedStatement) -> Void) throws {
    let statement = try PreparedStatement(context.database, sql)
    bind(statement)
    try statement.run()
  }
}
