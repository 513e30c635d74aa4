import Model

/// Parses the filter language:
///
/// ```
/// filter     := and (OR and)*
/// and        := not (AND not)*
/// not        := NOT not | "(" filter ")" | [ANY | NONE] predicate
/// predicate  := subject
///             | subject compare (value | subject) | value compare subject
///             | subject [NOT] IN "(" value ("," value)* ")"
///             | subject [NOT] BETWEEN value AND value
///             | subject [NOT] LIKE value [ESCAPE value]
///             | subject [NOT] (CONTAINS | BEGINSWITH | ENDSWITH) ["[c]" | "[cd]"] value
///             | subject IS [NOT] (NULL | MISSING)
/// compare    := "=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">="
/// value      := 'text' | [+-]number | TRUE | FALSE | "?" | ":" name
///             | now "(" ")" (("+" | "-") duration)*
/// duration   := digits ("d" | "h" | "m" | "s")
/// subject    := path | lower "(" path ")" | length "(" path ")"
/// path       := name ("." name)*
/// name       := letters, digits and _ | "name"
/// ```
///
/// Every filter that it accepts means the same in SQLite.
struct FilterParser {
  /// Limit of nested parentheses and NOTs, which bounds the parser's recursion.
  static let depthMax = 32
  /// The same around ANY and NONE, whose SQL takes half of SQLite's parser stack.
  static let quantifierDepthMax = 24
  /// Limit of predicates in one filter; SQLite refuses expressions deeper than a thousand.
  static let predicatesMax = 200
  /// Limit of values in one filter, those of IN included.
  static let valuesMax = 1000
  /// Limit of the durations after one `now()`.
  static let durationsMax = 4

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
    guard skip(.open) else { return try quantified() }
    let inner = try disjunction()
    try expect(.close, "a closing parenthesis")
    return inner
  }

  // MARK: Predicates

  /// `ANY` and `NONE` are words of the language only before a path: a column can have these names.
  private mutating func quantified() throws(FilterFaults) -> FilterSyntax {
    guard case .word(let word) = kind, let quantifier = Quantifier(rawValue: word.lowercased()),
      beginsSubject(at: index + 1)
    else { return try predicate() }
    guard depth <= Self.quantifierDepthMax else {
      throw fault(
        "\(word) is in parentheses and NOTs that are nested more than \(Self.quantifierDepthMax) deep"
      )
    }
    index += 1
    let inner = FilterSyntax.any(try predicate())
    return quantifier == .any ? inner : .not(inner)
  }

  private enum Quantifier: String {
    case any, none
  }

  private func beginsSubject(at place: Int) -> Bool {
    guard tokens.indices.contains(place) else { return false }
    switch tokens[place].kind {
    case .path: return true
    // `any CONTAINS 'x'` is about a column of this name.
    case .word(let word): return TextMatch.Kind(rawValue: word.lowercased()) == nil
    default: return false
    }
  }

  private mutating func predicate() throws(FilterFaults) -> FilterSyntax {
    predicates += 1
    guard predicates <= Self.predicatesMax else {
      throw fault("more than \(Self.predicatesMax) predicates")
    }
    guard let column = try takeSubject() else {
      let value = try value()
      guard case .comparison(let comparison) = kind else {
        throw fault("a comparison with a column is missing")
      }
      index += 1
      guard let column = try takeSubject() else { throw fault("a column is missing") }
      return .comparison(column, comparison.mirrored, value)
    }
    if case .comparison(let comparison) = kind {
      index += 1
      if let other = try takeSubject() { return .columns(column, comparison, other) }
      return .comparison(column, comparison, try value())
    }
    if skip(.keyword(.is)) {
      let isNegated = skip(.keyword(.not))
      let found: FilterSyntax = try takesMissing() ? .isMissing(column) : .isNull(column)
      return isNegated ? .not(found) : found
    }
    let isNegated = skip(.keyword(.not))
    guard let found = try rest(of: column) else {
      if isNegated {
        throw fault("IN, BETWEEN, LIKE, CONTAINS, BEGINSWITH or ENDSWITH is missing after NOT")
      }
      return .truth(column)
    }
    return isNegated ? .not(found) : found
  }

  /// Reads `NULL` or `MISSING`.
  private mutating func takesMissing() throws(FilterFaults) -> Bool {
    if case .word(let word) = kind, word.lowercased() == "missing" {
      index += 1
      return true
    }
    try expect(.keyword(.null), "NULL or MISSING")
    return false
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
    if case .word(let word) = kind, let match = TextMatch.Kind(rawValue: word.lowercased()) {
      index += 1
      var folding = TextFolding.none
      if case .folding(let given) = kind {
        index += 1
        folding = given
      }
      return .holds(column, match, folding, try value())
    }
    return nil
  }

  // MARK: Subjects and values

  private mutating func takeSubject() throws(FilterFaults) -> FilterSyntax.Column? {
    let offset = tokens[index].offset
    switch kind {
    case .path(let names):
      index += 1
      return .init(value: .init(names), offset: offset)
    case .word(let word):
      guard followsOpening else {
        index += 1
        return .init(value: .init([word]), offset: offset)
      }
      // `now()` is a value.
      if word.lowercased() == Self.now { return nil }
      guard let function = FilterSyntax.Subject.Function(rawValue: word.lowercased()) else {
        throw fault("there is no function \(word): there are lower, length and now")
      }
      index += 2
      guard let names = takeNames() else { throw fault("a column is missing") }
      try expect(.close, "a closing parenthesis")
      return .init(value: .init(names, function: function), offset: offset)
    default:
      return nil
    }
  }

  private static let now = "now"

  /// Whether a parenthesis comes after the present token.
  private var followsOpening: Bool {
    tokens.indices.contains(index + 1) && tokens[index + 1].kind == .open
  }

  private mutating func takeNames() -> [String]? {
    switch kind {
    case .path(let names):
      index += 1
      return names
    case .word(let word):
      index += 1
      return [word]
    default:
      return nil
    }
  }

  private mutating func value() throws(FilterFaults) -> FilterSyntax.Value {
    values += 1
    guard values <= Self.valuesMax else { throw fault("more than \(Self.valuesMax) values") }
    let offset = tokens[index].offset
    return .init(value: try operand(), offset: offset)
  }

  private mutating func operand() throws(FilterFaults) -> FilterSyntax.Operand {
    let token = kind
    if case .word(let word) = token, word.lowercased() == Self.now, followsOpening {
      index += 2
      try expect(.close, "a closing parenthesis")
      return .now(seconds: try durations())
    }
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

  /// Reads what is added to `now()` or subtracted from it.
  ///
  /// - Returns: the sum in seconds.
  private mutating func durations() throws(FilterFaults) -> Int64 {
    var sum: Int64 = 0
    var count = 0
    while case .sign(let sign) = kind {
      index += 1
      guard case .duration(let seconds) = kind else {
        throw fault("a duration such as 7d, 12h, 30m or 45s is missing after \(sign)")
      }
      count += 1
      guard count <= Self.durationsMax else {
        throw fault("more than \(Self.durationsMax) durations after now()")
      }
      index += 1
      sum += sign == "-" ? -seconds : seconds
    }
    return sum
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
