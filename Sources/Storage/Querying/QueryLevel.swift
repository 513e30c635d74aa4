import Filtering
import GRDB
import Model

/// The entities that one level of a query is about, the members in `ANY` being a level of their own, with
/// the rows that to-one relationships lead to from them.
///
/// Related rows are those that the viewer sees (``VisibleRow``). SQLite turns a left join into an inner one
/// if the condition cannot hold without the related row, and begins at the related row's index then.
struct QueryLevel {
  /// SQLite joins at most 64 tables.
  private static let joinsMax = 60

  /// What all levels of a query read from.
  struct Context {
    let catalogue: TypeCatalogue
    let scopes: VisibleScopes
    /// The revision whose state is read; nil for the present one.
    var asOf: Int64?
  }

  let root: VisibleRow
  private let context: Context
  /// How deep the level is, which makes its aliases unique.
  private let depth: Int
  /// The related rows by the relationships that lead to them, and an order that has each after its owner.
  private var related: [[EntityPath.Hop]: VisibleRow] = [:]
  private var order: [[EntityPath.Hop]] = []
  /// The relationships to the type that the query begins at; none if it begins at the entities.
  private(set) var leading: [EntityPath.Hop] = []
  /// The related entities that the query begins at instead, if they are of several types.
  private(set) var leadingKeys: LeadingKeys?

  /// - Throws: ``StorageError/tooCostly`` if more tables would be joined than SQLite can.
  init(
    _ root: VisibleRow, subjects: FilterCondition.Subjects, order terms: [EntityOrder.Term] = [],
    depth: Int = 0, _ context: Context
  ) throws {
    self.root = root
    self.context = context
    self.depth = depth
    let ways =
      terms.flatMap(\.paths).map(\.hops) + subjects.paths.map(\.hops) + subjects.members.map(\.hops)
      + subjects.scalars.map(\.hops)
    let named = Self.named(subjects, terms)
    for hops in ways {
      for end in hops.indices { try add(Array(hops[...end]), named) }
    }
    let joins = related.values.reduce(root.joinsCount) { $0 + $1.joinsCount }
    guard joins <= Self.joinsMax else { throw StorageError.tooCostly }
  }

  private mutating func add(
    _ hops: [EntityPath.Hop], _ named: [[EntityPath.Hop]: [String]]
  ) throws {
    guard related[hops] == nil, let last = hops.last else { return }
    related[hops] = try row(
      of: last.target, alias: "\(prefix)related\(order.count)", naming: named[hops] ?? [])
    order.append(hops)
  }

  /// The fields that are named of the entities at the end of each way, and those that ways go on by.
  private static func named(
    _ subjects: FilterCondition.Subjects, _ terms: [EntityOrder.Term] = []
  ) -> [[EntityPath.Hop]: [String]] {
    var named: [[EntityPath.Hop]: [String]] = [:]
    let ends =
      (terms.flatMap(\.paths) + subjects.paths).map { ($0.hops, $0.field) }
      + subjects.members.map { ($0.hops, $0.field) }
      + subjects.scalars.map { ($0.hops, $0.field) }
    for (hops, field) in ends {
      named[hops, default: []].append(field)
      for end in hops.indices { named[Array(hops[..<end]), default: []].append(hops[end].field) }
    }
    return named
  }

  private var prefix: String { depth == 0 ? "" : "level\(depth)_" }

  private func row(of type: String, alias: String, naming fields: [String]) throws -> VisibleRow {
    guard let table = context.catalogue[type] else {
      throw StorageError.failed(code: 0, message: "there is no table of the type \(type)")
    }
    let scopes = try context.scopes.holding(table)
    return VisibleRow(
      table: table, alias: alias, form: .joined(scopes: scopes.ids), scopes: scopes, named: fields,
      isRelated: true, asOf: context.asOf)
  }

