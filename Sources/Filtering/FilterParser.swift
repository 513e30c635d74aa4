import Model

/// Parses the filter language:
///
/// ```
/// filter     := and (OR and)*
/// and        := not (AND not)*
/// not        := NOT not | "(" filter ")" | predicate
/// predicate  := column
///             | column compare (value | column) | value compare column
///             | column [NOT] IN "(" value ("," value)* ")"
///             | column [NOT] BETWEEN value AND value
///             | column [NOT] LIKE value [ESCAPE value]
///             | column IS [NOT] NULL
/// compare    := "=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">="
/// value      := 'text' | [+-]number | TRUE | FALSE | "?" | ":" name
/// column     := name | "name"
/// ```
///
/// Every filter that it accepts means the same in SQLite.
struct FilterParser {
  /// Limit of nested parentheses and NOTs, which bounds the parser's recursion.
  static let depthMax = 32
  /// Limit of predicates in one filter; SQLite refuses expressions deeper than a thousand.
  static let predicatesMax = 200
  /// Limit of values in one filter, those of IN included.
  static let valuesMax = 1000

  private let tokens: [FilterToken]
  private var index = 0
  private var depth = 0
  private var predicates = 0
  private var values = 0
  private(set) var parameterCount = 0

  init(_ text: String) throws(FilterFaults) {
    tokens = try FilterLexer.tokens(of: text)
  }

  mutating func parse() throws(FilterFaults) -> FilterSyntax {
    let filter = try disjunction()
    guard kind == .end else { throw fault("expected AND, OR or the end of the filter") }
    return filter
  }

  private mutating func disjunction() throws(FilterFaults) -> FilterSyntax {
    var left = try conjunction()
    while skip(.keyword(.or)) { left = .or(left, try conjunction()) }
    return left
  }

  private mutating func conjunction() throws(FilterFaults) -> FilterSyntax {
    var left = try negation()
    while skip(.keyword(.and)) { left = .and(left, try negation()) }
    return left
  }

  private mutating func negation() throws(FilterFaults) -> FilterSyntax {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.depthMax else {
      throw fault("parentheses and NOTs are nested more than \(Self.depthMax) deep")
    }
    if skip(.keyword(.not)) { return .not(try negation()) }
    guard skip(.open) else { return try predicate() }
    let inner = try disjunction()
    try expect(.close, "a closing parenthesis")
    return inner
  }

  // MARK: Predicates

  private mutating func predicate() throws(FilterFaults) -> FilterSyntax {
    predicates += 1
    guard predicates <= Self.predicatesMax else {
      throw fault("more than \(Self.predicatesMax) predicates")
    }
    guard let column = takeColumn() else {
      let value = try value()
      guard case .comparison(let comparison) = kind else {
        throw fault("a comparison with a column is missing")
      }
      index += 1
      guard let column = takeColumn() else { throw fault("a column is missing") }
      return .comparison(column, comparison.mirrored, value)
    }
    if case .comparison(let comparison) = kind {
      index += 1
      if let other = takeColumn() { return .columns(column, comparison, other) }
      return .comparison(column, comparison, try value())
    }
    if skip(.keyword(.is)) {
      let isNegated = skip(.keyword(.not))
      try expect(.keyword(.null), "NULL")
      return isNegated ? .not(.isNull(column)) : .isNull(column)
    }
    let isNegated = skip(.keyword(.not))
    guard let found = try rest(of: column) else {
      if isNegated { throw fault("IN, BETWEEN or LIKE is missing after NOT") }
      return .truth(column)
    }
    return isNegated ? .not(found) : found
  }

  private mutating func rest(
    of column: FilterSyntax.Column
  ) throws(FilterFaults) -> FilterSyntax? {
    if skip(.keyword(.in)) {
      try expect(.open, "an opening parenthesis")
      var list = [try value()]
      while skip(.comma) { list.append(try value()) }
      try expect(.close, "a comma or a closing parenthesis")
      return .oneOf(column, list)
    }
    if skip(.keyword(.between)) {
      let low = try value()
      try expect(.keyword(.and), "AND")
      return .between(column, low, try value())
    }
    if skip(.keyword(.like)) {
      let pattern = try value()
      return .like(column, pattern, escape: skip(.keyword(.escape)) ? try value() : nil)
    }
    return nil
  }

  // MARK: Columns and values

  private mutating func takeColumn() -> FilterSyntax.Column? {
    guard case .name(let name) = kind else { return nil }
    defer { index += 1 }
    return .init(value: name, offset: tokens[index].offset)
  }

  private mutating func value() throws(FilterFaults) -> FilterSyntax.Value {
    values += 1
    guard values <= Self.valuesMax else { throw fault("more than \(Self.valuesMax) values") }
    let offset = tokens[index].offset
    return .init(value: try operand(), offset: offset)
  }

  private mutating func operand() throws(FilterFaults) -> FilterSyntax.Operand {
    let token = kind
    index += 1
    switch token {
    case .text(let text): return .literal(.text(text))
    case .number(let digits): return .literal(.number(digits))
    case .keyword(.true): return .literal(.bool(true))
    case .keyword(.false): return .literal(.bool(false))
    case .keyword(.null): return .literal(.null)
    case .namedParameter(let name): return .namedParameter(name)
    case .nextParameter:
      defer { parameterCount += 1 }
      return .nextParameter(parameterCount)
    case .sign(let sign):
      if case .number(let digits) = kind {
        index += 1
        return .literal(.number(sign == "-" ? "-\(digits)" : digits))
      }
      throw fault("a number is missing after \(sign)")
    default:
      index -= 1
      throw fault("a value is missing")
    }
  }

  // MARK: Tokens

  private var kind: FilterToken.Kind { tokens[index].kind }

  private mutating func skip(_ wanted: FilterToken.Kind) -> Bool {
    guard kind == wanted else { return false }
    index += 1
    return true
  }

  private mutating func expect(
    _ wanted: FilterToken.Kind, _ words: String
  ) throws(FilterFaults) {
    guard skip(wanted) else { throw fault("\(words) is missing") }
  }

  private func fault(_ message: String) -> FilterFaults {
    FilterFaults(
      all: [FilterFault(place: .position(tokens[index].offset + 1), message: message)])
  }
}
