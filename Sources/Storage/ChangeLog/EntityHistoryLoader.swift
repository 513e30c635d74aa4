import GRDB
import Model

/// Looks up what entities of one type were at an earlier revision, see ``EntityHistoryRecorder``.
struct EntityHistoryLoader {
  /// What stood in one scope then.
  enum State {
    /// The same as now, or nothing.
    case unchanged
    case fields([UInt8])
    /// It was stored anew since, and whether there was something before is not known any more.
    case unknown
  }

  let database: Database
  let type: Int64
  /// Narrowest first.
  let scopes: [Int64]

  /// The first revision from which everything is known; nil where nothing is kept.
  func since() throws -> Int64? {
    let statement = try PreparedStatement(database, "SELECT since FROM observed WHERE type = ?1")
    statement.bind(type, at: 1)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : nil
  }

  /// By key, a state for each scope.
  func states(of keys: some Sequence<String>, at base: Int64) throws -> [ExactText: [State]] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT key, scope, fields, max(since) FROM past WHERE type = ?1 \
      AND key IN (SELECT value FROM json_each(?2)) \
      AND scope IN (SELECT value FROM json_each(?3)) AND since <= ?4 AND until > ?4 \
      GROUP BY key, scope
      """)
    statement.bind(type, at: 1)
    try statement.bind(KeyList.json(keys), at: 2)
    statement.bind(KeyList.json(numbers: scopes), at: 3)
    statement.bind(base, at: 4)
    defer { statement.reset() }
    let unchanged = [State](repeating: .unchanged, count: scopes.count)
    var states: [ExactText: [State]] = [:]
    while try statement.step() {
      guard let layer = scopes.firstIndex(of: statement.int64(1)) else { continue }
      let state = statement.bytes(2).map { State.fields($0) } ?? .unknown
      states[ExactText(statement.string(0)), default: unchanged][layer] = state
    }
    return states
  }
}
