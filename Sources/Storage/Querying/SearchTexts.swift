import Filtering
import GRDB
import Model

/// The texts of one type's search fields as a viewer sees them, each from the narrowest row that has the field.
struct SearchTexts {
  private static let keysMax = 500

  let database: Database
  let index: SearchIndex
  let scopes: ViewerScopes

  /// Calls `body` with the texts of each visible entity of keys, by field; nil where a field is null or missing. The
  /// texts are valid during the call.
  func forEach(
    of keys: some Collection<ExactText>,
    _ body: (_ key: String, _ texts: [UnsafeBufferPointer<UInt8>?]) throws -> Void
  ) throws {
    var rest = keys[...]
    while !rest.isEmpty {
      try read(rest.prefix(Self.keysMax), body)
      rest = rest.dropFirst(Self.keysMax)
    }
  }

  private func read(
    _ keys: some Sequence<ExactText>,
    _ body: (_ key: String, _ texts: [UnsafeBufferPointer<UInt8>?]) throws -> Void
  ) throws {
    let sql = try sql(keys)
    let statement = try PreparedStatement(database, shaped: sql.text)
    sql.bind(to: statement)
    defer { statement.reset() }
    while try statement.step() {
      try body(
        statement.string(0), index.fields.indices.map { statement.text(Int32($0 + 1)) })
    }
  }

  /// Returns the statement that selects the key and the texts of each visible entity of keys.
  func sql(_ keys: some Sequence<ExactText>) throws -> BoundSQL {
    let row = VisibleRow(
      table: index.table, alias: "seen", form: .joined(scopes: scopes.ids), scopes: scopes,
      named: index.fields)
    var sql = BoundSQL()
    sql.append("SELECT wanted.value")
    for field in index.fields { sql.append(", \(row.stored(field))") }
    sql.append(" FROM json_each(")
    sql.append(.text(String(decoding: try KeyList.json(keys.map(\.text)), as: UTF8.self)))
    sql.append(") AS wanted")
    row.appendJoins(on: "wanted.value", isRequired: true, to: &sql)
    sql.append(" WHERE \(row.isVisible)")
    return sql
  }
}

/// The keys of table rows, and whether the viewer has a narrower row of the same entity.
struct RowPlaces {
  struct Place {
    let key: String
    let isCovered: Bool
  }

  private let statement: PreparedStatement
  /// The index of the parameter for the row number; those before it are the scopes.
  private let rowParameter: Int32

  /// - Parameter scopes: the narrower scopes; none if the rows are those of the only scope.
  init(_ table: EntityTable, narrower scopes: some Collection<Int64>, _ database: Database) throws {
    let name = EntityTable.quoted(table.name)
    let numbers = scopes.indices.map { _ in "?" }.joined(separator: ", ")
    let covered = """
      EXISTS (SELECT 1 FROM \(name) AS above WHERE above.scope IN (\(numbers)) AND above.key = seen.key)
      """
    statement = try PreparedStatement(
      database,
      shaped: """
        SELECT seen.key, \(scopes.isEmpty ? "0" : covered) FROM \(name) AS seen WHERE seen.rowid = ?
        """)
    rowParameter = Int32(scopes.count + 1)
    for (index, scope) in scopes.enumerated() { statement.bind(scope, at: Int32(index + 1)) }
  }

  /// Returns the place of a row; nil if there is no such row.
  func place(of row: Int64) throws -> Place? {
    statement.bind(row, at: rowParameter)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return Place(key: statement.string(0), isCovered: statement.int64(1) != 0)
  }
}
