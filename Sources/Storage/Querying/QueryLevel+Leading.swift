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
    case (.lower, _), (.length, _), (.count, _), (.scalarCount, _): return false
    }
  }

  /// Appends the tables before the entities' own, up to the join of the latter.
  func appendLeading(to sql: inout BoundSQL) throws {
    for end in leading.indices.reversed() {
      guard let row = joined(Array(leading[...end])), case .joined(let scopes) = row.form else {
        continue
      }
      sql.append("\(EntityTable.quoted(row.table.name)) AS \(row.alias)")
      if end + 1 < leading.count, let next = joined(Array(leading[...(end + 1)])) {
        sql.append(" ON \(row.alias).scope = ")
        sql.append(.integer(scopes.first ?? ScopeTable.publicID))
        sql.append(" AND \(row.alias).fields IS NOT NULL")
        sql.append(" AND \(try row.value(leading[end + 1].field)) = \(next.alias).key")
      }
      sql.append(" CROSS JOIN ")
    }
  }

  /// Appends the join of the entities' own table, whose alias was written, to the leading tables.
  func appendLeadingJoin(to sql: inout BoundSQL) throws {
    guard let hop = leading.first, let row = joined([hop]) else { return }
    sql.append(" ON \(try root.value(hop.field)) = \(row.alias).key")
  }

  /// Appends the conditions on the table that the query begins at.
  func appendLeadingCondition(to sql: inout BoundSQL) {
    guard !leading.isEmpty, let row = joined(leading), case .joined(let scopes) = row.form else {
      return
    }
    sql.append(" AND \(row.alias).scope = ")
    sql.append(.integer(scopes.first ?? ScopeTable.publicID))
    sql.append(" AND \(row.alias).fields IS NOT NULL")
  }
}