  /// Lets the query begin at a related type if a condition on it finds few rows by an index.
  mutating func lead(by condition: FilterCondition) throws {
    leading = leading(condition)
    if leading.isEmpty { leadingKeys = try keysToLeadBy(condition) }
  }

  /// Whether the query begins at related entities.
  var leads: Bool { !leading.isEmpty || leadingKeys != nil }

  /// The joined row that relationships lead to.
  func joined(_ hops: [EntityPath.Hop]) -> VisibleRow? { related[hops] }

  /// Returns the SQL of the keys in a list, see ``VisibleRow/members(_:of:)``.
  func members(_ path: MemberPath) throws(StorageError) -> String {
    try row(path.hops).members(path.field, of: path.narrowedType)
  }

  /// Returns the SQL of the key that the last of some relationships leads to.
  func target(of hops: [EntityPath.Hop]) throws(StorageError) -> String {
    guard let last = hops.last else { return root.key }
    return try row(Array(hops.dropLast())).target(of: last)
  }

  /// Returns the SQL of a term of an order.
  func value(_ term: EntityOrder.Term) throws(StorageError) -> String {
    var values: [String] = []
    for path in term.paths { values.append(try value(path)) }
    return values.count == 1 ? values[0] : "coalesce(\(values.joined(separator: ", ")))"
  }

  /// Appends the joins of all related rows that were not written before the entities.
  func appendJoins(to sql: inout BoundSQL) throws {
    for hops in order where !leading.starts(with: hops) {
      guard let row = related[hops] else { continue }
      row.appendJoins(on: try target(of: hops), to: &sql)
    }
  }

  private func row(_ hops: [EntityPath.Hop]) throws(StorageError) -> VisibleRow {
    if hops.isEmpty { return root }
    guard let row = related[hops] else {
      throw .failed(code: 0, message: "no row was joined for \(hops.map(\.field))")
    }
    return row
  }
}

extension QueryLevel: FilterSubjects {
  func value(_ path: EntityPath) throws(StorageError) -> String {
    try row(path.hops).value(path.field)
  }

  func hasColumn(_ path: EntityPath) throws(StorageError) -> Bool {
    if path.isList || path.isOfScalars { return false }
    return try row(path.hops).hasColumn(path.field)
  }

  /// A path through a relationship that is null is null too. If the related entity is not stored, or not
  /// visible, it is missing.
  func state(_ path: EntityPath) throws(StorageError) -> String {
    let row = try row(path.hops)
    return try state(
      after: path.hops, path.isList ? row.listState(path.field) : row.state(path.field))
  }

  private func state(
    after hops: [EntityPath.Hop], _ last: String
  ) throws(StorageError) -> String {
    guard !hops.isEmpty else { return last }
    var sql = "CASE"
    for (index, hop) in hops.enumerated() {
      sql += " WHEN \(try row(Array(hops[..<index])).state(hop.field)) = 'null' THEN 'null'"
    }
    return sql + " ELSE \(last) END"
  }

  func scalars(_ list: ScalarsPath) throws(StorageError) -> String {
    try row(list.hops).scalars(list.field)
  }

  // MARK: Members

  func append(countOf members: MemberPath, to sql: inout BoundSQL) throws {
    sql.append("CASE WHEN \(try state(members)) IS NULL THEN NULL ELSE (SELECT count(*)")
    _ = try appendRows(of: members, subjects: FilterCondition.Subjects(), to: &sql)
    sql.append(") END")
  }

  func append(
    anyOf members: MemberPath, _ condition: FilterCondition, isExact: Bool, to sql: inout BoundSQL
  ) throws {
    guard isExact else {
      // The difference between false and unknown does not matter.
      sql.append("EXISTS (SELECT 1")
      let level = try appendRows(of: members, subjects: condition.subjects, to: &sql)
      sql.append(" AND ")
      try FilterSQL(subjects: level).append(condition, to: &sql)
      return sql.append(")")
    }
    // The largest of 2 for true, 1 for unknown and 0 for false, read as a truth value.
    var test = BoundSQL()
    var rows = BoundSQL()
    let level = try appendRows(of: members, subjects: condition.subjects, to: &rows)
    try FilterSQL(subjects: level).append(condition, isExact: true, to: &test)
    sql.append("CASE WHEN \(try state(members)) IS NULL THEN NULL ELSE ")
    sql.append("(SELECT nullif(coalesce(max(ifnull(2 * (NOT (NOT ")
    sql.append(test)
    sql.append(")), 1)), 0), 1)")
    sql.append(rows)
    sql.append(") END")
  }

