import Model

/// An entity table with the statements that eviction runs on it.
struct EvictionTable {
  let table: EntityTable
  /// The row of a key in the public scope: ?1 key.
  let publicRow: String
  /// Scopes and rows of a key in other scopes: ?1 key, ?2 the last scope seen, ?3 their number.
  let privateRows: String
  /// Rows from one on, without their contents: ?1 the last row seen, ?2 their number.
  let scan: String
  /// What a row refers to: ?1 row.
  let contents: String
  /// All that decides whether a row may go: ?1 row.
  let candidate: String
  /// ?1 row, ?2 time.
  let touch: String
  /// Whether a key has contents in the public scope: ?1 key.
  let hasPublicContents: String
  /// Whether a key has contents in a private or partitioned scope of the kinds ?2: ?1 key.
  let hasWiderContents: String
  /// Whether a device's queue is expected to change the entity of a key: ?1 key, ?2 the scopes' kind.
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
