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
  /// The local fields of the type that the viewer sees.
  let localFields: [LocalFieldLayer]
  /// Those with rows that the query joins.
  let joinedFields: [LocalFieldLayer]
  /// Whether the first scope is that of optimistic updates.
  let hasOverlays: Bool
  /// Whether it is an entity that another one leads to, which need not be visible.
  let isRelated: Bool

  /// - Parameters:
  ///   - scopes: the viewer's scopes that hold rows of the type, see ``VisibleScopes/holding(_:)``.
  ///   - named: the fields that the query names.
  ///   - isRelated: whether it is an entity that another one leads to.
  ///   - asOf: the revision whose state a joined row has; nil for the present one.
  init(
    table: EntityTable, alias: String, form: Form, scopes: ViewerScopes, named: [String],
    isRelated: Bool = false, asOf: Int64? = nil
  ) {
    self.isRelated = isRelated
    self.asOf = asOf
    self.table = table
    self.alias = alias
    self.form = form
    let fields = scopes.localFields(of: table)
    localFields = fields
    hasOverlays = scopes.isOverlay(scopes.ids.first)
    switch form {
    case .projected: joinedFields = []
    case .joined(let layers):
      // With several scopes, or at an earlier revision, whether an entity is visible can depend on them too.
      let areAllJoined = layers.count > 1 || asOf != nil
      joinedFields = fields.filter { layer in
        layer.scope != nil && (areAllJoined || named.contains(where: layer.set.names))
      }
    }
  }

  /// The names of a projection's columns besides those of values.
  static func stateColumn(_ field: String) -> String { EntityTable.quoted("state of \(field)") }
  static func listColumn(_ field: String, of type: String?) -> String {
    EntityTable.quoted("list of \(type.map { "\($0) in " } ?? "")\(field)")
  }
  static func typeColumn(_ field: String) -> String { EntityTable.quoted("type of \(field)") }
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
    if isLocal(field) {
      return local(field, \.value) { row, fallback in
        let value = self.value(field, column, of: row)
        guard fallback != "NULL" else { return value }
        return "CASE WHEN json_type(\(fields(of: row)), \(Self.path(field))) IS NOT NULL "
          + "THEN \(value) ELSE \(fallback) END"
      }
    }
    return keyed(
      field, keptKey,
      folded(field, projected: "\(alias).\(column)") { value(field, column, of: $0) })
  }

  /// Returns the SQL of a field's JSON type: `'null'` for null, NULL for a field that is missing.
  func state(_ field: String) -> String {
    let path = Self.path(field)
    switch form {
    case .projected: return "\(alias).\(Self.stateColumn(field))"
    case .joined(let scopes) where scopes.isEmpty: return "NULL"
    case .joined where isLocal(field):
      return local(field, \.state) { row, fallback in
        "coalesce(json_type(\(fields(of: row)), \(path)), \(fallback))"
      }
    case .joined:
      let types = layers.map { "json_type(\(fields(of: $0)), \(path))" }
      return keyed(
        field, "nullif(typeof(\(keptKey)), 'null')",
        types.count == 1 ? types[0] : "coalesce(\(types.joined(separator: ", ")))")
    }
  }

  /// Returns the SQL of a field's value as JSON functions give it, as in a ``SearchIndex``. The row must be
  /// joined.
  func stored(_ field: String) -> String {
    keyed(field, keptKey, extracted(field, \.value, projected: "NULL"))
  }

  /// Returns the SQL of the name of the type that a reference names; NULL if the field is null or missing.
  func targetType(_ field: String) -> String {
    let path = Self.targetTypePath(field)
    let type = { (row: String) in "json_extract(\(fields(of: row)), \(path))" }
    if isLocal(field) { return local(field, \.value) { row, _ in type(row) } }
    return folded(field, projected: "\(alias).\(Self.typeColumn(field))", type)
  }

  /// Returns the SQL of the key that a relationship leads to; NULL if it leads to an entity of another type.
  func target(of hop: EntityPath.Hop) throws(StorageError) -> String {
    let key = try value(hop.field)
    guard hop.isNarrowed else { return key }
    return "CASE WHEN \(targetType(hop.field)) = '\(hop.target)' THEN \(key) END"
  }

  /// Returns the SQL of the keys of a to-many relationship as a JSON array: `null` if null is stored, NULL if
  /// it was never fetched.
  ///
  /// - Parameter type: the type whose keys are returned; nil for all.
  func members(_ field: String, of type: String? = nil) -> String {
    let name =
      type.map { "\(MembersFunction.narrowedName)('\($0)', " } ?? "\(MembersFunction.name)("
    switch form {
    case .projected: return "\(alias).\(Self.listColumn(field, of: type))"
    case .joined(let scopes) where scopes.isEmpty: return "NULL"
    case .joined where isLocal(field):
      return local(field, \.members) { row, fallback in
        "coalesce(\(name)'\(field)', \(fields(of: row))), \(fallback))"
      }
    case .joined:
      let rows = layers.map(fields).joined(separator: ", ")
      return "\(name)'\(field)', \(rows))"
    }
  }

  /// Returns the SQL of a list of scalars as a JSON array: NULL if it is null or was never fetched.
  func scalars(_ field: String) -> String {
    extracted(field, \.scalars, projected: "\(alias).\(Self.scalarsColumn(field))")
  }

  private func extracted(
    _ field: String, _ form: KeyPath<LocalFieldLayer.Fallback, String>, projected: String
  ) -> String {
    let path = Self.path(field)
    if isLocal(field) {
      return local(field, form) { row, fallback in
        "iif(json_type(\(fields(of: row)), \(path)) IS NULL, \(fallback), "
          + "json_extract(\(fields(of: row)), \(path)))"
      }
    }
    return folded(field, projected: projected) { "json_extract(\(fields(of: $0)), \(path))" }
  }

  /// Returns the SQL of the JSON type of a to-many relationship, like ``state(_:)``. It does not depend on the
  /// type, by which the query knows the list.
  func listState(_ field: String, of type: String? = nil) -> String {
    "json_type(\(members(field, of: type)))"
  }

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
      if layers.count > 1 {
        "(coalesce(\(layers.map(fields).joined(separator: ", "))) IS NOT NULL\(orKept))"
      } else if asOf != nil {
        "(\(fields(of: layers[0])) IS NOT NULL\(orKept))"
      } else {
        "\(layers[0]).key IS NOT NULL"
      }
    }
  }

  /// The SQL of whether an entity that upstream deleted is visible for its local fields, after OR; for rows
  /// of several scopes or of an earlier revision.
  private var orKept: String {
    guard !joinedFields.isEmpty else { return "" }
    let isStored = { (row: String) in "\(rowKey(of: row)) IS NOT NULL" }
    let own = joinedFields.map { isStored(alias(of: $0)) }.joined(separator: " OR ")
    let some = layers.map(isStored).joined(separator: " OR ")
    let isShown =
      hasOverlays
      ? " AND (\(rowKey(of: layers[0])) IS NULL OR \(fields(of: layers[0])) IS NOT NULL)" : ""
    return " OR ((\(own)) AND (\(some))\(isShown))"
  }

  /// Whether it is one table row or none.
  var hasOneScope: Bool { layers.count == 1 }

  /// The aliases of the rows of the viewer's scopes.
  var layers: [String] {
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

  /// The JSON path of a field as an SQL text.
  static func path(_ field: String) -> String { "'\(TypeCatalogue.path(of: field))'" }

  /// That of the type in a stored reference.
  static func targetTypePath(_ field: String) -> String {
    "'\(TypeCatalogue.path(of: field)).\"\(StoredForm.referenceMember)\"[0]'"
  }

  /// That of the key in a stored reference.
  static func referencePath(_ field: String) -> String {
    "'\(TypeCatalogue.path(of: field, .reference))'"
  }
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
      let statement = try PreparedStatement(database, table.readAny, bindsAll: true)
      statement.bind(scope, at: 1)
      defer { statement.reset() }
      return try statement.step()
    }
  }
}
