import Model

/// Writes a filter's condition as SQL over named columns.
struct FilterSQL {
  /// The SQL of a field's column.
  let column: (String) throws(StorageError) -> String

  func append(_ condition: FilterCondition, to sql: inout BoundSQL) throws(StorageError) {
    sql.append("(")
    switch condition {
    case .and(let left, let right):
      try append(left, to: &sql)
      sql.append(" AND ")
      try append(right, to: &sql)
    case .or(let left, let right):
      try append(left, to: &sql)
      sql.append(" OR ")
      try append(right, to: &sql)
    case .not(let inner):
      sql.append("NOT ")
      try append(inner, to: &sql)
    case .comparison(let name, let comparison, let value):
      sql.append("\(try column(name)) \(comparison.rawValue) ")
      sql.append(value)
    case .columns(let left, let comparison, let right):
      sql.append("\(try column(left)) \(comparison.rawValue) \(try column(right))")
    case .truth(let name):
      sql.append(try column(name))
    case .oneOf(let name, let values):
      sql.append("\(try column(name)) IN (")
      for (index, value) in values.enumerated() {
        if index > 0 { sql.append(", ") }
        sql.append(value)
      }
      sql.append(")")
    case .between(let name, let low, let high):
      sql.append("\(try column(name)) BETWEEN ")
      sql.append(low)
      sql.append(" AND ")
      sql.append(high)
    case .like(let name, let pattern, let escape):
      sql.append("\(try column(name)) LIKE ")
      sql.append(.text(pattern))
      if let escape {
        sql.append(" ESCAPE ")
        sql.append(.text(escape))
      }
    case .isNull(let name):
      sql.append("\(try column(name)) IS NULL")
    }
    sql.append(")")
  }
}
