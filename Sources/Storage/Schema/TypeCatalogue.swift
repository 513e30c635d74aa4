import GRDB
import Model

/// Maps types and fields to tables and columns, and creates these.
///
/// GraphQL names can differ by case alone and can equal our own; SQL names cannot. So a name is
/// chosen once, recorded in `entity_type` and `entity_column`, and stays. Columns are virtual:
/// adding one to a table of any size rewrites nothing. A column that no operation selects any more
/// stays; it costs nothing.
struct TypeCatalogue: Sendable {
  /// In `entity_column.is_indexed`. Layout 1 was by column and scope; layout 2, by scope, column and
  /// key, gives a page in its total order without sorting.
  private static let noIndex: Int64 = 0
  private static let indexLayout: Int64 = 2

  private let tables: [String: EntityTable]
  private let tablesByID: [Int64: EntityTable]
  /// The types that the store was opened with, by name.
  private let types: [String: EntityType]

  /// Whether some type of upstream has local fields.
  let hasLocalFields: Bool

  subscript(type: String) -> EntityTable? { tables[type] }

  subscript(id id: Int64) -> EntityTable? { tablesByID[id] }

  var all: [EntityTable] { tables.values.sorted { $0.type < $1.type } }

  /// Creates or widens the table of each type. Runs inside a transaction.
  init(preparing types: [EntityType], _ db: Database) throws {
    for type in types.sorted(by: { $0.name < $1.name }) { try Self.prepare(type, db) }
    self.types = Dictionary(types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    hasLocalFields = types.contains { !$0.localFields.isEmpty }
    (tables, tablesByID) = try Self.read(self.types, db)
  }

  /// Reads the tables of a replica, which only its leader makes.
  ///
  /// - Throws: ``StorageError/otherTables(_:)`` if the leader has not made all of them, or has made others.
  init(reading types: [EntityType], _ db: Database) throws {
    self.types = Dictionary(types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    hasLocalFields = types.contains { !$0.localFields.isEmpty }
    (tables, tablesByID) = try Self.read(self.types, db)
    for type in types.sorted(by: { $0.name < $1.name }) {
      guard let table = tables[type.name] else {
        throw StorageError.otherTables("the type \(type.name) has no table")
      }
      let others = type.columns.filter {
        table.columns[$0.name] == nil || table.kinds[$0.name] != $0.kind
      }
      if let other = others.first {
        throw StorageError.otherTables("the column \(type.name).\(other.name) is another one")
      }
    }
  }

  /// Reads the tables again, after some were dropped.
  init(rereading other: TypeCatalogue, _ db: Database) throws {
    types = other.types
    hasLocalFields = other.hasLocalFields
    (tables, tablesByID) = try Self.read(types, db)
  }

  private static func read(
    _ types: [String: EntityType], _ db: Database
  ) throws -> (byName: [String: EntityTable], byID: [Int64: EntityTable]) {
    var tables: [String: EntityTable] = [:]
    for row in try Row.fetchAll(db, sql: "SELECT id, name, table_name FROM entity_type") {
      let id: Int64 = row["id"]
      let columns = try Row.fetchAll(
        db, sql: "SELECT field, column_name, kind, is_indexed FROM entity_column WHERE type = ?",
        arguments: [id])
      tables[row["name"]] = EntityTable(
        id: id, type: row["name"], name: row["table_name"],
        columns: Dictionary(uniqueKeysWithValues: columns.map { ($0["field"], $0["column_name"]) }),
        kinds: columns.reduce(into: [:]) { kinds, column in
          kinds[column["field"] as String] = .init(rawValue: column["kind"] as String)
        },
        indexed: Set(
          columns.filter { $0["is_indexed"] != Self.noIndex }.map { $0["field"] as String }),
        textIndexes: try TextIndexes(id: id, table: row["table_name"]).suffixes(db),
        description: types[row["name"]])
    }
    return (tables, Dictionary(uniqueKeysWithValues: tables.values.map { ($0.id, $0) }))
  }

  private static func prepare(_ type: EntityType, _ db: Database) throws {
    let (id, table) = try findOrMakeTable(of: type, db)
    try TextIndexes(id: id, table: table).dropOthers(than: type.textIndexes, db)
    for column in type.columns {
      try prepare(
        column, isIndexed: type.indexes.contains(column.name), ofType: id, table: table, db)
    }
    try TextIndexes(id: id, table: table).make(type.textIndexes, db)
  }

  /// Makes a table with all columns at once: SQLite reads the whole schema again for each that is added later.
  private static func findOrMakeTable(
    of type: EntityType, _ db: Database
  ) throws -> (id: Int64, table: String) {
    if let row = try Row.fetchOne(
      db, sql: "SELECT id, table_name FROM entity_type WHERE name = ?", arguments: [type.name])
    {
      return (row["id"], row["table_name"])
    }
    let taken = try Set(
      String.fetchAll(db, sql: "SELECT lower(table_name) FROM entity_type"))
    let table = freeName(
      for: "entity_\(type.name)", taken: taken.union(["entity_type", "entity_column"]))
    try db.execute(
      sql: "INSERT INTO entity_type (name, table_name) VALUES (?, ?)",
      arguments: [type.name, table])
    let id = db.lastInsertedRowID
    var (definitions, names) = ("", Set<String>())
    for column in type.columns where names.insert(column.name).inserted {
      definitions += ",\n  \(definition(of: column, named: try note(column, ofType: id, db)))"
    }
    try db.execute(
      sql: """
        CREATE TABLE \(EntityTable.quoted(table)) (
          scope INTEGER NOT NULL,
          key TEXT NOT NULL,
          call INTEGER NOT NULL,
          received INTEGER NOT NULL,
          revision INTEGER NOT NULL,
          barrier INTEGER NOT NULL,
          due INTEGER NOT NULL,
          stamps TEXT,
          fields TEXT\(definitions),
          PRIMARY KEY (scope, key)
        )
        """)
    return (id, table)
  }

  private static func prepare(
    _ column: EntityType.Column, isIndexed: Bool, ofType type: Int64, table: String, _ db: Database
  ) throws {
    let known = try Row.fetchOne(
      db,
      sql: "SELECT column_name, kind, is_indexed FROM entity_column WHERE type = ? AND field = ?",
      arguments: [type, column.name])
    guard let known else {
      let name = try note(column, ofType: type, db)
      try addColumn(named: name, column, table: table, db)
      if isIndexed { try setIndex(true, on: name, field: column.name, type, table, db) }
      return
    }
    let name: String = known["column_name"]
    let layout: Int64 = known["is_indexed"]
    let hadIndex = layout != Self.noIndex
    let changesKind = known["kind"] != column.kind.rawValue
    let isStale = changesKind || !isIndexed || layout != Self.indexLayout
    if hadIndex, isStale {
      try setIndex(false, on: name, field: column.name, type, table, db)
    }
    if changesKind {
      // Settings gave a custom scalar another type: the text stays, only its reading changes.
      try db.execute(
        sql: """
          ALTER TABLE \(EntityTable.quoted(table)) DROP COLUMN \(EntityTable.quoted(name))
          """)
      try db.execute(
        sql: "UPDATE entity_column SET kind = ? WHERE type = ? AND field = ?",
        arguments: [column.kind.rawValue, type, column.name])
      try addColumn(named: name, column, table: table, db)
    }
    if isIndexed, isStale || !hadIndex {
      try setIndex(true, on: name, field: column.name, type, table, db)
    }
  }

  /// Records a new column, and returns its name.
  private static func note(
    _ column: EntityType.Column, ofType type: Int64, _ db: Database
  ) throws -> String {
    let taken = try Set(
      String.fetchAll(
        db, sql: "SELECT lower(column_name) FROM entity_column WHERE type = ?", arguments: [type]))
    let name = freeName(for: column.name, taken: taken.union(EntityTable.ownColumns))
    try db.execute(
      sql: "INSERT INTO entity_column VALUES (?, ?, ?, ?, 0)",
      arguments: [type, column.name, name, column.kind.rawValue])
    return name
  }

  private static func addColumn(
    named name: String, _ column: EntityType.Column, table: String, _ db: Database
  ) throws {
    try db.execute(
      sql: """
        ALTER TABLE \(EntityTable.quoted(table)) ADD COLUMN \(definition(of: column, named: name))
        """)
  }

  private static func definition(of column: EntityType.Column, named name: String) -> String {
    let affinity =
      switch column.kind {
      case .integer, .boolean: "INTEGER"
      case .real: "REAL"
      case .text, .reference: "TEXT"
      }
    return "\(EntityTable.quoted(name)) \(affinity) "
      + "GENERATED ALWAYS AS (json_extract(fields, '\(path(of: column.name, column.kind))')) VIRTUAL"
  }

  /// The JSON path of a column's value in the fields of its row: of a reference, the key in it.
  ///
  /// Names of fields are GraphQL names: letters, digits and underscores.
  ///
  /// - Parameter kind: nil for the whole value, whatever it is.
  static func path(of field: String, _ kind: EntityType.Column.Kind? = nil) -> String {
    let path = "$.\"\(field)\""
    return kind == .reference ? "\(path).\"\(StoredForm.referenceMember)\"[1]" : path
  }

  private static func setIndex(
    _ isIndexed: Bool, on column: String, field: String, _ type: Int64, _ table: String,
    _ db: Database
  ) throws {
    let index = EntityTable.quoted("index_\(type)_\(column)")
    try db.execute(
      sql: isIndexed
        ? """
        CREATE INDEX \(index) ON \(EntityTable.quoted(table)) \
        (scope, \(EntityTable.quoted(column)), key)
        """
        : "DROP INDEX IF EXISTS \(index)")
    try db.execute(
      sql: "UPDATE entity_column SET is_indexed = ? WHERE type = ? AND field = ?",
      arguments: [isIndexed ? Self.indexLayout : Self.noIndex, type, field])
  }

  /// Returns the wanted name, or the first free one of `name_2`, `name_3` … Names are compared
  /// case-insensitively.
  private static func freeName(for wanted: String, taken: Set<String>) -> String {
    var name = wanted
    var number = 2
    while taken.contains(name.lowercased()) {
      name = "\(wanted)_\(number)"
      number += 1
    }
    return name
  }
}
