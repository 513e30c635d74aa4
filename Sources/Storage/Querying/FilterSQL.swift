import Filtering
import Model

/// The SQL of what a condition is about.
protocol FilterSubjects {
  /// Returns the SQL of a field's value: NULL if it is null or missing.
  func value(_ path: EntityPath) throws(StorageError) -> String
  /// Returns the SQL of a field's JSON type: `'null'` for null, NULL for a field that was never fetched.
  func state(_ path: EntityPath) throws(StorageError) -> String
  func hasColumn(_ path: EntityPath) throws(StorageError) -> Bool
  /// Returns the SQL of a list of scalars as a JSON array; NULL if it is null or missing.
  func scalars(_ list: ScalarsPath) throws(StorageError) -> String
  func append(countOf members: MemberPath, to sql: inout BoundSQL) throws
  /// - Parameter isExact: whether false and unknown must differ.
  func append(
    anyOf members: MemberPath, _ condition: FilterCondition, isExact: Bool, to sql: inout BoundSQL
  ) throws
}

/// The translation of a filter's condition to SQL.
struct FilterSQL<Subjects: FilterSubjects> {
  let subjects: Subjects

  /// - Parameter isExact: whether false and unknown must differ: below a NOT.
  func append(
    _ condition: FilterCondition, isExact: Bool = false, to sql: inout BoundSQL
  ) throws {
    // Of all conditions only NOT takes two places of the parser's stack for a level of its own.
    if case .not(.not(let same)) = condition {
      return try append(same, isExact: isExact, to: &sql)
    }
    sql.append("(")
    switch condition {
    case .and, .or:
      try append(
        condition.operands, joinedBy: condition.isDisjunction ? " OR " : " AND ", isExact, to: &sql)
    case .not(let inner):
      sql.append("NOT ")
      try append(inner, isExact: true, to: &sql)
    case .comparison(let operand, let comparison, let value):
      try append(operand, to: &sql)
      sql.append(" \(comparison.rawValue) ")
      sql.append(value)
    case .columns(let left, let comparison, let right):
      try append(left, to: &sql)
      sql.append(" \(comparison.rawValue) ")
      try append(right, to: &sql)
    case .truth(let path):
      sql.append(try subjects.value(path))
    case .oneOf(let operand, let values):
      try append(operand, to: &sql)
      sql.append(" IN (")
      sql.append(list: values)
      sql.append(")")
    case .between(let operand, let low, let high):
      try append(operand, to: &sql)
      sql.append(" BETWEEN ")
      sql.append(low)
      sql.append(" AND ")
      sql.append(high)
    case .like(let operand, let pattern, let escape):
      try append(operand, to: &sql)
      sql.append(" LIKE ")
      sql.append(.text(pattern))
      if let escape {
        sql.append(" ESCAPE ")
        sql.append(.text(escape))
      }
    case .holds(let operand, let match):
      try append(match, of: operand, to: &sql)
    case .isNull(let path):
      // The first condition is for an index; only the second one tells null from missing.
      if try subjects.hasColumn(path) { sql.append("\(try subjects.value(path)) IS NULL AND ") }
      sql.append("\(try subjects.state(path)) = 'null'")
    case .isMissing(let path):
      sql.append("\(try subjects.state(path)) IS NULL")
    case .any(let members, let inner):
      try subjects.append(anyOf: members, inner, isExact: isExact, to: &sql)
    case .anyScalar(let list, let inner):
      try append(anyOf: list, inner, isExact, to: &sql)
    case .firstKnown(let conditions):
      try append(firstKnown: conditions, isExact, to: &sql)
    }
    sql.append(")")
  }

  private func append(
    firstKnown conditions: [FilterCondition], _ isExact: Bool, to sql: inout BoundSQL
  ) throws {
    // Without a NOT above, unknown is as good as false.
    guard isExact else { return try append(conditions, joinedBy: " OR ", false, to: &sql) }
    sql.append("coalesce(")
    try append(conditions, joinedBy: ", ", true, to: &sql)
    sql.append(")")
  }

  private func append(
    anyOf list: ScalarsPath, _ condition: FilterCondition, _ isExact: Bool, to sql: inout BoundSQL
  ) throws {
    let values = "json_each(\(try subjects.scalars(list))) AS element"
    let element = FilterSQL<ElementSubjects>(subjects: ElementSubjects(kind: list.kind))
    guard isExact else {
      sql.append("EXISTS (SELECT 1 FROM \(values) WHERE ")
      try element.append(condition, to: &sql)
      return sql.append(")")
    }
    // The largest of 2 for true, 1 for unknown and 0 for false, read as a truth value.
    sql.append("CASE WHEN \(try subjects.state(list.path)) IS NULL THEN NULL ELSE ")
    sql.append("(SELECT nullif(coalesce(max(ifnull(2 * (NOT (NOT ")
    try element.append(condition, isExact: true, to: &sql)
    sql.append(")), 1)), 0), 1) FROM \(values)) END")
  }

