import Filtering
import Model

/// The choice of the table that a query begins at.
///
/// SQLite knows nothing about how many rows a scope holds, and takes the whole scope for few. So if a
/// condition that all results meet is about an index of a related type, and indexes lead from there back to
/// the entities, the order of the tables is written into the query. Price: results are sorted.
extension QueryLevel {
  /// Returns the relationships to the type to begin at; none to begin at the entities.
  func leading(_ condition: FilterCondition) -> [EntityPath.Hop] {
    switch condition {
    case .and(let left, let right):
      let first = leading(left)
      return first.isEmpty ? leading(right) : first
    case .comparison(let operand, .equal, _), .oneOf(let operand, _):
      return leads(operand) ? operand.path?.hops ?? [] : []
    case .holds(let operand, let match) where match.kind == .beginsWith && !match.text.isEmpty:
      return leads(operand, match.folding) ? operand.path?.hops ?? [] : []
    default:
      return []
    }
  }

  private func leads(_ operand: FilterOperand, _ folding: TextFolding = .none) -> Bool {
    guard let path = operand.path, !path.hops.isEmpty else { return false }
    var owner = root.table
    for end in path.hops.indices {
      guard let row = joined(Array(path.hops[...end])), row.hasOneScope,
        owner.indexed.contains(path.hops[end].field),
        !owner.hasLocalField(path.hops[end].field)
      else { return false }
      owner = row.table
    }
    // Its index is of the owner's rows, which are joined to those of the entities.
    guard !owner.hasLocalField(path.field) else { return false }
    // Its index has no keys of entities that upstream deleted, which local fields can keep visible.
    guard joined(path.hops)?.isKept(path.field) != true else { return false }
    switch (operand, ComparedForm(folding)) {
    case (.field, nil): return owner.indexed.contains(path.field)
    case (.field, let form?): return owner.hasTextIndex(form, on: path.field)
    case (.lower, nil): return owner.hasTextIndex(.lower, on: path.field)
    case (.lower, _), (.length, _), (.count, _), (.total, _), (.scalarCount, _): return false
    }
  }

  /// Appends the tables before the entities' own, up to the join of the latter.
  func appendLeading(to sql: inout BoundSQL) throws {
    if let leadingKeys {
      sql.append("(")
      sql.append(leadingKeys.sql)
      return sql.append(") AS leading CROSS JOIN ")
    }
    guard !leading.isEmpty else { return }
    try appendTables(of: leading, to: &sql)
    sql.append(" CROSS JOIN ")
  }

  /// Appends the join of the entities' own table, whose alias was written, to the leading tables.
  func appendLeadingJoin(to sql: inout BoundSQL) throws {
    if let leadingKeys {
      return sql.append(" ON \(try root.value(leadingKeys.field)) = leading.key")
    }
    guard let hop = leading.first, let row = joined([hop]) else { return }
    sql.append(" ON \(try root.value(hop.field)) = \(row.alias).key")
  }

  /// Appends the conditions on the table that the query begins at.
  func appendLeadingCondition(to sql: inout BoundSQL) {
    guard !leading.isEmpty else { return }
    sql.append(" AND ")
    appendIsReached(leading, to: &sql)
    if let hop = leading.first, hop.isNarrowed {
      sql.append(" AND \(root.targetType(hop.field)) = '\(hop.target)'")
    }
  }

  /// Appends the tables that relationships lead to, the last one first.
  private func appendTables(of hops: [EntityPath.Hop], to sql: inout BoundSQL) throws {
    for end in hops.indices.reversed() {
      guard let row = joined(Array(hops[...end])), case .joined(let scopes) = row.form else {
        continue
      }
      if end + 1 < hops.count { sql.append(" CROSS JOIN ") }
      sql.append("\(EntityTable.quoted(row.table.name)) AS \(row.alias)")
      if end + 1 < hops.count, let next = joined(Array(hops[...(end + 1)])) {
        sql.append(" ON \(row.alias).scope = ")
        sql.append(.integer(scopes.first ?? ScopeTable.noneID))
        sql.append(" AND \(row.alias).fields IS NOT NULL")
        sql.append(" AND \(try row.value(hops[end + 1].field)) = \(next.alias).key")
      }
    }
  }

  /// Appends the conditions on the last of the tables that relationships lead to, and on the types that those
  /// after the first name.
  private func appendIsReached(_ hops: [EntityPath.Hop], to sql: inout BoundSQL) {
    guard let row = joined(hops), case .joined(let scopes) = row.form else {
      return sql.append("0")
    }
    sql.append("\(row.alias).scope = ")
    sql.append(.integer(scopes.first ?? ScopeTable.noneID))
    sql.append(" AND \(row.alias).fields IS NOT NULL")
    for end in hops.indices.dropFirst() where hops[end].isNarrowed {
      guard let owner = joined(Array(hops[..<end])) else { continue }
      sql.append(" AND \(owner.targetType(hops[end].field)) = '\(hops[end].target)'")
    }
  }

  // MARK: Unions and interfaces

  /// The keys of the related entities that a query begins at, of several types together.
  struct LeadingKeys {
    /// The relationship that leads to them.
    let field: String
    /// A query of keys, without repeats: entities of two types can have the same key.
    let sql: BoundSQL
  }

  /// Returns the keys to begin at, if each of the paths that a path stands for has its indexes.
  func keysToLeadBy(_ condition: FilterCondition) throws -> LeadingKeys? {
    switch condition {
    case .and(let left, let right):
      return try keysToLeadBy(left) ?? keysToLeadBy(right)
    case .firstKnown(let conditions):
      var field: String?
      var sql = BoundSQL()
      for condition in conditions {
        // Of a type that the viewer has no rows of nothing is found.
        let isEmpty = condition.subjects.paths.contains { joined($0.hops)?.layers.isEmpty == true }
        if isEmpty { continue }
        let hops = leading(condition)
        guard let first = hops.first, let row = joined([first]),
          field == nil || field == first.field
        else { return nil }
        if field != nil { sql.append(" UNION ") }
        field = first.field
        // The aliases are those of the rows that the entities are joined to, so that the condition is the
        // same.
        sql.append("SELECT \(row.alias).key FROM ")
        try appendTables(of: hops, to: &sql)
        sql.append(" WHERE ")
        appendIsReached(hops, to: &sql)
        sql.append(" AND ")
        try FilterSQL(subjects: self).append(condition, to: &sql)
      }
      return field.map { LeadingKeys(field: $0, sql: sql) }
    default:
      return nil
    }
  }
}
