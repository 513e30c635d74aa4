import Model

/// Resolves a filter's columns and parameters against types, and collects every fault.
struct FilterChecker {
  /// Limit of different to-one relationships in one filter: each is a look-up for every row.
  static let relationshipsMax = 8
  /// Limit of predicates about to-many relationships: each visits all members of every row.
  static let membersMax = 16

  private let arguments: FilterArguments
  let graph: EntityGraph
  private let now: Timestamp?
  /// The type that paths begin at: that of the filter, or of the members in ANY.
  var type: EntityType
  var hopsBefore = 0
  var isInMembers = false
  var relationships: Set<[EntityPath.Hop]> = []
  var membersCount = 0
  private var usedNames: Set<String> = []
  private(set) var usesNow = false
  /// Whether `now()` is what a text must be like or contain.
  private(set) var usesNowAsPattern = false
  private(set) var faults: [FilterFault] = []
  private var noted: Set<FilterFault> = []

  init(type: EntityType, arguments: FilterArguments, graph: EntityGraph, now: Timestamp?) {
    self.type = type
    self.arguments = arguments
    self.graph = graph
    self.now = now
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
      return each(column) { checker, known in
        checker.value(value, known.column).map {
          .comparison(column: known.operand, comparison, $0)
        }
      }
    case .columns(let left, let comparison, let right):
      return columns(left, comparison, right)
    case .truth(let column):
      return each(column) { checker, known in
        guard known.column.kind == .boolean, case .field(let path) = known.operand else {
          checker.note(
            column.offset,
            "\(column.value.text) is not a Boolean column: compare it with a value")
          return nil
        }
        return .truth(column: path)
      }
    case .oneOf(let column, let list):
      return each(column) { checker, known in
        let values = list.map { checker.value($0, known.column) }
        guard !values.contains(nil) else { return nil }
        return .oneOf(column: known.operand, values.compactMap { $0 })
      }
    case .between(let column, let low, let high):
      return each(column) { checker, known in
        let (low, high) = (
          checker.value(low, known.column), checker.value(high, known.column)
        )
        guard let low, let high else { return nil }
        return .between(column: known.operand, low, high)
      }
    case .like(let column, let pattern, let escape):
      return each(column) { checker, known in
        checker.like(known, column, pattern, escape)
      }
    case .holds(let column, let kind, let folding, let value):
      return each(column) { checker, known in
        checker.holds(known, column, kind, folding, value)
      }
    case .isNull(let column):
      return state(column).flatMap { Self.first($0.map { .isNull(column: $0) }) }
    case .isMissing(let column):
      // Of several paths an entity is on one: on the others it has nothing.
      guard let paths = state(column), let last = paths.last else { return nil }
      return paths.dropLast().reversed().reduce(.isMissing(column: last)) {
        .and(.isMissing(column: $1), $0)
      }
    case .any(let inner):
      return any(inner)
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

  // MARK: Predicates

  /// Makes the condition of a predicate for each path that its subject stands for; nil if one has a fault.
  private mutating func each(
    _ subject: FilterSyntax.Column,
    _ condition: (inout FilterChecker, Known) -> FilterCondition?
  ) -> FilterCondition? {
    guard let all = known(subject) else { return nil }
    var conditions: [FilterCondition?] = []
    for known in all { conditions.append(condition(&self, known)) }
    return Self.first(conditions)
  }

  /// Joins the conditions of the paths that one stands for; nil if one has a fault.
  private static func first(_ conditions: [FilterCondition?]) -> FilterCondition? {
    let all = conditions.compactMap { $0 }
    guard all.count == conditions.count else { return nil }
    return all.count > 1 ? .firstKnown(all) : all.first
  }

  private mutating func columns(
    _ left: FilterSyntax.Column, _ comparison: FilterComparison, _ right: FilterSyntax.Column
  ) -> FilterCondition? {
    let (all, others) = (known(left), known(right))
    guard let all, let others else { return nil }
    var conditions: [FilterCondition?] = []
    for known in all {
      for other in others where Self.canMeet(known.operand, other.operand) {
        conditions.append(columns(known, left, comparison, other, right))
      }
    }
    guard conditions.count <= Self.comparisonsMax else {
      note(
        right.offset,
        "the comparison of \(left.value.text) and \(right.value.text) stands for "
          + "\(conditions.count) comparisons, at most \(Self.comparisonsMax) are allowed")
      return nil
    }
    // If no entity is on both, the comparison is unknown for all.
    if conditions.isEmpty, let known = all.first, let other = others.first {
      return .columns(known.operand, comparison, other.operand)
    }
    return Self.first(conditions)
  }

  /// The comparisons of two paths through unions that one stands for. SQLite's functions take 127 arguments.
  private static let comparisonsMax = 64

  /// Whether an entity can be on both of two paths: not if one relationship leads them to different types.
  private static func canMeet(_ left: FilterOperand, _ right: FilterOperand) -> Bool {
    guard let left = left.path?.hops, let right = right.path?.hops else { return true }
    guard let (first, second) = zip(left, right).first(where: { $0 != $1 }) else { return true }
    return first.field != second.field
  }

  private mutating func columns(
    _ known: Known, _ left: FilterSyntax.Column, _ comparison: FilterComparison, _ other: Known,
    _ right: FilterSyntax.Column
  ) -> FilterCondition? {
    guard Self.isNumeric(known.column.kind) == Self.isNumeric(other.column.kind),
      (known.column.dates == nil) == (other.column.dates == nil)
    else {
      note(
        right.offset,
        "\(right.value.text) holds \(other.column.phrase), \(left.value.text) "
          + known.column.phrase)
      return nil
    }
    return .columns(known.operand, comparison, other.operand)
  }

  private mutating func like(
    _ known: Known, _ column: FilterSyntax.Column, _ pattern: FilterSyntax.Value,
    _ escape: FilterSyntax.Value?
  ) -> FilterCondition? {
    guard isText(known.column, column, needs: "LIKE") else { return nil }
    notePattern(pattern)
    let text = EntityType.Column(name: known.column.name, kind: .text)
    let mark = escape.flatMap { value($0, text) }
    guard case .text(let text)? = value(pattern, text), isPattern(text, pattern.offset) else {
      return nil
    }
    guard let escape else { return .like(column: known.operand, pattern: text, escape: nil) }
    guard case .text(let mark)? = mark, mark.unicodeScalars.count == 1 else {
      note(escape.offset, "the escape must be one character")
      return nil
    }
    return .like(column: known.operand, pattern: text, escape: mark)
  }

  private mutating func holds(
    _ known: Known, _ column: FilterSyntax.Column, _ kind: TextMatch.Kind,
    _ folding: TextFolding, _ value: FilterSyntax.Value
  ) -> FilterCondition? {
    guard isText(known.column, column, needs: kind.rawValue.uppercased()) else { return nil }
    notePattern(value)
    let text = EntityType.Column(name: known.column.name, kind: .text)
    guard case .text(let text)? = self.value(value, text), isPattern(text, value.offset) else {
      return nil
    }
    return .holds(column: known.operand, TextMatch(kind, folding, text))
  }

  mutating func isText(
    _ known: EntityType.Column, _ column: FilterSyntax.Column, needs word: String
  ) -> Bool {
    guard !Self.isNumeric(known.kind), known.dates == nil else {
      note(
        column.offset,
        "\(column.value.text) holds \(known.phrase): \(word) needs a text column")
      return false
    }
    return true
  }

  /// A pattern that moves with the time is no range of texts.
  private mutating func notePattern(_ pattern: FilterSyntax.Value) {
    if case .now = pattern.value { usesNowAsPattern = true }
  }

  private mutating func isPattern(_ text: String, _ offset: Int) -> Bool {
    let length = text.unicodeScalars.count
    guard length <= Filter.patternCharactersMax else {
      note(
        offset,
        "the pattern has \(length) characters, at most \(Filter.patternCharactersMax) are allowed")
      return false
    }
    return true
  }

  private mutating func any(_ inner: FilterSyntax) -> FilterCondition? {
    guard let subject = inner.subject else { return nil }
    guard let found = resolve(subject) else { return nil }
    var conditions: [FilterCondition?] = []
    for found in found { conditions.append(any(inner, subject, found)) }
    return Self.first(conditions)
  }

  private mutating func any(
    _ inner: FilterSyntax, _ subject: FilterSyntax.Column, _ found: PathResolver.Found
  ) -> FilterCondition? {
    switch found {
    case .through(let all, let rest):
      var condition: FilterCondition?
      for members in all {
        guard let target = graph.type(named: members.target) else {
          note(
            subject.offset, "\(members.field) leads to \(members.target), which has no columns")
          return nil
        }
        guard
          let some = check(inner, subject, within: target, hops: members.hops.count + 1, rest)
        else { return nil }
        // Of members of several types, some of one type meets it.
        let any = FilterCondition.any(members, some)
        condition = condition.map { .or($0, any) } ?? any
      }
      return condition
    case .scalars(let list, let column):
      let value = EntityType(name: list.field, keyFields: [], columns: [column])
      return check(inner, subject, within: value, hops: list.hops.count, [column.name])
        .map { .anyScalar(list, $0) }
    case .column, .members, .count, .scalarCount:
      note(
        subject.offset,
        "ANY and NONE need a path through a to-many relationship, such as cast.name, or to a list "
          + "of values; \(subject.value.text) is none")
      return nil
    }
  }

  /// Checks a predicate about the members of a relationship, or about the values of a list.
  private mutating func check(
    _ inner: FilterSyntax, _ subject: FilterSyntax.Column, within member: EntityType, hops: Int,
    _ rest: [String]
  ) -> FilterCondition? {
    guard !isInMembers else {
      note(subject.offset, "a path can go through one to-many relationship only")
      return nil
    }
    countMembers(subject.offset)
    let (outerType, outerHops) = (type, hopsBefore)
    (type, hopsBefore, isInMembers) = (member, hops, true)
    defer { (type, hopsBefore, isInMembers) = (outerType, outerHops, false) }
    let about = FilterSyntax.Column(
      value: .init(rest, function: subject.value.function), offset: subject.offset)
    return check(inner.about(about))
  }

  private static func isNumeric(_ kind: EntityType.Column.Kind) -> Bool {
    switch kind {
    case .integer, .real, .boolean: true
    case .text, .reference: false
    }
  }

  // MARK: Values

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
    case .now(let seconds):
      return moment(seconds, column, value.offset)
    }
  }

  private mutating func moment(
    _ seconds: Int64, _ column: EntityType.Column, _ offset: Int
  ) -> FilterValue? {
    guard let now else {
      note(offset, "now() cannot be used here: time passes without a change; write the time itself")
      return nil
    }
    usesNow = true
    guard column.kind == .text else {
      note(offset, "now() is a time, but \(column.name) holds \(column.phrase)")
      return nil
    }
    let moment = now.advanced(by: .seconds(seconds)).iso8601
    // Dates of local types have a stored form of their own; upstream's are texts.
    guard let stored = DateFormat.iso8601.stored(text: moment) else {
      note(offset, "this time is outside the years 0 to 9999")
      return nil
    }
    return .text(column.dates == nil ? moment : stored)
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

  // MARK: Faults

  mutating func note(_ offset: Int, _ message: String) {
    note(FilterFault(place: .position(offset + 1), message: message))
  }

  private mutating func note(argument: String, _ message: String) {
    note(FilterFault(place: .argument(argument), message: message))
  }

  /// Notes a fault once: a predicate is checked for each path that its subject stands for.
  private mutating func note(_ fault: FilterFault) {
    if noted.insert(fault).inserted { faults.append(fault) }
  }
}