  /// Returns the SQL that is NULL if it is unknown which members there are.
  private func state(_ members: MemberPath) throws(StorageError) -> String {
    let owner = try row(members.hops)
    let last =
      members.link == nil
      ? owner.listState(members.field, of: members.narrowedType)
      : "CASE WHEN \(owner.isVisible) THEN 'array' END"
    return try state(after: members.hops, last)
  }

  /// Appends `FROM … WHERE …` of the members that the viewer sees.
  private func appendRows(
    of members: MemberPath, subjects: FilterCondition.Subjects, to sql: inout BoundSQL
  ) throws -> QueryLevel {
    let owner = try row(members.hops)
    let number = depth + 1
    var named = Self.named(subjects)[[]] ?? []
    if let link = members.link { named.append(link) }
    let member = try row(of: members.target, alias: "level\(number)_seen", naming: named)
    let level = try QueryLevel(member, subjects: subjects, depth: number, context)
    let list = "level\(number)_member"
    if let link = members.link {
      try appendLinked(by: link, to: owner, member, as: list, to: &sql)
    } else {
      sql.append(" FROM json_each(\(try self.members(members))) AS \(list)")
    }
    let key = members.link == nil ? "\(list).value" : "\(list).key"
    member.appendJoins(on: key, isRequired: true, to: &sql)
    try level.appendJoins(to: &sql)
    sql.append(" WHERE \(member.isVisible)")
    if let link = members.link {
      // Values of several scopes have no affinity that would make a number of a key.
      let value = try member.value(link)
      let text = member.table.integers.contains(link) ? "CAST(\(value) AS TEXT)" : value
      sql.append(" AND \(text) = \(owner.key)")
    }
    return level
  }

  /// Appends the keys of all entities of which some row names the owner: the index of the field finds them.
  /// Of earlier states, those of which some row named it then.
  private func appendLinked(
    by link: String, to owner: VisibleRow, _ member: VisibleRow, as list: String,
    to sql: inout BoundSQL
  ) throws {
    guard let name = member.table.columns[link] else {
      throw StorageError.failed(
        code: 0, message: "the type \(member.table.type) has no column for the field \(link)")
    }
    let holding = try context.scopes.holding(member.table)
    let own = member.table.hasLocalField(link) ? holding.owners.compactMap(\.scope) : []
    let scopes = (holding.ids + own).map { FilterValue.integer($0) }
    sql.append(" FROM (SELECT \(context.asOf == nil ? "DISTINCT " : "")linked.key FROM ")
    sql.append("\(EntityTable.quoted(member.table.name)) AS linked WHERE linked.scope IN (")
    sql.append(list: scopes)
    sql.append(") AND linked.\(EntityTable.quoted(name)) = \(owner.key)")
    if let revision = context.asOf {
      let path =
        member.table.kinds[link] == .reference
        ? VisibleRow.referencePath(link) : VisibleRow.path(link)
      sql.append(" UNION SELECT earlier.key FROM past AS earlier ")
      sql.append("WHERE earlier.type = \(member.table.id) AND earlier.scope IN (")
      sql.append(list: scopes)
      sql.append(") AND earlier.since <= \(revision) AND earlier.until > \(revision) ")
      sql.append("AND CAST(json_extract(earlier.fields, \(path)) AS TEXT) = \(owner.key)")
    }
    sql.append(") AS \(list)")
  }
}
