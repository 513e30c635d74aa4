import Filtering
import GRDB
import Model

/// A row of a type as the viewer sees it, as SQL: every expression on an entity in a query is made here, so that
/// none can read a row that the viewer does not see.
struct VisibleRow {
  /// Where the row comes from.
  enum Form {
    /// A subquery of an ``EntitySource``, which has a column for each value that the query needs.
    case projected
    /// Rows of the viewer's scopes that hold any of the type, narrowest first: none, one, or several that are
    /// combined field by field.
    case joined(scopes: [Int64])
  }

  let table: EntityTable
  let alias: String
  let form: Form
  /// The revision whose state the row has, of a joined row; nil for the present one. The entity history
  /// must reach back to it (``EntityHistoryRecorder``).
  let asOf: Int64?

  init(table: EntityTable, alias: String, form: Form, asOf: Int64? = nil) {
    self.table = table
    self.alias = alias
    self.form = form
    self.asOf = asOf
  }

  /// The names of a projection's columns besides those of values.
  static func stateColumn(_ field: String) -> String { EntityTable.quoted("state of \(field)") }
  static func listColumn(_ field: String) -> String { EntityTable.quoted("list of \(field)") }
  static func scalarsColumn(_ field: String) -> String {
    EntityTable.quoted("values of \(field)")
  }

  func hasColumn(_ field: String) -> Bool { table.columns[field] != nil }

  /// Returns the SQL of a field's value; NULL if it is null, missing, or no row is visible.
  func value(_ field: String) throws(StorageError) -> String {
    guard let name = table.columns[field] else {
      throw .failed(code: 0, message: "the type \(table.type) has no column for the field \(field)")
    }
    let column = EntityTable.quoted(name)
    return folded(field, projected: "\(alias).\(column)") {
      asOf == nil ? "\($0).\(column)" : extracted(field, from: fields(of: $0))
    }
  }

  /// Returns the SQL of a column's value in the text of an earlier row.
  private func extracted(_ field: String, from fields: String) -> String {
    switch table.kinds[field] {
    case .integer, .boolean: "CAST(json_extract(\(fields), \(Self.path(field))) AS NUMERIC)"
    case .real: "CAST(json_extract(\(fields), \(Self.path(field))) AS REAL)"
    case .reference: "json_extract(\(fields), \(Self.referencePath(field)))"
    case .text, nil: "CAST(json_extract(\(fields), \(Self.path(field))) AS TEXT)"
    }
  }

  /// Returns the SQL of a field's JSON type: `'null'` for null, NULL for a field that is missing.
  func state(_ field: String) -> String {
    let path = Self.path(field)
    switch form {
    case .projected: return "\(alias).\(Self.stateColumn(field))"
    case .joined(let scopes) where scopes.isEmpty: return "NULL"
    case .joined:
      let types = layers.map { "json_type(\(fields(of: $0)), \(path))" }
      return types.count == 1 ? types[0] : "coalesce(\(types.joined(separator: ", ")))"
    }
  }

  /// Returns the SQL of the keys of a to-many relationship as a JSON array: `null` if null is stored, NULL if
  /// it was never fetched.
  func members(_ field: String) -> String {
    switch form {
    case .projected: return "\(alias).\(Self.listColumn(field))"
    case .joined(let scopes) where scopes.isEmpty: return "NULL"
    case .joined:
      let rows = layers.map(fields).joined(separator: ", ")
      return "\(MembersFunction.name)('\(field)', \(rows))"
    }
  }

  /// Returns the SQL of a list of scalars as a JSON array: NULL if it is null or was never fetched.
  func scalars(_ field: String) -> String {
    folded(field, projected: "\(alias).\(Self.scalarsColumn(field))") {
      "json_extract(\(fields(of: $0)), \(Self.path(field)))"
    }
  }

  /// Returns the SQL of the JSON type of a to-many relationship, like ``state(_:)``.
  func listState(_ field: String) -> String { "json_type(\(members(field)))" }

  /// The SQL of the entity's key; NULL if no row is visible.
  var key: String {
    switch form {
    case .projected: return "\(alias).key"
    case .joined(let scopes) where scopes.isEmpty: return "NULL"
    case .joined:
      let keys = layers.map { "\($0).key" }
      if keys.count == 1, asOf == nil { return keys[0] }
      // A tombstone has a key too, and so has a row that did not exist yet.
      let key = keys.count == 1 ? keys[0] : "coalesce(\(keys.joined(separator: ", ")))"
      return "CASE WHEN \(isVisible) THEN \(key) END"
    }
  }

  /// The SQL of whether a row is visible. Rows of one scope are joined on that condition.
  var isVisible: String {
    switch form {
    case .projected: "1"
    case .joined(let scopes) where scopes.isEmpty: "0"
    case .joined:
      if asOf == nil && layers.count == 1 {
        "\(layers[0]).key IS NOT NULL"
      } else if layers.count == 1 {
        "\(fields(of: layers[0])) IS NOT NULL"
      } else {
        "coalesce(\(layers.map(fields).joined(separator: ", "))) IS NOT NULL"
      }
    }
  }

