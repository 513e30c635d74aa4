import Filtering
import Model

/// The translation of a filter's condition to SQL.
struct FilterSQL {
  /// Returns the SQL of a field's column.
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

  /// Appends the most deeply nested operand first: SQLite's parser stack has a hundred entries, and the left
  /// operand of an operator needs fewer than the right one.
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

  /// The operands of a chain of ANDs or ORs; any other condition is its own only operand.
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

  /// The approximate number of parser stack entries that SQLite needs for the condition as ``FilterSQL``
  /// writes it: a parenthesis, the tokens before it in a chain, and the tokens of a predicate.
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

/// SQL text that is built together with the values of its parameters; values never become part of the text.
struct BoundSQL {
  private(set) var text = ""
  private(set) var values: [FilterValue] = []

  mutating func append(_ sql: String) { text += sql }

  mutating func append(_ value: FilterValue) {
    values.append(value)
    text += "?"
  }

  mutating func append(_ other: BoundSQL) {
    text += other.text
    values += other.values
  }

  func bind(to statement: PreparedStatement) {
    for (index, value) in values.enumerated() {
      let index = Int32(index + 1)
      switch value {
      case .null: statement.bind(nil as Int64?, at: index)
      case .integer(let number): statement.bind(number, at: index)
      case .real(let number): statement.bind(real: number, at: index)
      case .text(let text): statement.bind(text, at: index)
      }
    }
  }
}
