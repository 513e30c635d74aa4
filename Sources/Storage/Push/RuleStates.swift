import GRDB

/// What an entity was behind each of its commits, for rules: the log itself knows but the last.
///
/// As far as the past is kept, see ``EntityHistoryRecorder``; what is missing there is passed over.
struct RuleStates {
  struct State {
    let revision: Int64
    let fields: [UInt8]
  }

  /// Of one entity at a time, the latest. More than this come together only where nobody looked for
  /// long, and would be as many notifications of the same thing at once.
  static let statesMax = 64

  let database: Database

  /// Those that began after the revision and have ended, the oldest first. What was written over
  /// within its own commit is none.
  func ended(of row: ChangeRow, in scope: Int64, since revision: Int64) throws -> [State] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT since, fields FROM past WHERE type = ?1 AND key = ?2 AND scope = ?3 AND until > ?4 \
      AND since > ?4 AND since < until AND fields IS NOT NULL ORDER BY until DESC LIMIT ?5
      """)
    statement.bind(row.type, at: 1)
    statement.bind(row.key, at: 2)
    statement.bind(scope, at: 3)
    statement.bind(revision, at: 4)
    statement.bind(Int64(Self.statesMax), at: 5)
    defer { statement.reset() }
    var states: [State] = []
    while try statement.step() {
      guard let fields = statement.bytes(1) else { continue }
      states.append(State(revision: statement.int64(0), fields: fields))
    }
    return states.reversed()
  }
}
