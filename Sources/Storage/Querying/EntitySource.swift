import Filtering
import GRDB
import Model

/// The SQL source of a type's rows as a viewer sees them: `key`, and a column with the visible value for
/// each field that a query needs.
///
/// If only one scope holds rows of the type, the source is the table itself with its indexes. Otherwise it
/// is a union: rows of the widest scope that no narrower scope holds, and merged rows, which take each field
/// from the narrowest row that has it (null is a value), down to the first tombstone.
struct EntitySource {
  /// What a query needs of each row, without repeats.
  struct Needs {
    /// Fields whose values are named.
    private(set) var values: [String] = []
    /// Fields whose presence is named.
    private(set) var states: [String] = []
    /// Relationships to entities of several types, whose types matter.
    private(set) var types: [String] = []
    /// To-many relationships whose members are named.
    private(set) var lists: [List] = []
    /// Lists of scalars whose values are named.
    private(set) var scalars: [String] = []

    /// A to-many relationship.
    struct List: Hashable {
      let field: String
      /// The type of the members that are named; nil for all.
      var type: String?
    }

    var all: [String] { values + states + types + lists.map(\.field) + scalars }

    mutating func add(value field: String) { Self.add(field, to: &values) }
    mutating func add(state field: String) { Self.add(field, to: &states) }
    mutating func add(list field: String, of type: String? = nil) {
      Self.add(List(field: field, type: type), to: &lists)
    }
    mutating func add(scalars field: String) { Self.add(field, to: &scalars) }
    /// Adds what a relationship leads to.
    mutating func add(hop: EntityPath.Hop) {
      add(value: hop.field)
      if hop.isNarrowed { Self.add(hop.field, to: &types) }
    }

    private static func add<Field: Equatable>(_ field: Field, to fields: inout [Field]) {
      if !fields.contains(field) { fields.append(field) }
    }
  }

  /// The rows of local fields that a query begins at.
  private struct Lead {
    let layer: LocalFieldLayer
    let scope: Int64
    let column: String
    let value: FilterValue
  }

  private let table: EntityTable
  private let needs: Needs
  private var lead: Lead?
  /// The scopes that hold rows of the type.
  let visible: ViewerScopes

  /// Their numbers, narrowest first, without those of local fields.
  var scopes: [Int64] { visible.ids }

  var isPlain: Bool { scopes.count < 2 }

  init(
    _ table: EntityTable, needs: Needs = Needs(), scopes: ViewerScopes, _ db: Database
  ) throws {
    self.table = table
    self.needs = needs
    visible = try VisibleScopes(scopes, db).holding(table)
  }

  /// The row of the source, whose alias is `seen`.
  var row: VisibleRow {
    row(
      "seen",
      isPlain ? .joined(scopes: [scopes.first ?? ScopeTable.noneID]) : .projected)
  }

  private func row(_ alias: String, _ form: VisibleRow.Form) -> VisibleRow {
    VisibleRow(table: table, alias: alias, form: form, scopes: visible, named: needs.all)
  }

  /// Appends `FROM … WHERE …`, to which conditions can be added with AND.
  ///
  /// - Parameters:
  ///   - members: the only keys to select; `member.key` is a key's index in this list.
  ///   - level: the related rows that are joined to the source's rows.
  func append(to sql: inout BoundSQL, members: [String]?, joining level: QueryLevel) throws {
    let name = EntityTable.quoted(table.name)
    sql.append(" FROM ")
    if let members {
      sql.append("json_each(")
      sql.append(.text(String(decoding: try KeyList.json(members), as: UTF8.self)))
      sql.append(") AS member CROSS JOIN ")
    }
    if isPlain {
      try level.appendLeading(to: &sql)
      if let lead { sql.append("\(name) AS \(row.alias(of: lead.layer)) CROSS JOIN ") }
      sql.append("\(name) AS seen")
      if let lead { sql.append(" ON seen.key = \(row.alias(of: lead.layer)).key") }
      try level.appendLeadingJoin(to: &sql)
      if members != nil { sql.append(" ON seen.key = member.value") }
      row.appendFieldJoins(on: "seen.key", after: lead?.layer.set.owner, to: &sql)
      try level.appendJoins(to: &sql)
      sql.append(" WHERE seen.scope = ")
      sql.append(.integer(scopes.first ?? ScopeTable.noneID))
      sql.append(" AND ")
      row.appendIsStored(to: &sql)
      if let lead { append(lead, to: &sql) }
      level.appendLeadingCondition(to: &sql)
    } else {
      sql.append("(")
      try appendUnion(to: &sql)
      sql.append(") AS seen")
      if members != nil { sql.append(" ON seen.key = member.value") }
      try level.appendJoins(to: &sql)
      sql.append(" WHERE 1")
    }
  }

