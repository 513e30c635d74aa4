import GRDB
import Model

/// What is kept of mutations that have ended, until their keys need not be known any more.
struct MutationHistory {
  /// How long a mutation that has ended is told of, and its idempotency key stands for it.
  static let keyLife = Duration.seconds(30 * 86_400)
  /// How long a temporary id leads to what was made under it: a device that was away for so long
  /// may still hold one.
  static let temporaryIDLife = Duration.seconds(90 * 86_400)

  /// Of one command: the writer is held no longer.
  private static let rowsMax = 256

  private let context: WriteContext

  init(_ context: WriteContext) { self.context = context }

  /// - Returns: whether there may be more.
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
    return found.count == Self.rowsMax || context.database.changesCount == Self.rowsMax
  }

  private func run(_ sql: String, _ bind: (PreparedStatement) -> Void) throws {
    let statement = try PreparedStatement(context.database, sql)
    bind(statement)
    try statement.run()
  }
}
