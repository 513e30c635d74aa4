import GRDB
import Model

/// How far rules have read, and what each has said last of each entity.
struct RuleTable {
  let database: Database

  /// Where reading goes on. Rules that have never read begin at the log's end.
  func cursor(beginning head: Revision) throws -> Revision {
    let begin = try PreparedStatement(
      database, "INSERT INTO push_cursor (id, revision) VALUES (1, ?1) ON CONFLICT DO NOTHING")
    begin.bind(head.value, at: 1)
    try begin.run()
    let statement = try PreparedStatement(database, "SELECT revision FROM push_cursor")
    defer { statement.reset() }
    return Revision(try statement.step() ? statement.int64(0) : head.value)
  }

  func setCursor(_ revision: Revision) throws {
    let statement = try PreparedStatement(
      database, "UPDATE push_cursor SET revision = max(revision, ?1)")
    statement.bind(revision.value, at: 1)
    try statement.run()
    let forget = try PreparedStatement(database, "DELETE FROM push_read WHERE revision <= ?1")
    forget.bind(revision.value, at: 1)
    try forget.run()
  }

  // MARK: What was read from behind the cursor

  /// Up to where changes of an entity in a scope were looked at; nil where the cursor tells.
  func revisionRead(of place: RulePlace) throws -> Int64? {
    let statement = try PreparedStatement(
      database, "SELECT revision FROM push_read WHERE scope = ?1 AND type = ?2 AND key = ?3")
    statement.bind(place.scope, at: 1)
    statement.bind(place.type, at: 2)
    statement.bind(place.key, at: 3)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : nil
  }

  func note(read place: RulePlace) throws {
    let statement = try PreparedStatement(
      database,
      """
      INSERT INTO push_read (scope, type, key, revision) VALUES (?1, ?2, ?3, ?4) \
      ON CONFLICT DO UPDATE SET revision = excluded.revision
      """)
    statement.bind(place.scope, at: 1)
    statement.bind(place.type, at: 2)
    statement.bind(place.key, at: 3)
    statement.bind(place.revision, at: 4)
    try statement.run()
  }

  // MARK: What was said

  /// - Parameter kept: the rules there are. Without any, reading begins anew when there are some.
  func forget(allBut kept: Set<String>) throws {
    if kept.isEmpty {
      for table in ["push_cursor", "push_read"] {
        try PreparedStatement(database, "DELETE FROM \(table)").run()
      }
    }
    for rule in try String.fetchAll(database, sql: "SELECT DISTINCT rule FROM push_told")
    where !kept.contains(rule) {
      let statement = try PreparedStatement(database, "DELETE FROM push_told WHERE rule = ?1")
      statement.bind(rule, at: 1)
      try statement.run()
    }
  }

  /// - Returns: whether a notification was taken: nothing is said twice of what is new, nor of a
  ///   change that changes nothing of what is said.
  func tell(_ telling: RuleNotification) throws -> Bool {
    let last = try said(telling)
    if telling.isNew ? last != nil : last == telling.content { return false }
    let statement = try PreparedStatement(
      database,
      """
      INSERT INTO push_told (rule, type, key, content) VALUES (?1, ?2, ?3, ?4) \
      ON CONFLICT DO UPDATE SET content = excluded.content
      """)
    statement.bind(telling.rule, at: 1)
    statement.bind(telling.entity.type, at: 2)
    statement.bind(telling.entity.key, at: 3)
    statement.bind(telling.content, at: 4)
    try statement.run()
    guard let notification = telling.notification else { return false }
    try NotificationTable(database: database).takeAlways(notification)
    return true
  }

  private func said(_ telling: RuleNotification) throws -> String? {
    let statement = try PreparedStatement(
      database, "SELECT content FROM push_told WHERE rule = ?1 AND type = ?2 AND key = ?3")
    statement.bind(telling.rule, at: 1)
    statement.bind(telling.entity.type, at: 2)
    statement.bind(telling.entity.key, at: 3)
    defer { statement.reset() }
    return try statement.step() ? statement.string(0) : nil
  }
}