  /// Whether it is one table row or none.
  var hasOneScope: Bool { layers.count == 1 }

  /// The number of tables that ``appendJoins(on:to:)`` joins.
  var joinsCount: Int { asOf == nil ? layers.count : 2 * layers.count }

  /// Appends the joins of the rows with a key. Without a visible row the columns are NULL.
  ///
  /// - Parameters:
  ///   - key: an SQL expression without parameters.
  ///   - isRequired: whether entities without a visible row are dropped: SQLite then keeps the order of the
  ///     tables. Rows of several scopes are kept; the query must test ``isVisible`` in any case.
  func appendJoins(on key: String, isRequired: Bool = false, to sql: inout BoundSQL) {
    guard case .joined(let scopes) = form else { return }
    let join = isRequired && scopes.count == 1 ? "CROSS JOIN" : "LEFT JOIN"
    for (layer, scope) in scopes.enumerated() {
      let alias = layers[layer]
      sql.append(" \(join) \(EntityTable.quoted(table.name)) AS \(alias) ON \(alias).scope = ")
      sql.append(.integer(scope))
      sql.append(" AND \(alias).key = \(key)")
      if scopes.count == 1, asOf == nil { sql.append(" AND \(alias).fields IS NOT NULL") }
      // A tombstone hides the wider layers.
      for above in layers[..<layer] {
        sql.append(" AND (\(isAbsent(above)) OR \(fields(of: above)) IS NOT NULL)")
      }
      if let asOf { appendHistoryJoin(of: alias, at: asOf, to: &sql) }
    }
  }

  // MARK: Earlier states

  /// Joins the state that the row had, if it has another one now.
  private func appendHistoryJoin(of layer: String, at revision: Int64, to sql: inout BoundSQL) {
    let past = Self.past(layer)
    sql.append(" LEFT JOIN past AS \(past) ON \(past).type = \(table.id) ")
    sql.append("AND \(past).key = \(layer).key AND \(past).scope = \(layer).scope ")
    sql.append("AND \(layer).revision > \(revision) ")
    sql.append("AND \(past).since <= \(revision) AND \(past).until > \(revision)")
  }

  private static func past(_ layer: String) -> String { "\(layer)_past" }

  /// Returns the SQL of a layer's text.
  private func fields(of layer: String) -> String {
    guard let asOf else { return "\(layer).fields" }
    return "iif(\(layer).revision <= \(asOf), \(layer).fields, \(Self.past(layer)).fields)"
  }

  /// Returns the SQL of whether a layer has no row, not even a tombstone.
  private func isAbsent(_ layer: String) -> String {
    guard let asOf else { return "\(layer).scope IS NULL" }
    return "\(layer).scope IS NULL OR (\(layer).revision > \(asOf) "
      + "AND \(Self.past(layer)).number IS NULL)"
  }

  private var layers: [String] {
    guard case .joined(let scopes) = form else { return [] }
    return scopes.count == 1 ? [alias] : scopes.indices.map { "\(alias)_\($0)" }
  }

  /// The narrowest row that has a field decides; null is a value too.
  private func folded(
    _ field: String, projected: String, _ expression: (_ layer: String) -> String
  ) -> String {
    switch form {
    case .projected: return projected
    case .joined(let scopes) where scopes.isEmpty: return "NULL"
    case .joined where layers.count == 1: return expression(layers[0])
    case .joined:
      let path = Self.path(field)
      let cases = layers.map {
        " WHEN json_type(\(fields(of: $0)), \(path)) IS NOT NULL THEN \(expression($0))"
      }
      return "CASE\(cases.joined()) END"
    }
  }

  /// Names of fields are GraphQL names: letters, digits and underscores.
  static func path(_ field: String) -> String { "'$.\"\(field)\"'" }

  /// The key in a stored reference.
  static func referencePath(_ field: String) -> String {
    "'$.\"\(field)\".\"\(StoredForm.referenceMember)\"[1]'"
  }
}

/// The viewer's scopes that hold rows of each type, in one query's snapshot.
struct VisibleScopes {
  private let scopes: [Int64]
  private let database: Database

  /// - Parameter scopes: the numbers of the viewer's scopes, narrowest first.
  init(_ scopes: [Int64], _ database: Database) {
    self.scopes = scopes
    self.database = database
  }

  func holding(_ table: EntityTable) throws -> [Int64] {
    try scopes.filter { scope in
      let statement = try PreparedStatement(
        database, "SELECT 1 FROM \(EntityTable.quoted(table.name)) WHERE scope = ?1 LIMIT 1")
      statement.bind(scope, at: 1)
      defer { statement.reset() }
      return try statement.step()
    }
  }
}
