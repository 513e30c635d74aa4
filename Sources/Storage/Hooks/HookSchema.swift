import GRDB
import Model

/// The tables of messages received by webhooks.
enum HookSchema {
  /// The ids of messages, by which repeated ones are recognised; and for each entity the time of the
  /// last change that a message reported, by which late messages are recognised.
  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE hook_event (
          number INTEGER PRIMARY KEY AUTOINCREMENT,
          hook TEXT NOT NULL,
          event TEXT NOT NULL,
          received INTEGER NOT NULL,
          UNIQUE (hook, event)
        );
        CREATE TABLE hook_moment (
          number INTEGER PRIMARY KEY AUTOINCREMENT,
          hook TEXT NOT NULL,
          type INTEGER NOT NULL,
          key TEXT NOT NULL,
          at INTEGER NOT NULL,
          call INTEGER NOT NULL,
          received INTEGER NOT NULL,
          UNIQUE (hook, type, key)
        );
        """)
  }
}

/// How much of the tables of webhooks is kept.
package struct HookRetention: Sendable {
  /// Rows are removed at this age: longer than senders retry.
  package var age = Duration.seconds(7 * 86_400)
  /// The newest rows are kept until that age.
  package var rows: Int64 = 100_000
  /// Ids are kept at least this long however many there are: a signature is valid for five minutes
  /// before and after its time, so it could be replayed for twice that long.
  var replayAge = Duration.seconds(600)
  /// The limit on that: 100,000 messages a minute for ten minutes.
  package var rowsMax: Int64 = 1_000_000

  package init() {}
}

/// The rows of webhooks' messages.
struct HookTables {
  let database: Database

  /// Stores the id of a message.
  ///
  /// - Returns: false if it is stored already.
  func insert(event: String, of hook: String, at received: Timestamp) throws -> Bool {
    let statement = try PreparedStatement(
      database, "INSERT OR IGNORE INTO hook_event (hook, event, received) VALUES (?1, ?2, ?3)")
    statement.bind(hook, at: 1)
    statement.bind(event, at: 2)
    statement.bind(received.milliseconds, at: 3)
    try statement.run()
    return database.changesCount > 0
  }

  /// The last change of an entity that a webhook reported.
  struct LastMoment {
    let microseconds: Int64
    /// The call under which a message of the webhook wrote the entity last; 0 for none.
    let call: Int64
  }

  func moment(of key: String, type: Int64, hook: String) throws -> LastMoment? {
    let statement = try PreparedStatement(
      database, "SELECT at, call FROM hook_moment WHERE hook = ?1 AND type = ?2 AND key = ?3")
    statement.bind(hook, at: 1)
    statement.bind(type, at: 2)
    statement.bind(key, at: 3)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return LastMoment(microseconds: statement.int64(0), call: statement.int64(1))
  }

  func note(
    _ moment: HookDelivery.Moment, of key: String, type: Int64, hook: String, call: Int64,
    received: Timestamp
  ) throws {
    let statement = try PreparedStatement(
      database,
      """
      INSERT OR REPLACE INTO hook_moment (hook, type, key, at, call, received) \
      VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      """)
    statement.bind(hook, at: 1)
    statement.bind(type, at: 2)
    statement.bind(key, at: 3)
    statement.bind(moment.microseconds, at: 4)
    statement.bind(call, at: 5)
    statement.bind(received.milliseconds, at: 6)
    try statement.run()
  }

  /// Removes old rows, at most `limit` of each table: a few more than were added since the last time.
  func prune(_ retention: HookRetention, now: Timestamp, limit: Int64) throws {
    try prune("hook_event", retention, now: now, limit: limit)
    var retention = retention
    retention.rowsMax = retention.rows
    try prune("hook_moment", retention, now: now, limit: limit)
  }

  private func prune(
    _ table: String, _ retention: HookRetention, now: Timestamp, limit: Int64
  ) throws {
    let statement = try PreparedStatement(
      database,
      """
      DELETE FROM \(table) WHERE number IN (SELECT number FROM \(table) ORDER BY number LIMIT ?1) \
      AND (received < ?2 OR received < ?3 AND number <= (SELECT max(number) FROM \(table)) - ?4 \
      OR number <= (SELECT max(number) FROM \(table)) - ?5)
      """)
    statement.bind(limit, at: 1)
    statement.bind(now.milliseconds - retention.age.milliseconds, at: 2)
    statement.bind(now.milliseconds - retention.replayAge.milliseconds, at: 3)
    statement.bind(retention.rows, at: 4)
    statement.bind(retention.rowsMax, at: 5)
    try statement.run()
  }
}
