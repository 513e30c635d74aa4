import GRDB
import Model

/// The full-text index of one entity type: one row for each stored row of each scope, with the same row
/// number.
///
/// Triggers maintain it, so every write of a row (response, deletion, purge, eviction) updates the index in
/// the same transaction. If the search fields in the settings change, the index is rebuilt at start.
///
/// The last column holds the number of the row's scope as a word, so that a query finds the words in the rows
/// of one scope without reading, or counting, those of others.
///
/// A type with several search fields has a second index, over the first one alone: a query of one column reads
/// every row that has the words in any column. It holds no texts, only their words.
struct SearchIndex {
  private static let scopeColumn = "scope"

  /// How texts are split into words: without case and diacritics.
  static let tokenizer = FTS5TokenizerDescriptor.unicode61(diacritics: .remove)

  let table: EntityTable
  let fields: [String]

  var name: String { EntityTable.quoted("search_\(table.id)") }

  /// The name of the index over the first field; nil if there is no other.
  var titlesName: String? {
    fields.count > 1 ? EntityTable.quoted("search_title_\(table.id)") : nil
  }

  /// Numbered column names: fields of the schema can have the names of FTS5 keywords.
  var columns: [String] { fields.indices.map { "field\($0)" } }

  /// Returns the FTS5 query for the rows of a scope.
  ///
  /// - Parameters:
  ///   - words: a query in FTS5's syntax without columns.
  ///   - isOfTitles: whether the query is for the index over the first field.
  func expression(_ words: String, scope: Int64, isOfTitles: Bool = false) -> String {
    let columns = columns.prefix(isOfTitles ? 1 : fields.count).joined(separator: " ")
    return "{\(columns)} : (\(words)) AND \(Self.scopeColumn) : \"\(scope)\""
  }

  // MARK: Preparing

  /// Creates, rebuilds or removes the indexes according to the settings. Runs inside a transaction.
  static func prepare(_ types: [EntityType], _ catalogue: TypeCatalogue, _ db: Database) throws {
    for table in catalogue.all {
      let fields = types.first { $0.name == table.type }?.search ?? []
      try SearchIndex(table: table, fields: fields).prepare(db)
    }
  }

  /// Removes the indexes of a type, whose triggers end with its table.
  static func drop(ofType id: Int64, _ db: Database) throws {
    for name in ["search_\(id)", "search_title_\(id)"] {
      try db.execute(sql: "DROP TABLE IF EXISTS \(EntityTable.quoted(name))")
    }
  }

  /// Merges parts of a type's indexes, which leaves the words of deleted rows behind.
  ///
  /// - Parameters:
  ///   - begins: whether all parts that the indexes have now are to be merged, instead of going on.
  ///   - pages: how many pages of each index are written, about.
  /// - Returns: whether nothing was left to merge.
  static func merge(
    ofType id: Int64, begins: Bool, pages: Int, _ db: Database
  ) throws -> Bool {
    var isDone = true
    for name in ["search_\(id)", "search_title_\(id)"] {
      let isThere = try Bool.fetchOne(
        db, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = ?)", arguments: [name])
      guard isThere == true else { continue }
      let table = EntityTable.quoted(name)
      let before = db.totalChangesCount
      try db.execute(
        sql: "INSERT INTO \(table) (\(table), rank) VALUES ('merge', ?)",
        arguments: [begins ? -pages : pages])
      // One change is the insertion itself.
      if db.totalChangesCount - before >= 2 { isDone = false }
    }
    return isDone
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
    try remove(db)
    let words = "tokenize = '\(Self.tokenizer.components.joined(separator: " "))', prefix = '1 2 3'"
    try db.execute(
      sql: "CREATE VIRTUAL TABLE \(name) USING fts5(\(list(columns)), \(words))")
    if let titlesName {
      try db.execute(
        sql: """
          CREATE VIRTUAL TABLE \(titlesName) USING fts5(\(list(columns.prefix(1))), \(words), \
          content = '', columnsize = 0)
          """)
    }
    try db.execute(sql: insertTrigger)
    try db.execute(sql: updateTrigger)
    try db.execute(sql: deleteTrigger)
    let source = "FROM \(EntityTable.quoted(table.name)) AS stored"
    for insertion in insertions("stored", from: source) {
      try db.execute(sql: insertion)
    }
  }

  private func remove(_ db: Database) throws {
    for event in ["insert", "update", "delete"] {
      try db.execute(sql: "DROP TRIGGER IF EXISTS \(trigger(event))")
    }
    try Self.drop(ofType: table.id, db)
  }

  // MARK: Triggers

  private func trigger(_ event: String) -> String {
    EntityTable.quoted("search_\(table.id)_\(event)")
  }

  private var insertTrigger: String {
    """
    CREATE TRIGGER \(trigger("insert")) AFTER INSERT ON \(EntityTable.quoted(table.name)) \
    WHEN new.fields IS NOT NULL BEGIN \(insertions("new").joined(separator: "; ")); END
    """
  }

  private var updateTrigger: String {
    """
    CREATE TRIGGER \(trigger("update")) AFTER UPDATE OF fields ON \
    \(EntityTable.quoted(table.name)) WHEN old.fields IS NOT new.fields BEGIN \
    \((deletions + insertions("new")).joined(separator: "; ")); END
    """
  }

  private var deleteTrigger: String {
    """
    CREATE TRIGGER \(trigger("delete")) AFTER DELETE ON \(EntityTable.quoted(table.name)) BEGIN \
    \(deletions.joined(separator: "; ")); END
    """
  }

  /// Returns the statements that index the row of an alias, or each row of a source.
  private func insertions(_ row: String, from source: String = "") -> [String] {
    var statements = [
      """
      INSERT INTO \(name) (rowid, \(list(columns))) SELECT \(row).rowid, \(values(row, fields)) \
      \(source) WHERE \(row).fields IS NOT NULL
      """
    ]
    if let titlesName {
      statements.append(
        """
        INSERT INTO \(titlesName) (rowid, \(list(columns.prefix(1)))) \
        SELECT \(row).rowid, \(values(row, fields.prefix(1))) \
        \(source) WHERE \(row).fields IS NOT NULL
        """)
    }
    return statements
  }

  /// The statements that remove the old row. An index without texts must be told what it indexed
  /// (<https://www.sqlite.org/fts5.html#the_delete_command>).
  private var deletions: [String] {
    var statements = ["DELETE FROM \(name) WHERE rowid = old.rowid"]
    if let titlesName {
      statements.append(
        """
        INSERT INTO \(titlesName) (\(titlesName), rowid, \(list(columns.prefix(1)))) \
        SELECT 'delete', old.rowid, \(values("old", fields.prefix(1))) \
        WHERE old.fields IS NOT NULL
        """)
    }
    return statements
  }

  private func list(_ columns: some Sequence<String>) -> String {
    (columns + [Self.scopeColumn]).joined(separator: ", ")
  }

  private func values(_ row: String, _ fields: some Sequence<String>) -> String {
    (fields.map { "json_extract(\(row).fields, \(VisibleRow.path($0)))" } + ["\(row).scope"])
      .joined(separator: ", ")
  }
}
