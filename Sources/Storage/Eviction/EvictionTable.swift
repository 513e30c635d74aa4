import GRDB
import Model

/// An entity table with the SQL statements that eviction runs on it.
struct EvictionTable {
  let table: EntityTable
  /// Selects the row of a key in the public scope: ?1 key.
  let publicRow: String
  /// Selects scopes and rows of a key in other scopes: ?1 key, ?2 the last scope seen, ?3 the limit.
  let privateRows: String
  /// Selects rows after one, without their contents: ?1 the last row seen, ?2 the limit.
  let scan: String
  /// Selects a row's fields, which hold its references: ?1 row.
  let contents: String
  /// Selects the columns that decide whether a row can be evicted: ?1 row.
  let candidate: String
  /// Sets the time of a row's last touch: ?1 row, ?2 time.
  let touch: String
  /// Selects whether a key has contents in the public scope: ?1 key.
  let hasPublicContents: String
  /// Selects whether a key has contents in a private or partitioned scope of the kinds ?2: ?1 key.
  let hasWiderContents: String
  /// Selects whether a key has an overlay in a scope of the kinds ?2: ?1 key.
  let hasOverlay: String

  init(_ table: EntityTable) {
    self.table = table
    let name = EntityTable.quoted(table.name)
    publicRow = "SELECT rowid FROM \(name) WHERE scope = \(ScopeTable.publicID) AND key = ?1"
    privateRows = """
      SELECT stored.scope, stored.rowid FROM private_row CROSS JOIN \(name) AS stored \
      ON stored.scope = private_row.scope AND stored.key = private_row.key \
      WHERE private_row.type = \(table.id) AND private_row.key = ?1 AND private_row.scope > ?2 \
      ORDER BY private_row.scope LIMIT ?3
      """
    scan = "SELECT rowid, received FROM \(name) WHERE rowid > ?1 ORDER BY rowid LIMIT ?2"
    contents = "SELECT fields FROM \(name) WHERE rowid = ?1"
    candidate = """
      SELECT scope, key, call, barrier, due, stamps, fields FROM \(name) WHERE rowid = ?1
      """
    touch = "UPDATE \(name) SET received = ?2 WHERE rowid = ?1"
    hasPublicContents = """
      SELECT EXISTS (SELECT 1 FROM \(name) \
      WHERE scope = \(ScopeTable.publicID) AND key = ?1 AND fields IS NOT NULL)
      """
    hasWiderContents = """
      SELECT EXISTS (SELECT 1 FROM private_row CROSS JOIN scope ON scope.id = private_row.scope \
      CROSS JOIN \(name) AS stored \
      ON stored.scope = private_row.scope AND stored.key = private_row.key \
      WHERE private_row.type = \(table.id) AND private_row.key = ?1 \
      AND scope.kind IN (SELECT value FROM json_each(?2)) AND stored.fields IS NOT NULL)
      """
    hasOverlay = """
      SELECT EXISTS (SELECT 1 FROM private_row CROSS JOIN scope ON scope.id = private_row.scope \
      CROSS JOIN \(name) AS stored \
      ON stored.scope = private_row.scope AND stored.key = private_row.key \
      WHERE private_row.type = \(table.id) AND private_row.key = ?1 \
      AND scope.kind IN (SELECT value FROM json_each(?2)) AND stored.call = \(OverlayRows.call))
      """
  }
}

/// Queries for the layers of an entity in other scopes.
struct ScopeLayers {
  private let database: Database

  init(_ database: Database) {
    self.database = database
  }

  /// Returns whether an entity has contents in a wider scope, which would become visible if its row in
  /// `scope` were removed.
  ///
  /// It is unknown here which callers see both scopes, so every wider scope counts: for a device's row any
  /// user's, and for both any role's.
  func hasWiderContents(
    _ key: String, under scope: Int64, _ table: EvictionTable
  ) throws -> Bool {
    guard scope != ScopeTable.publicID,
      let kind = try ScopeTable.scope(scope, database)?.kind
    else { return false }
    return try exists(table.hasPublicContents, key)
      || exists(table.hasWiderContents, key, kind.wider)
  }

  /// Returns whether an entity has contents in any scope of upstream's data.
  func hasContents(_ key: String, _ table: EvictionTable) throws -> Bool {
    try exists(table.hasPublicContents, key)
      || exists(table.hasWiderContents, key, [.public, .user, .role, .claim])
  }

  /// Returns whether a device has an overlay on the entity: then the row is the base of that device's view,
  /// and remains visible when the overlay is removed.
  func isOverlaid(_ key: String, _ table: EvictionTable) throws -> Bool {
    try exists(table.hasOverlay, key, [.device])
  }

  private func exists(_ sql: String, _ key: String, _ kinds: [Scope.Kind]? = nil) throws -> Bool {
    let statement = try PreparedStatement(database, sql)
    statement.bind(key, at: 1)
    if let kinds { statement.bind(KeyList.json(numbers: kinds.map { Int64($0.rawValue) }), at: 2) }
    defer { statement.reset() }
    return try statement.step() && statement.int64(0) != 0
  }
}
