import Model

/// Writes a filter's condition as SQL over named columns.
struct FilterSQL {
  /// The SQL of a field's column.
  let column: (String) throws(StorageError) -> String

  func append(_ condition: FilterCondition, to sql: inout BoundSQL) throws(StorageError) {
    sql.append("(")
    switch condition {
    case .and, .or:
      try append(condition.operands, joinedBy: condition.isDisjunction ? " OR " : " AND ", to: &sql)
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

  /// The operand that nests deepest goes first: SQLite's parser has room for a hundred open things, and
  /// one before an operator takes less of it than one behind.
  private func append(
    _ operands: [FilterCondition], joinedBy connective: String, to sql: inout BoundSQL
  ) throws(StorageError) {
    let deepest = operands.indices.max { operands[$0].parserPlaces < operands[$1].parserPlaces }
    try append(operands[deepest ?? 0], to: &sql)
    for (index, operand) in operands.enumerated() where index != deepest {
      sql.append(connective)
      try append(operand, to: &sql)
    }
  }
}

extension FilterCondition {
  fileprivate var isDisjunction: Bool {
    if case .or = self { true } else { false }
  }

  /// What a chain of ANDs, or of ORs, consists of; a condition that is neither is its own only operand.
  fileprivate var operands: [FilterCondition] {
    switch self {
    case .and(let left, let right):
      [left, right].flatMap { if case .and = $0 { $0.operands } else { [$0] } }
    case .or(let left, let right):
      [left, right].flatMap { if case .or = $0 { $0.operands } else { [$0] } }
    default:
      [self]
    }
  }

  /// About how much of its stack SQLite's parser needs, as ``FilterSQL`` writes it: a parenthesis, what
  /// precedes it in a chain, and for a predicate its own few words.
  fileprivate var parserPlaces: Int {
    switch self {
    case .and, .or:
      let places = operands.map(\.parserPlaces).sorted(by: >)
      return 1 + max(places[0], 2 + places[1])
    case .not(let inner):
      return 2 + inner.parserPlaces
    default:
      return 4
    }
  }
}
