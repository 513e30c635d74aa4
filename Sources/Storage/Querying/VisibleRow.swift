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
  /// The local fields of the type that the viewer sees.
  private let localFields: [LocalFieldLayer]
  /// Those with rows that the query joins.
  private let joinedFields: [LocalFieldLayer]
  /// Whether the first scope is that of optimistic updates.
  private let hasOverlays: Bool
  /// Whether it is an entity that another one leads to, which need not be visible.
  private let isRelated: Bool

  /// - Parameters:
  ///   - scopes: the viewer's scopes that hold rows of the type, see ``VisibleScopes/holding(_:)``.
  ///   - named: the fields that the query names.
  ///   - isRelated: whether it is an entity that another one leads to.
  init(
    table: EntityTable, alias: String, form: Form, scopes: ViewerScopes, named: [String],
    isRelated: Bool = false
  ) {
    self.isRelated = isRelated
    self.table = table
    self.alias = alias
    self.form = form
    let fields = scopes.localFields(of: table)
    localFields = fields
    hasOverlays = scopes.isOverlay(scopes.ids.first)
    switch form {
    case .projected: joinedFields = []
    case .joined(let layers):
      // With several scopes, whether an entity is visible can depend on them too.
      joinedFields = fields.filter { layer in
        layer.scope != nil && (layers.count > 1 || named.contains(where: layer.set.names))
      }
    }
  }

  /// The names of a projection's columns besides those of values.
  static func stateColumn(_ field: String) -> String { EntityTable.quoted("state of \(field)") }
  static func listColumn(_ field: String) -> String { EntityTable.quoted("list of \(field)") }

  func hasColumn(_ field: String) -> Bool { table.columns[field] != nil }

  /// Returns the SQL of a field's value; NULL if it is null, missing, or no row is visible.
  func value(_ field: String) throws(StorageError) -> String {
    guard let name = table.columns[field] else {
      throw .failed(code: 0, message: "the type \(table.type) has no column for the field \(field)")
    }
    let column = EntityTable.quoted(name)
    if isLocal(field) {
      return local(field, \.value) { row, fallback in
        guard fallback != "NULL" else { return "\(row).\(column)" }
        return "CASE WHEN json_type(\(row).fields, \(Self.path(field))) IS NOT NULL "
          + "THEN \(row).\(column) ELSE \(fallback) END"
      }
    }
    return folded(field, projected: "\(alias).\(column)") { "\($0).\(column)" }
  }

  /// Returns the SQL of a field's JSON type: `'null'` for null, NULL for a field that is missing.
  func state(_ field: String) -> String {
    let path = Self.path(field)
    switch form {
    case .projected: return "\(alias).\(Self.stateColumn(field))"
    case .joined(let scopes) where scopes.isEmpty: return "NULL"
    case .joined where isLocal(field):
      return local(field, \.state) { row, fallback in
        "coalesce(json_type(\(row).fields, \(path)), \(fallback))"
      }
    case .joined:
      let types = layers.map { "json_type(\($0).fields, \(path))" }
      return types.count == 1 ? types[0] : "coalesce(\(types.joined(separator: ", ")))"
    }
  }

  /// Returns the SQL of a field's value as JSON functions give it, as in a ``SearchIndex``. The row must be joined.
  func stored(_ field: String) -> String {
    if isLocal(field) {
      let path = Self.path(field)
      return local(field, \.value) { row, fallback in
        "iif(json_type(\(row).fields, \(path)) IS NULL, \(fallback), "
          + "json_extract(\(row).fields, \(path)))"
      }
    }
    return folded(field, projected: "NULL") { "json_extract(\($0).fields, \(Self.path(field)))" }
  }

  /// Returns the SQL of the keys of a to-many relationship as a JSON array: `null` if null is stored, NULL if
  /// it was never fetched.
  func members(_ field: String) -> String {
    switch form {
    case .projected: return "\(alias).\(Self.listColumn(field))"
    case .joined(let scopes) where scopes.isEmpty: return "NULL"
    case .joined where isLocal(field):
      return local(field, \.members) { row, fallback in
        "coalesce(\(MembersFunction.name)('\(field)', \(row).fields), \(fallback))"
      }
    case .joined:
      let rows = layers.map { "\($0).fields" }.joined(separator: ", ")
      return "\(MembersFunction.name)('\(field)', \(rows))"
    }
  }

  /// Returns the SQL of the JSON type of a to-many relationship, like ``state(_:)``.
  func listState(_ field: String) -> String { "json_type(\(members(field)))" }

  /// The SQL of the entity's key; NULL if no row is visible.
  var key: String {
    switch form {
    case .projected: "\(alias).key"
    case .joined(let scopes) where scopes.isEmpty: "NULL"
    case .joined:
      layers.count == 1
        ? "\(layers[0]).key"
        // A tombstone has a key too.
        : "CASE WHEN \(isVisible) THEN "
          + "coalesce(\(layers.map { "\($0).key" }.joined(separator: ", "))) END"
    }
  }

  /// The SQL of whether a row is visible. Rows of one scope are joined on that condition.
  var isVisible: String {
    switch form {
    case .projected: "1"
    case .joined(let scopes) where scopes.isEmpty: "0"
    case .joined:
      layers.count == 1
        ? "\(layers[0]).key IS NOT NULL"
        : "(coalesce(\(layers.map { "\($0).fields" }.joined(separator: ", "))) IS NOT NULL\(orKept))"
    }
  }

  /// The SQL of whether an entity that upstream deleted is visible for its local fields, after OR; for rows
  /// of several scopes.
  private var orKept: String {
    guard !joinedFields.isEmpty else { return "" }
    let own = joinedFields.map { "\(alias(of: $0)).key IS NOT NULL" }.joined(separator: " OR ")
    let some = layers.map { "\($0).key IS NOT NULL" }.joined(separator: " OR ")
    let isShown =
      hasOverlays
      ? " AND (\(layers[0]).key IS NULL OR \(layers[0]).fields IS NOT NULL)" : ""
    return " OR ((\(own)) AND (\(some))\(isShown))"
  }

  /// Appends the condition that the row of one scope is visible: that it has contents, or that the viewer has
  /// local fields of the deleted entity.
  func appendIsStored(to sql: inout BoundSQL) {
    let owners = localFields.compactMap(\.scope)
    guard !owners.isEmpty, !hasOverlays else { return sql.append("\(alias).fields IS NOT NULL") }
    sql.append("(\(alias).fields IS NOT NULL OR EXISTS (SELECT 1 FROM ")
    sql.append("\(EntityTable.quoted(table.name)) AS kept WHERE kept.scope IN (")
    for (index, owner) in owners.enumerated() {
      if index > 0 { sql.append(", ") }
      sql.append(.integer(owner))
    }
    sql.append(") AND kept.key = \(alias).key))")
  }

  /// Whether it is one table row or none.
  var hasOneScope: Bool { layers.count == 1 }

  /// The number of tables that ``appendJoins(on:to:)`` joins.
  var joinsCount: Int { layers.count + joinedFields.count }

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
      if scopes.count == 1 {
        sql.append(" AND ")
        appendIsStored(to: &sql)
      }
      // A tombstone hides the wider layers.
      for above in layers[..<layer] {
        sql.append(" AND (\(above).scope IS NULL OR \(above).fields IS NOT NULL)")
      }
    }
    appendFieldJoins(on: key, to: &sql)
  }

  /// Appends the joins of the rows of local fields that the query names. Without a row the columns are NULL.
  ///
  /// - Parameter leader: the owner whose rows the query begins at.
  func appendFieldJoins(
    on key: String, after leader: Scope.Kind? = nil, to sql: inout BoundSQL
  ) {
    for layer in joinedFields where layer.set.owner != leader {
      guard let scope = layer.scope else { continue }
      let row = alias(of: layer)
      sql.append(" LEFT JOIN \(EntityTable.quoted(table.name)) AS \(row) ON \(row).scope = ")
      sql.append(.integer(scope))
      sql.append(" AND \(row).key = \(key)")
    }
  }

  // MARK: Local fields

  /// The alias of the rows of an owner's local fields.
  func alias(of layer: LocalFieldLayer) -> String { "\(alias)_\(layer.set.owner)" }

  private func isLocal(_ field: String) -> Bool {
    if case .projected = form { return false }
    return table.hasLocalField(field)
  }

  /// Returns the SQL of a local field: NULL if the viewer cannot have it, the fallback alone if its owner has
  /// written nothing.
  private func local(
    _ field: String, _ form: KeyPath<LocalFieldLayer.Fallback, String>,
    _ expression: (_ row: String, _ fallback: String) -> String
  ) -> String {
    guard let layer = localFields.first(where: { $0.set.names(field) }) else { return "NULL" }
    let value = layer.fallback(field)[keyPath: form]
    let isJoined = joinedFields.contains { $0.set.owner == layer.set.owner }
    let known = isJoined ? expression(alias(of: layer), value) : value
    guard isRelated else { return known }
    // An entity that is not visible has no fields.
    return "CASE WHEN \(isVisible) THEN \(known) END"
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
        " WHEN json_type(\($0).fields, \(path)) IS NOT NULL THEN \(expression($0))"
      }
      return "CASE\(cases.joined()) END"
    }
  }

  /// Names of fields are GraphQL names: letters, digits and underscores.
  private static func path(_ field: String) -> String { "'$.\"\(field)\"'" }
}

/// The viewer's scopes that hold rows of each type, in one query's snapshot.
struct VisibleScopes {
  private let scopes: ViewerScopes
  private let database: Database

  init(_ scopes: ViewerScopes, _ database: Database) {
    self.scopes = scopes
    self.database = database
  }

  func holding(_ table: EntityTable) throws -> ViewerScopes {
    try scopes.limited(to: table) { scope in
      let statement = try PreparedStatement(
        database, "SELECT 1 FROM \(EntityTable.quoted(table.name)) WHERE scope = ?1 LIMIT 1")
      statement.bind(scope, at: 1)
      defer { statement.reset() }
      return try statement.step()
    }
  }
}
