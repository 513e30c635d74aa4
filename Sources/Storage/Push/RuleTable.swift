import GRDB
import Model

/// The read position of push rules, and each rule's last content for each entity.
struct RuleTable {
  let database: Database

  /// Returns where reading continues. Rules that have never read begin at the end of the log.
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

  // MARK: Rows read beyond the cursor

  /// Returns the revision up to which an entity's changes in a scope were read; nil if only the cursor
  /// applies.
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

  // MARK: Contents

  /// Removes the state of rules that no longer exist.
  ///
  /// - Parameter kept: the existing rules. Without any, the cursor is removed too, so that later rules begin
  ///   at the end of the log.
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

  /// Records a rule's content for an entity and enqueues its notification.
  ///
  /// - Returns: whether a notification was enqueued. None is enqueued for a new entity that already has a
  ///   content, nor for a change that leaves the content unchanged.
  func record(_ entry: RuleNotification) throws -> Bool {
    let last = try lastContent(entry)
    if entry.isNew ? last != nil : last == entry.content { return false }
    let statement = try PreparedStatement(
      database,
      """
      INSERT INTO push_told (rule, type, key, content) VALUES (?1, ?2, ?3, ?4) \
      ON CONFLICT DO UPDATE SET content = excluded.content
      """)
    statement.bind(entry.rule, at: 1)
    statement.bind(entry.entity.type, at: 2)
    statement.bind(entry.entity.key, at: 3)
    statement.bind(entry.content, at: 4)
    try statement.run()
    guard let notification = entry.notification else { return false }
    try NotificationTable(database: database).enqueueUnbounded(notification)
    return true
  }

  private func lastContent(_ entry: RuleNotification) throws -> String? {
    let statement = try PreparedStatement(
      database, "SELECT content FROM push_told WHERE rule = ?1 AND type = ?2 AND key = ?3")
    statement.bind(entry.rule, at: 1)
    statement.bind(entry.entity.type, at: 2)
    statement.bind(entry.entity.key, at: 3)
    defer { statement.reset() }
    return try statement.step() ? statement.string(0) : nil
  }
}