  private func append(_ operand: FilterOperand, to sql: inout BoundSQL) throws {
    switch operand {
    case .field(let path): sql.append(try subjects.value(path))
    case .lower(let path): sql.append(ComparedForm.lower.sql(try subjects.value(path)))
    case .length(let path): sql.append("length(\(try subjects.value(path)))")
    case .count(let members): try subjects.append(countOf: members, to: &sql)
    case .total(let all):
      for (index, members) in all.enumerated() {
        if index > 0 { sql.append(" + ") }
        try subjects.append(countOf: members, to: &sql)
      }
    case .scalarCount(let list):
      sql.append("CASE WHEN \(try subjects.state(list.path)) IS NULL THEN NULL ")
      sql.append("ELSE coalesce(json_array_length(\(try subjects.scalars(list))), 0) END")
    }
  }

  /// `BEGINSWITH` is a range of texts, which an index can find.
  private func append(
    _ match: TextMatch, of operand: FilterOperand, to sql: inout BoundSQL
  ) throws {
    var text = BoundSQL()
    try append(operand, to: &text)
    if let form = ComparedForm(match.folding) { text = text.inside(form) }
    switch match.kind {
    case .beginsWith:
      sql.append(text)
      sql.append(" >= ")
      sql.append(.text(match.text))
      guard let end = TextMatch.end(ofPrefix: match.text) else { return }
      sql.append(" AND ")
      sql.append(text)
      sql.append(" < ")
      sql.append(.text(end))
    case .contains, .endsWith:
      let function =
        match.kind == .contains ? TextFunctions.contains : TextFunctions.endsWith
      sql.append("\(function)(")
      sql.append(.text(match.text))
      sql.append(", ")
      sql.append(text)
      sql.append(")")
    }
  }

  /// Appends the most deeply nested operand first: SQLite's parser stack has a hundred entries, and the left
  /// operand of an operator needs fewer than the right one.
  private func append(
    _ operands: [FilterCondition], joinedBy connective: String, _ isExact: Bool,
    to sql: inout BoundSQL
  ) throws {
    let deepest = operands.indices.max { operands[$0].parserPlaces < operands[$1].parserPlaces }
    try append(operands[deepest ?? 0], isExact: isExact, to: &sql)
    for (index, operand) in operands.enumerated() where index != deepest {
      sql.append(connective)
      try append(operand, isExact: isExact, to: &sql)
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

  /// A predicate: an expression in functions and CASE.
  private static let predicatePlaces = 12
  /// A subquery of members.
  private static let memberPlaces = 28

  /// The approximate number of parser stack entries that SQLite needs for the condition as ``FilterSQL``
  /// writes it: a parenthesis, the tokens before it in a chain, and the tokens of a predicate.
  fileprivate var parserPlaces: Int {
    switch self {
    case .and, .or:
      let places = operands.map(\.parserPlaces).sorted(by: >)
      return 1 + max(places[0], 2 + places[1])
    case .not(let inner):
      return 2 + inner.parserPlaces
    case .any(_, let inner), .anyScalar(_, let inner):
      return Self.memberPlaces + inner.parserPlaces
    case .firstKnown(let conditions):
      // A function and its parenthesis, and the arguments before.
      return 5 + (conditions.map(\.parserPlaces).max() ?? 0)
    case .comparison(.total, _, _), .columns(.total, _, _), .columns(_, _, .total),
      .oneOf(.total, _), .between(.total, _, _):
      return Self.memberPlaces + 4
    case .comparison(.count, _, _), .columns(.count, _, _), .columns(_, _, .count),
      .oneOf(.count, _), .between(.count, _, _):
      return Self.memberPlaces
    default:
      return Self.predicatePlaces
    }
  }
}

/// The values of a list of scalars: every path stands for the value.
private struct ElementSubjects: FilterSubjects {
  let kind: EntityType.Column.Kind

  func value(_ path: EntityPath) -> String {
    switch kind {
    case .integer, .boolean: "CAST(element.value AS NUMERIC)"
    case .real: "CAST(element.value AS REAL)"
    case .text, .reference: "CAST(element.value AS TEXT)"
    }
  }

  func state(_ path: EntityPath) -> String { "element.type" }

  func hasColumn(_ path: EntityPath) -> Bool { false }

  func scalars(_ list: ScalarsPath) throws(StorageError) -> String { throw Self.nested(list.field) }

  func append(countOf members: MemberPath, to sql: inout BoundSQL) throws {
    throw Self.nested(members.field)
  }

  func append(
    anyOf members: MemberPath, _ condition: FilterCondition, isExact: Bool, to sql: inout BoundSQL
  ) throws {
    throw Self.nested(members.field)
  }

  private static func nested(_ field: String) -> StorageError {
    .failed(code: 0, message: "the condition on the values of a list is about \(field)")
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

  /// Appends values with commas between them.
  mutating func append(list: [FilterValue]) {
    for (index, value) in list.enumerated() {
      if index > 0 { text += ", " }
      append(value)
    }
  }

  mutating func append(_ other: BoundSQL) {
    text += other.text
    values += other.values
  }

  /// Returns the SQL for the form of this text.
  func inside(_ form: ComparedForm) -> BoundSQL {
    var sql = self
    sql.text = form.sql(text)
    return sql
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