  /// Lets the query begin at the rows of the owner of a local field, if that has an index and a condition that
  /// all results meet asks for another value than the default: SQLite would take the whole scope for few rows.
  mutating func lead(by condition: FilterCondition) {
    guard isPlain, lead == nil else { return }
    switch condition {
    case .and(let left, let right):
      lead(by: left)
      lead(by: right)
    case .comparison(.field(let path), .equal, let value): lead(by: path, value)
    case .truth(let path): lead(by: path, .integer(1))
    default: return
    }
  }

  private mutating func lead(by path: EntityPath, _ value: FilterValue) {
    guard path.hops.isEmpty, table.indexed.contains(path.field),
      let column = table.columns[path.field],
      let layer = visible.localFields(of: table).first(where: { $0.set.names(path.field) }),
      let scope = layer.scope
    else { return }
    switch value {
    case .integer(let number) where !layer.isDefault(number, of: path.field): break
    case .text where layer.fallback(path.field).value == "NULL": break
    case .null, .integer, .real, .text: return
    }
    lead = Lead(layer: layer, scope: scope, column: column, value: value)
  }

  private func append(_ lead: Lead, to sql: inout BoundSQL) {
    let alias = row.alias(of: lead.layer)
    sql.append(" AND \(alias).scope = ")
    sql.append(.integer(lead.scope))
    sql.append(" AND \(alias).\(EntityTable.quoted(lead.column)) = ")
    sql.append(lead.value)
  }

  private func appendUnion(to sql: inout BoundSQL) throws {
    let name = EntityTable.quoted(table.name)
    let columns = try needs.values.map { try quotedColumn($0) }
    let narrow = scopes.dropLast()
    sql.append("SELECT wide.key AS key")
    let wide = wideRow
    for (field, column) in zip(needs.values, columns) {
      sql.append(", \(try wide.value(field)) AS \(column)")
    }
    for field in needs.states {
      sql.append(", \(wide.state(field)) AS \(VisibleRow.stateColumn(field))")
    }
    for field in needs.types {
      sql.append(", \(wide.targetType(field)) AS \(VisibleRow.typeColumn(field))")
    }
    for list in needs.lists {
      sql.append(", \(wide.members(list.field, of: list.type)) AS ")
      sql.append(VisibleRow.listColumn(list.field, of: list.type))
    }
    for field in needs.scalars {
      sql.append(", \(wide.scalars(field)) AS \(VisibleRow.scalarsColumn(field))")
    }
    sql.append(" FROM \(name) AS wide")
    wide.appendFieldJoins(on: "wide.key", to: &sql)
    sql.append(" WHERE wide.scope = ")
    sql.append(.integer(scopes.last ?? ScopeTable.noneID))
    sql.append(" AND ")
    wide.appendIsStored(to: &sql)
    for scope in narrow {
      sql.append(" AND NOT EXISTS (SELECT 1 FROM \(name) AS above WHERE above.scope = ")
      sql.append(.integer(scope))
      sql.append(" AND above.key = wide.key)")
    }
    sql.append(" UNION ALL SELECT known.key AS key")
    let merged = row("layer", .joined(scopes: scopes))
    for (field, column) in zip(needs.values, columns) {
      sql.append(", \(try merged.value(field)) AS \(column)")
    }
    for field in needs.states {
      sql.append(", \(merged.state(field)) AS \(VisibleRow.stateColumn(field))")
    }
    for field in needs.types {
      sql.append(", \(merged.targetType(field)) AS \(VisibleRow.typeColumn(field))")
    }
    for list in needs.lists {
      sql.append(", \(merged.members(list.field, of: list.type)) AS ")
      sql.append(VisibleRow.listColumn(list.field, of: list.type))
    }
    for field in needs.scalars {
      sql.append(", \(merged.scalars(field)) AS \(VisibleRow.scalarsColumn(field))")
    }
    sql.append(" FROM (SELECT DISTINCT key FROM \(name) WHERE scope IN (")
    for (index, scope) in narrow.enumerated() {
      if index > 0 { sql.append(", ") }
      sql.append(.integer(scope))
    }
    sql.append(")) AS known")
    merged.appendJoins(on: "known.key", to: &sql)
    sql.append(" WHERE \(merged.isVisible)")
  }

  /// The rows of the widest scope that no narrower one holds, overlays not among them.
  private var wideRow: VisibleRow {
    VisibleRow(
      table: table, alias: "wide", form: .joined(scopes: scopes.suffix(1)),
      scopes: visible.widest, named: needs.all)
  }

  private func quotedColumn(_ field: String) throws(StorageError) -> String {
    guard let name = table.columns[field] else {
      throw .failed(code: 0, message: "the type \(table.type) has no column for the field \(field)")
    }
    return EntityTable.quoted(name)
  }
}
