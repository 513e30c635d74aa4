import GRDB
import Model

/// The full-text index of one entity type: one row for each stored row of each scope, with the same row
/// number.
///
/// Triggers maintain it, so every write of a row (response, deletion, purge, eviction) updates the index in
/// the same transaction. If the search fields in the settings change, the index is rebuilt at start.
struct SearchIndex {
  let table: EntityTable
  let fields: [String]

  var name: String { EntityTable.quoted("search_\(table.id)") }

  /// Numbered column names: fields of the schema can have the names of FTS5 keywords.
  var columns: [String] { fields.indices.map { "field\($0)" } }

  /// Creates, rebuilds or removes the indexes according to the settings. Runs inside a transaction.
  static func prepare(_ types: [EntityType], _ catalogue: TypeCatalogue, _ db: Database) throws {
    for table in catalogue.all {
      let fields = types.first { $0.name == table.type }?.search ?? []
      try SearchIndex(table: table, fields: fields).prepare(db)
    }
  }

  private func prepare(_ db: Database) throws {
    let made = try String.fetchOne(
      db, sql: "SELECT sql FROM sqlite_master WHERE name = ?",
      arguments: ["search_\(table.id)_update"])
    if fields.isEmpty {
      if made != nil { try remove(db) }
      return
    }
    guard made != updateTrigger else { return }
    if made != nil { try remove(db) }
    try db.execute(
      sql: """
        CREATE VIRTUAL TABLE \(name) USING fts5(\(columns.joined(separator: ", ")), \
        tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3')
        """)
    try db.execute(sql: insertTrigger)
    try db.execute(sql: updateTrigger)
    try db.execute(sql: deleteTrigger)
    try db.execute(
      sql: """
        INSERT INTO \(name) (rowid, \(columns.joined(separator: ", "))) \
        SELECT rowid, \(values("fields")) FROM \(EntityTable.quoted(table.name)) \
        WHERE fields IS NOT NULL
        """)
  }

  private func remove(_ db: Database) throws {
    for event in ["insert", "update", "delete"] {
      try db.execute(sql: "DROP TRIGGER IF EXISTS \(trigger(event))")
    }
    try db.execute(sql: "DROP TABLE IF EXISTS \(name)")
  }

  private func trigger(_ event: String) -> String {
    EntityTable.quoted("search_\(table.id)_\(event)")
  }

  private func values(_ row: String) -> String {
    fields.map { "json_extract(\(row), '$.\"\($0)\"')" }.joined(separator: ", ")
  }

  private var insertTrigger: String {
    """
    CREATE TRIGGER \(trigger("insert")) AFTER INSERT ON \(EntityTable.quoted(table.name)) \
    WHEN new.fields IS NOT NULL BEGIN \
    INSERT INTO \(name) (rowid, \(columns.joined(separator: ", "))) \
    VALUES (new.rowid, \(values("new.fields"))); END
    """
  }

  private var updateTrigger: String {
    """
    CREATE TRIGGER \(trigger("update")) AFTER UPDATE OF fields ON \
    \(EntityTable.quoted(table.name)) WHEN old.fields IS NOT new.fields BEGIN \
    DELETE FROM \(name) WHERE rowid = old.rowid; \
    INSERT INTO \(name) (rowid, \(columns.joined(separator: ", "))) \
    SELECT new.rowid, \(values("new.fields")) WHERE new.fields IS NOT NULL; END
    """
  }

  private var deleteTrigger: String {
    """
    CREATE TRIGGER \(trigger("delete")) AFTER DELETE ON \(EntityTable.quoted(table.name)) BEGIN \
    DELETE FROM \(name) WHERE rowid = old.rowid; END
    """
  }
}
