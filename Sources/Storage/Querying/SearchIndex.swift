import GRDB
import Model

/// The full-text index of one entity type: one row for each stored row of each scope, with the same row
/// number.
///
/// Triggers maintain it, so every write of a row (response, deletion, purge, eviction) updates the index in
/// the same transaction. If the search fields in the settings change, the index is rebuilt at start.
///
/// The last column holds the number of the row's scope as a word, so that a query finds the words in the rows
/// of some scopes without reading, or counting, those of others.
struct SearchIndex {
  let table: EntityTable
  let fields: [String]

  var name: String { EntityTable.quoted("search_\(table.id)") }

  /// Numbered column names: fields of the schema can have the names of FTS5 keywords.
  var columns: [String] { fields.indices.map { "field\($0)" } }

  private static let scopeColumn = "scope"

  /// How texts are split into words.
  static let tokenizer = FTS5TokenizerDescriptor.unicode61(diacritics: .remove)

  /// Returns the FTS5 query for rows of some scopes.
  ///
  /// - Parameters:
  ///   - words: a query in FTS5's syntax without columns.
  ///   - fields: the indexes of the fields that contain the words; nil for all.
  func expression(_ words: String, inFields fields: Range<Int>? = nil, scopes: [Int64]) -> String {
    let numbers = scopes.map { "\"\($0)\"" }.joined(separator: " OR ")
    return "\(expression(words, inFields: fields)) AND \(Self.scopeColumn) : (\(numbers))"
  }

  /// Returns the FTS5 query for rows of all scopes.
  func expression(_ words: String, inFields fields: Range<Int>? = nil) -> String {
    let names = columns[fields ?? columns.indices].joined(separator: " ")
    return "{\(names)} : (\(words))"
  }

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
        CREATE VIRTUAL TABLE \(name) USING fts5(\(columnList), \
        tokenize = '\(Self.tokenizer.components.joined(separator: " "))', prefix = '1 2 3')
        """)
    try db.execute(sql: insertTrigger)
    try db.execute(sql: updateTrigger)
    try db.execute(sql: deleteTrigger)
    try db.execute(
      sql: """
        INSERT INTO \(name) (rowid, \(columnList)) \
        SELECT rowid, \(values("fields")), scope FROM \(EntityTable.quoted(table.name)) \
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

  private var columnList: String {
    (columns + [Self.scopeColumn]).joined(separator: ", ")
  }

  private func values(_ row: String) -> String {
    fields.map { "json_extract(\(row), '$.\"\($0)\"')" }.joined(separator: ", ")
  }

  private var insertTrigger: String {
    """
    CREATE TRIGGER \(trigger("insert")) AFTER INSERT ON \(EntityTable.quoted(table.name)) \
    WHEN new.fields IS NOT NULL BEGIN \
    INSERT INTO \(name) (rowid, \(columnList)) \
    VALUES (new.rowid, \(values("new.fields")), new.scope); END
    """
  }

  private var updateTrigger: String {
    """
    CREATE TRIGGER \(trigger("update")) AFTER UPDATE OF fields ON \
    \(EntityTable.quoted(table.name)) WHEN old.fields IS NOT new.fields BEGIN \
    DELETE FROM \(name) WHERE rowid = old.rowid; \
    INSERT INTO \(name) (rowid, \(columnList)) \
    SELECT new.rowid, \(values("new.fields")), new.scope WHERE new.fields IS NOT NULL; END
    """
  }

  private var deleteTrigger: String {
    """
    CREATE TRIGGER \(trigger("delete")) AFTER DELETE ON \(EntityTable.quoted(table.name)) BEGIN \
    DELETE FROM \(name) WHERE rowid = old.rowid; END
    """
  }
}
