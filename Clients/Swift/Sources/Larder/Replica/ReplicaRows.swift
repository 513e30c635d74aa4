import GRDB

/// The followings of a profile and their entities within a transaction.
struct ReplicaRows {
  struct Following: Sendable {
    let number: Int
    let definition: String
    let cursor: String?
  }

  let db: Database
  let profile: String

  init(_ db: Database, _ profile: String) {
    self.db = db
    self.profile = profile
  }

  /// The followings in the order of their declaration.
  func followings() throws -> [Following] {
    try Row.fetchAll(
      db, sql: "SELECT number, definition, cursor FROM following WHERE profile = ? ORDER BY number",
      arguments: [profile]
    ).map { Following(number: $0[0], definition: $0[1], cursor: $0[2]) }
  }

  /// Declares a following. Another definition under the same name takes its place: the former entities
  /// stay until its snapshot is complete.
  func follow(_ name: String, _ definition: String) throws {
    try db.execute(
      sql: """
        INSERT INTO following (profile, name, definition) VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET definition = excluded.definition, cursor = NULL
        WHERE definition != excluded.definition
        """, arguments: [profile, name, definition])
  }

  func unfollow(_ name: String) throws {
    let number = try Int.fetchOne(
      db, sql: "DELETE FROM following WHERE profile = ? AND name = ? RETURNING number",
      arguments: [profile, name])
    guard let number else { return }
    try db.execute(sql: "DELETE FROM holding WHERE following = ?", arguments: [number])
    try removeUnheld()
    try OverlayRows(db, profile).refoldAll()
  }

  /// Applies what was pulled for a following, unless that was replaced or removed meanwhile.
  func apply(_ pull: Pull) throws {
    let definition = try String.fetchOne(
      db, sql: "SELECT definition FROM following WHERE number = ?", arguments: [pull.following])
    guard definition == pull.definition else { return }
    if pull.isSnapshot {
      try db.execute(
        sql: "UPDATE holding SET isStale = 1 WHERE following = ?", arguments: [pull.following])
    }
    for change in pull.changes.values {
      if let data = change.data {
        try put(change.key, data, for: pull.following)
      } else {
        try release(change.key, by: pull.following)
      }
    }
    if pull.isSnapshot {
      try db.execute(
        sql: "DELETE FROM holding WHERE following = ? AND isStale", arguments: [pull.following])
      try removeUnheld()
    }
    try db.execute(
      sql: "UPDATE following SET cursor = ? WHERE number = ?",
      arguments: [pull.cursor, pull.following])
  }

  private func put(_ key: EntityKey, _ data: JSONValue, for following: Int) throws {
    let statement = try db.cachedStatement(
      sql: """
        INSERT INTO replica (profile, type, id, data) VALUES (?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET data = excluded.data RETURNING entity
        """)
    let entity = try Int.fetchOne(
      statement, arguments: [profile, key.type, key.id, data.text])
    let holding = try db.cachedStatement(sql: "INSERT OR REPLACE INTO holding VALUES (?, ?, 0)")
    try holding.execute(arguments: [following, entity])
  }

  private func release(_ key: EntityKey, by following: Int) throws {
    let entity = try Int.fetchOne(
      db, sql: "SELECT entity FROM replica WHERE profile = ? AND type = ? AND id = ?",
      arguments: [profile, key.type, key.id])
    guard let entity else { return }
    try db.execute(
      sql: "DELETE FROM holding WHERE following = ? AND entity = ?", arguments: [following, entity])
    try db.execute(
      sql: """
        DELETE FROM replica WHERE entity = ?1
          AND NOT EXISTS (SELECT 1 FROM holding WHERE entity = ?1)
        """, arguments: [entity])
  }

  /// Removes entities that no following has.
  private func removeUnheld() throws {
    try db.execute(
      sql: """
        DELETE FROM replica WHERE profile = ?
          AND NOT EXISTS (SELECT 1 FROM holding WHERE holding.entity = replica.entity)
        """, arguments: [profile])
  }
}
