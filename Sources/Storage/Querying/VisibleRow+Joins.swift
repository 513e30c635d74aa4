import Filtering
import Model

/// The tables of a joined row: those of its scopes, of local fields, and of the entity history.
extension VisibleRow {
  /// The number of tables that ``appendJoins(on:to:)`` joins.
  var joinsCount: Int { (layers.count + joinedFields.count) * (asOf == nil ? 1 : 2) }

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
      if scopes.count == 1, asOf == nil {
        sql.append(" AND ")
        appendIsStored(to: &sql)
      }
      // A tombstone hides the wider layers.
      for above in layers[..<layer] {
        sql.append(" AND (\(rowKey(of: above)) IS NULL OR \(fields(of: above)) IS NOT NULL)")
      }
      appendHistoryJoin(of: alias, to: &sql)
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
      appendHistoryJoin(of: row, to: &sql)
    }
  }

  /// Appends the condition that the row of one scope is visible: that it has contents, or that the viewer has
  /// local fields of the deleted entity. Of the present state only.
  func appendIsStored(to sql: inout BoundSQL) {
    let owners = localFields.compactMap(\.scope)
    guard !owners.isEmpty, !hasOverlays else { return sql.append("\(alias).fields IS NOT NULL") }
    sql.append("(\(alias).fields IS NOT NULL OR EXISTS (SELECT 1 FROM ")
    sql.append("\(EntityTable.quoted(table.name)) AS kept WHERE kept.scope IN (")
    sql.append(list: owners.map { .integer($0) })
    sql.append(") AND kept.key = \(alias).key))")
  }

  // MARK: Local fields

  /// The alias of the rows of an owner's local fields.
  func alias(of layer: LocalFieldLayer) -> String { "\(alias)_\(layer.set.owner)" }

  func isLocal(_ field: String) -> Bool {
    if case .projected = form { return false }
    return table.hasLocalField(field)
  }

  /// Returns the SQL of a local field: NULL if the viewer cannot have it, the fallback alone if its owner has
  /// written nothing.
  func local(
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

  // MARK: Keys of entities that upstream deleted

  /// Whether a field is the key's only one, of rows that local fields can keep visible without its value.
  func isKept(_ field: String) -> Bool {
    guard case .joined = form, !layers.isEmpty, table.keyFields == [field] else { return false }
    return localFields.contains { $0.scope != nil }
  }

  /// The SQL of the value of the key's only field, from the key; NULL if no row is visible.
  var keptKey: String {
    guard let field = table.keyFields.first, table.integers.contains(field) else { return key }
    let number = "CAST(\(key) AS INTEGER)"
    return "iif(CAST(\(number) AS TEXT) = \(key), \(number), \(key))"
  }

  /// Returns the SQL of a field, from the key where it is the key's and upstream has deleted the entity.
  func keyed(_ field: String, _ kept: @autoclosure () -> String, _ known: String) -> String {
    guard isKept(field) else { return known }
    let texts = layers.map(fields).joined(separator: ", ")
    let text = layers.count == 1 ? texts : "coalesce(\(texts))"
    return "CASE WHEN \(text) IS NULL THEN \(kept()) ELSE \(known) END"
  }

  // MARK: Earlier states

  /// Joins the state that a row had at the revision, if it has another one now. Rows of local fields are in
  /// the history as those of upstream's data are.
  private func appendHistoryJoin(of row: String, to sql: inout BoundSQL) {
    guard let asOf else { return }
    let past = Self.past(row)
    sql.append(" LEFT JOIN past AS \(past) ON \(past).type = \(table.id) ")
    sql.append("AND \(past).key = \(row).key AND \(past).scope = \(row).scope ")
    sql.append("AND \(row).revision > \(asOf) ")
    sql.append("AND \(past).since <= \(asOf) AND \(past).until > \(asOf)")
  }

  private static func past(_ row: String) -> String { "\(row)_past" }

  /// Returns the SQL of a row's text.
  func fields(of row: String) -> String {
    guard let asOf else { return "\(row).fields" }
    return "iif(\(row).revision <= \(asOf), \(row).fields, \(Self.past(row)).fields)"
  }

  /// Returns the SQL of the key in a row; NULL if there was none, not even a tombstone.
  func rowKey(of row: String) -> String {
    guard let asOf else { return "\(row).key" }
    return "iif(\(row).revision <= \(asOf), \(row).key, \(Self.past(row)).key)"
  }

  /// Returns the SQL of a field's column in a row.
  func value(_ field: String, _ column: String, of row: String) -> String {
    guard asOf != nil else { return "\(row).\(column)" }
    // The history has the text alone.
    let (fields, path) = (fields(of: row), Self.path(field))
    return switch table.kinds[field] {
    case .integer, .boolean: "CAST(json_extract(\(fields), \(path)) AS NUMERIC)"
    case .real: "CAST(json_extract(\(fields), \(path)) AS REAL)"
    case .reference: "json_extract(\(fields), \(Self.referencePath(field)))"
    case .text, nil: "CAST(json_extract(\(fields), \(path)) AS TEXT)"
    }
  }
}
