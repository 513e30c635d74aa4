import Model

/// Resolves a filter's columns and parameters against types, and collects every fault.
struct FilterChecker {
  /// Limit of different to-one relationships in one filter: each is a look-up for every row.
  static let relationshipsMax = 8
  /// Limit of predicates about to-many relationships: each visits all members of every row.
  static let membersMax = 16

  private let arguments: FilterArguments
  private let graph: EntityGraph
  private let now: Timestamp?
  /// The type that paths begin at: that of the filter, or of the members in ANY.
  private var type: EntityType
  private var hopsBefore = 0
  private var isInMembers = false
  private var relationships: Set<[EntityPath.Hop]> = []
  private var membersCount = 0
  private var usedNames: Set<String> = []
  private(set) var usesNow = false
  private(set) var faults: [FilterFault] = []

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
      guard let known = known(column), let value = self.value(value, known.column) else {
        return nil
      }
      return .comparison(column: known.operand, comparison, value)
    case .columns(let left, let comparison, let right):
      return columns(left, comparison, right)
    case .truth(let column):
      guard let known = known(column) else { return nil }
      guard known.column.kind == .boolean, case .field(let path) = known.operand else {
        note(
          column.offset, "\(column.value.text) is not a Boolean column: compare it with a value")
        return nil
      }
      return .truth(column: path)
    case .oneOf(let column, let list):
      guard let known = known(column) else { return nil }
      let values = list.map { value($0, known.column) }
      guard !values.contains(nil) else { return nil }
      return .oneOf(column: known.operand, values.compactMap { $0 })
    case .between(let column, let low, let high):
      guard let known = known(column) else { return nil }
      let (low, high) = (value(low, known.column), value(high, known.column))
      guard let low, let high else { return nil }
      return .between(column: known.operand, low, high)
    case .like(let column, let pattern, let escape):
      return like(column, pattern, escape)
    case .holds(let column, let kind, let folding, let value):
      return holds(column, kind, folding, value)
    case .isNull(let column):
      return state(column).map { .isNull(column: $0) }
    case .isMissing(let column):
      return state(column).map { .isMissing(column: $0) }
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

  private mutating func columns(
    _ left: FilterSyntax.Column, _ comparison: FilterComparison, _ right: FilterSyntax.Column
  ) -> FilterCondition? {
    let (known, other) = (known(left), known(right))
    guard let known, let other else { return nil }
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
    _ column: FilterSyntax.Column, _ pattern: FilterSyntax.Value, _ escape: FilterSyntax.Value?
  ) -> FilterCondition? {
    guard let known = known(column), isText(known.column, column, needs: "LIKE") else {
      return nil
    }
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
    _ column: FilterSyntax.Column, _ kind: TextMatch.Kind, _ folding: TextFolding,
    _ value: FilterSyntax.Value
  ) -> FilterCondition? {
    guard let known = known(column),
      isText(known.column, column, needs: kind.rawValue.uppercased())
    else { return nil }
    let text = EntityType.Column(name: known.column.name, kind: .text)
    guard case .text(let text)? = self.value(value, text), isPattern(text, value.offset) else {
      return nil
    }
    return .holds(column: known.operand, TextMatch(kind, folding, text))
  }

  private mutating func isText(
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
    switch found {
    case .through(let members, let rest):
      guard let target = graph.type(named: members.target) else {
        note(subject.offset, "\(members.field) leads to \(members.target), which has no columns")
        return nil
      }
      return check(inner, subject, within: target, hops: members.hops.count + 1, rest)
        .map { .any(members, $0) }
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

  // MARK: Columns

  /// What a predicate is about, and the column whose kind its values have.
  private struct Known {
    let operand: FilterOperand
    let column: EntityType.Column
  }

  private mutating func known(_ subject: FilterSyntax.Column) -> Known? {
    guard let found = resolve(subject) else { return nil }
    switch (found, subject.value.function) {
    case (.column(let path, let column), nil):
      return Known(operand: .field(path), column: column)
    case (.column(let path, let column), let function?):
      guard isText(column, subject, needs: function.rawValue + "()") else { return nil }
      return switch function {
      case .lower: Known(operand: .lower(path), column: .init(name: column.name, kind: .text))
      case .length: Known(operand: .length(path), column: .init(name: column.name, kind: .integer))
      }
    case (.count(let members), nil):
      countMembers(subject.offset)
      return Known(
        operand: .count(members),
        column: EntityType.Column(name: subject.value.text, kind: .integer))
    case (.scalarCount(let list), nil):
      return Known(
        operand: .scalarCount(list),
        column: EntityType.Column(name: subject.value.text, kind: .integer))
    case (.scalars, _), (.scalarCount, _):
      note(
        subject.offset,
        "\(subject.value.text) is about a list of values: write ANY or NONE before the list, or "
          + ".count after it for their number")
      return nil
    case (.members, _), (.count, _), (.through, _):
      note(
        subject.offset,
        "\(subject.value.text) leads to many entities: write ANY or NONE before a field of theirs, "
          + "or .count for their number")
      return nil
    }
  }

  /// Returns the path of `IS NULL` and `IS MISSING`, which also take lists.
  private mutating func state(_ subject: FilterSyntax.Column) -> EntityPath? {
    guard subject.value.function == nil else { return known(subject)?.operand.path }
    guard let found = resolve(subject) else { return nil }
    switch found {
    case .column(let path, _): return path
    case .members(let members) where members.link == nil:
      return EntityPath(hops: members.hops, field: members.field, isList: true)
    case .scalars(let list, _): return list.path
    case .members, .count, .scalarCount:
      note(subject.offset, "\(subject.value.text) is never null or missing")
      return nil
    case .through:
      return known(subject)?.operand.path
    }
  }

  private mutating func resolve(_ subject: FilterSyntax.Column) -> PathResolver.Found? {
    do throws(PathResolver.Fault) {
      let found = try PathResolver(graph: graph, hopsBefore: hopsBefore)
        .resolve(subject.value.names, from: type)
      switch found {
      case .column(let path, _): follow(path.hops, subject.offset)
      case .members(let members), .count(let members), .through(let members, _):
        follow(members.hops, subject.offset)
      case .scalars(let list, _), .scalarCount(let list): follow(list.hops, subject.offset)
      }
      return found
    } catch {
      note(subject.offset, error.message)
      return nil
    }
  }

  /// Counts the relationships of a path towards the limit, each once.
  private mutating func follow(_ hops: [EntityPath.Hop], _ offset: Int) {
    guard !isInMembers else { return }
    let before = relationships.count
    for end in hops.indices { relationships.insert(Array(hops[...end])) }
    if before <= Self.relationshipsMax, relationships.count > Self.relationshipsMax {
      note(offset, "the filter follows more than \(Self.relationshipsMax) relationships")
    }
  }

  private mutating func countMembers(_ offset: Int) {
    membersCount += 1
    if membersCount == Self.membersMax + 1 {
      note(offset, "more than \(Self.membersMax) predicates about to-many relationships and lists")
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

  private mutating func note(_ offset: Int, _ message: String) {
    faults.append(FilterFault(place: .position(offset + 1), message: message))
  }

  private mutating func note(argument: String, _ message: String) {
    faults.append(FilterFault(place: .argument(argument), message: message))
  }
}
