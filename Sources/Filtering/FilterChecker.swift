import Model

/// Resolves a filter's columns and parameters against a type, and collects every fault.
struct FilterChecker {
  private let type: EntityType
  private let columns: [String: EntityType.Column]
  private let arguments: FilterArguments
  private var usedNames: Set<String> = []
  private(set) var faults: [FilterFault] = []

  init(type: EntityType, arguments: FilterArguments) {
    self.type = type
    self.arguments = arguments
    columns = Dictionary(
      type.columns.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the checked condition; nil if there are faults.
  mutating func check(_ syntax: FilterSyntax) -> FilterCondition? {
    switch syntax {
    case .and(let left, let right):
      let (left, right) = (check(left), check(right))
      guard let left, let right else { return nil }
      return .and(left, right)
    case .or(let left, let right):
      let (left, right) = (check(left), check(right))
      guard let left, let right else { return nil }
      return .or(left, right)
    case .not(let inner):
      return check(inner).map { .not($0) }
    case .comparison(let column, let comparison, let value):
      guard let known = known(column), let value = self.value(value, known) else { return nil }
      return .comparison(column: column.value, comparison, value)
    case .columns(let left, let comparison, let right):
      return columns(left, comparison, right)
    case .truth(let column):
      guard let known = known(column) else { return nil }
      guard known.kind == .boolean else {
        note(column.offset, "\(column.value) is not a Boolean column: compare it with a value")
        return nil
      }
      return .truth(column: column.value)
    case .oneOf(let column, let list):
      guard let known = known(column) else { return nil }
      let values = list.map { value($0, known) }
      guard !values.contains(nil) else { return nil }
      return .oneOf(column: column.value, values.compactMap { $0 })
    case .between(let column, let low, let high):
      guard let known = known(column) else { return nil }
      let (low, high) = (value(low, known), value(high, known))
      guard let low, let high else { return nil }
      return .between(column: column.value, low, high)
    case .like(let column, let pattern, let escape):
      return like(column, pattern, escape)
    case .isNull(let column):
      return known(column).map { _ in .isNull(column: column.value) }
    }
  }

  /// Reports arguments without a parameter; ``check(_:)`` reported parameters without an argument.
  mutating func checkArguments(parameterCount: Int) {
    if arguments.positional.count > parameterCount {
      let parameters = parameterCount == 1 ? "1 parameter" : "\(parameterCount) parameters"
      note(
        argument: "arg",
        "the filter has \(parameters) ?, but \(arguments.positional.count) arguments are given")
    }
    for name in arguments.named.keys.sorted() where !usedNames.contains(name) {
      note(argument: "arg.\(name)", "the filter has no parameter :\(name)")
    }
  }

  private mutating func columns(
    _ left: FilterSyntax.Column, _ comparison: FilterComparison, _ right: FilterSyntax.Column
  ) -> FilterCondition? {
    let (known, other) = (known(left), known(right))
    guard let known, let other else { return nil }
    guard Self.isNumeric(known.kind) == Self.isNumeric(other.kind),
      (known.dates == nil) == (other.dates == nil)
    else {
      note(right.offset, "\(right.value) holds \(other.phrase), \(left.value) \(known.phrase)")
      return nil
    }
    return .columns(left.value, comparison, right.value)
  }

  private mutating func like(
    _ column: FilterSyntax.Column, _ pattern: FilterSyntax.Value, _ escape: FilterSyntax.Value?
  ) -> FilterCondition? {
    guard let known = known(column) else { return nil }
    guard !Self.isNumeric(known.kind), known.dates == nil else {
      note(column.offset, "\(column.value) holds \(known.phrase): LIKE needs a text column")
      return nil
    }
    let text = EntityType.Column(name: column.value, kind: .text)
    let mark = escape.flatMap { value($0, text) }
    guard case .text(let text)? = value(pattern, text) else { return nil }
    let length = text.unicodeScalars.count
    guard length <= Filter.patternCharactersMax else {
      note(
        pattern.offset,
        "the pattern has \(length) characters, at most \(Filter.patternCharactersMax) are allowed")
      return nil
    }
    guard let escape else { return .like(column: column.value, pattern: text, escape: nil) }
    guard case .text(let mark)? = mark, mark.unicodeScalars.count == 1 else {
      note(escape.offset, "the escape must be one character")
      return nil
    }
    return .like(column: column.value, pattern: text, escape: mark)
  }

  private static func isNumeric(_ kind: EntityType.Column.Kind) -> Bool {
    switch kind {
    case .integer, .real, .boolean: true
    case .text, .reference: false
    }
  }

  // MARK: Columns and values

  private mutating func known(_ column: FilterSyntax.Column) -> EntityType.Column? {
    if let known = columns[column.value] { return known }
    note(
      column.offset,
      "\(type.name) has no column \(column.value); it has "
        + type.columns.map(\.name).joined(separator: ", "))
    return nil
  }

  private mutating func value(
    _ value: FilterSyntax.Value, _ column: EntityType.Column
  ) -> FilterValue? {
    switch value.value {
    case .literal(let literal):
      return self.literal(literal, column, value.offset)
    case .nextParameter(let number):
      guard number < arguments.positional.count else {
        note(argument: "arg", "the ? at position \(value.offset + 1) has no argument")
        return nil
      }
      return argument(arguments.positional[number], column, named: "arg")
    case .namedParameter(let name):
      usedNames.insert(name)
      guard let text = arguments.named[name] else {
        note(argument: "arg.\(name)", "has no value")
        return nil
      }
      return argument(text, column, named: "arg.\(name)")
    }
  }

  private mutating func argument(
    _ text: String, _ column: EntityType.Column, named name: String
  ) -> FilterValue? {
    if let value = column.value(of: text) { return value }
    note(argument: name, "is not \(column.phrase)")
    return nil
  }

  private mutating func literal(
    _ literal: FilterSyntax.Literal, _ column: EntityType.Column, _ offset: Int
  ) -> FilterValue? {
    let read: FilterValue? =
      switch literal {
      case .text(let text): column.value(of: text)
      case .number(let digits): column.value(of: digits)
      case .bool(let flag): column.kind == .boolean ? .integer(flag ? 1 : 0) : nil
      case .null: nil
      }
    if let read { return read }
    note(
      offset,
      literal == .null ? "nothing equals NULL: write IS NULL" : "the value is not \(column.phrase)")
    return nil
  }

  private mutating func note(_ offset: Int, _ message: String) {
    faults.append(FilterFault(place: .position(offset + 1), message: message))
  }

  private mutating func note(argument: String, _ message: String) {
    faults.append(FilterFault(place: .argument(argument), message: message))
  }
}
