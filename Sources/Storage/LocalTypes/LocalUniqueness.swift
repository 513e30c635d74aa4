import GRDB
import Model

/// A rule that no two rows of an owner have the same values of some columns (`@unique`).
///
/// A unique index enforces it, so it holds whatever writes the table: rows of other owners do not count,
/// nor do rows with a null among the values, nor tombstones. ``holder(of:key:scope:_:)`` only names
/// the row that is in the way.
struct LocalUniqueRule {
  let fields: [String]
  /// Quoted.
  private let columns: [String]
  private let paths: [String]
  private let table: String

  /// - Returns: nil if the table lacks a column.
  init?(_ fields: [String], of type: LocalType, in table: EntityTable) {
    var columns: [String] = []
    var paths: [String] = []
    let kinds = type.entityType.columns
    for field in fields {
      guard let column = table.columns[field],
        let kind = kinds.first(where: { $0.name == field })?.kind
      else { return nil }
      columns.append(EntityTable.quoted(column))
      paths.append(TypeCatalogue.path(of: field, kind))
    }
    self.fields = fields
    self.columns = columns
    self.paths = paths
    self.table = EntityTable.quoted(table.name)
  }

  /// Creates the rule's index. Its rows must satisfy the rule.
  func makeIndex(named name: String, _ db: Database) throws {
    try db.execute(
      sql: """
        CREATE UNIQUE INDEX \(EntityTable.quoted(name)) ON \(table) \
        (scope, \(columns.joined(separator: ", ")))
        """)
  }

  /// Returns the key of another row that has the values of a row's fields; nil if there is none.
  func holder(
    of fields: [UInt8], key: String, scope: Int64, _ db: Database
  ) throws -> String? {
    let conditions = zip(columns, paths).map { "\($0) = json_extract(?1, '\($1)')" }
    let statement = try PreparedStatement(
      db,
      """
      SELECT key FROM \(table) WHERE scope = ?2 AND \(conditions.joined(separator: " AND ")) \
      AND key <> ?3 LIMIT 1
      """)
    statement.bind(fields, at: 1)
    statement.bind(scope, at: 2)
    statement.bind(key, at: 3)
    defer { statement.reset() }
    return try statement.step() ? statement.string(0) : nil
  }

  /// Returns pairs of rows with the same values, and how many more there are.
  func conflicts(limit: Int, _ db: Database) throws -> (pairs: [(String, String)], more: Int) {
    let present = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
    let groups = """
      SELECT min(key) AS first, max(key) AS last FROM \(table) WHERE \(present) \
      GROUP BY scope, \(columns.joined(separator: ", ")) HAVING count(*) > 1
      """
    let rows = try Row.fetchAll(
      db, sql: "\(groups) ORDER BY scope, first LIMIT ?", arguments: [limit])
    // Fewer than the limit are all there are; counting them reads the table once more.
    let count =
      rows.count < limit
      ? rows.count : try Int.fetchOne(db, sql: "SELECT count(*) FROM (\(groups))") ?? rows.count
    return (rows.map { ($0["first"], $0["last"]) }, count - rows.count)
  }
}

/// The unique indexes of local types.
///
/// They are made after the rows of changed types were converted, and dropped before: rows that are
/// converted one after the other can have the same values for a moment, and SQLite drops no column
/// that an index has.
struct LocalUniqueIndexes {
  private static let prefix = "unique_"

  let database: Database

  /// Returns the rules of a type.
  static func rules(of type: LocalType, in table: EntityTable) -> [LocalUniqueRule] {
    type.uniques.compactMap { LocalUniqueRule($0, of: type, in: table) }
  }

  /// Drops the indexes of all types that are not local any more, or have changed.
  func dropOutdated(_ schema: LocalSchema) throws {
    let recorded = try LocalRecord.last(database)
    let made = try Row.fetchAll(
      database,
      sql: """
        SELECT indexes.name AS name, entity_type.name AS type FROM sqlite_schema AS indexes \
        LEFT JOIN entity_type ON entity_type.table_name = indexes.tbl_name \
        WHERE indexes.type = 'index' AND substr(indexes.name, 1, ?) = ?
        """, arguments: [Self.prefix.count, Self.prefix])
    for row in made {
      let type = (row["type"] as String?).flatMap { schema.types[$0] }
      if let type, recorded[type.name] == schema.description(of: type) { continue }
      try database.execute(sql: "DROP INDEX \(EntityTable.quoted(row["name"]))")
    }
  }

  /// Makes the index of a rule.
  ///
  /// - Parameter number: the place of the rule in its type.
  func make(_ rule: LocalUniqueRule, _ number: Int, of table: EntityTable) throws {
    try rule.makeIndex(named: "\(Self.prefix)\(table.id)_\(number)", database)
  }
}
