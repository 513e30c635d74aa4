package import Model

/// A checked filter on the entities of one type.
package struct Filter: Hashable, Sendable {
  /// Limit of the bytes of a filter's text and its arguments together; by default the limit of a
  /// request's target too.
  package static let bytesMax = 8192
  /// Limit of the characters (Unicode scalars) of a `LIKE` pattern.
  static let patternCharactersMax = 1_000

  package let condition: FilterCondition
  /// Whether `now()` is in it: the same filter read later is another one.
  package let namesNow: Bool
  /// Whether `now()` is in a pattern of it, where no range of times can be found.
  package let namesNowAsPattern: Bool

  package init(
    condition: FilterCondition, namesNow: Bool = false, namesNowAsPattern: Bool = false
  ) {
    self.condition = condition
    self.namesNow = namesNow
    self.namesNowAsPattern = namesNowAsPattern
  }

  /// A filter that every entity of a type meets, whatever is stored of it.
  package static func everything(of type: EntityType) -> Filter {
    let isMissing = FilterCondition.isMissing(
      column: EntityPath(field: type.keyFields.first ?? "id"))
    return Filter(condition: .or(isMissing, .not(isMissing)))
  }

  /// The types of all entities besides the filtered ones that it is evaluated on.
  package var reachedTypes: Set<String> { condition.reachedTypes }

  /// Parses a filter, checks it against a type's columns and substitutes its arguments.
  ///
  /// - Parameters:
  ///   - graph: the types that key paths can lead to; without it only the type's own columns exist.
  ///   - now: the value of `now()`; nil where it has none.
  package init(
    _ text: String, arguments: FilterArguments, type: EntityType, graph: EntityGraph = .none,
    now: Timestamp? = nil
  ) throws(FilterFaults) {
    guard text.utf8.count <= Self.bytesMax else {
      throw FilterFaults(
        all: [
          FilterFault(
            place: .position(1), message: "the filter is longer than \(Self.bytesMax) bytes")
        ])
    }
    let bytes = text.utf8.count + arguments.byteCount
    guard bytes <= Self.bytesMax else {
      throw FilterFaults(
        all: [
          FilterFault(
            place: .argument("arg"),
            message: "the filter and its arguments have \(bytes) bytes, at most "
              + "\(Self.bytesMax) are allowed")
        ])
    }
    var parser = try FilterParser(text)
    let syntax = try parser.parse()
    var checker = FilterChecker(type: type, arguments: arguments, graph: graph, now: now)
    let condition = checker.check(syntax)
    checker.checkArguments(parameterCount: parser.parameterCount)
    guard checker.faults.isEmpty, let condition else { throw FilterFaults(all: checker.faults) }
    self.condition = condition
    namesNow = checker.usesNow
    namesNowAsPattern = checker.usesNowAsPattern
  }
}

/// The values of a filter's parameters, as texts.
package struct FilterArguments: Hashable, Sendable {
  /// The value of each `?` in order.
  package var positional: [String]
  /// The value of each `:name`.
  package var named: [String: String]

  package init(positional: [String] = [], named: [String: String] = [:]) {
    self.positional = positional
    self.named = named
  }

  package static let none = FilterArguments()

  /// Total bytes of all values.
  var byteCount: Int {
    positional.reduce(0) { $0 + $1.utf8.count } + named.values.reduce(0) { $0 + $1.utf8.count }
  }
}

/// A fault of a filter or its arguments, with a message for its author.
package struct FilterFault: Hashable, Sendable {
  package enum Place: Hashable, Sendable {
    /// In the filter's text, counted in characters from 1.
    case position(Int)
    /// An argument: `arg`, `arg.min`.
    case argument(String)
  }

  package let place: Place
  package let message: String
}

/// Why a filter cannot be used: the first fault of its syntax, or all faults of its meaning.
package struct FilterFaults: Error, Hashable, Sendable {
  package let all: [FilterFault]

  package init(all: [FilterFault]) {
    self.all = all
  }
}

/// Substitution of temporary ids, so that a filter finds the entity that an id was resolved to. As in
/// variables, only a value that is exactly such an id is replaced; `LIKE` patterns never are.
extension Filter {
  /// The temporary ids among its values.
  package var temporaryIDs: Set<TemporaryID> {
    var found: Set<TemporaryID> = []
    condition.forEachValue { value in
      if case .text(let text) = value, let id = TemporaryID(text) { found.insert(id) }
    }
    return found
  }

  /// Returns the filter with resolved ids substituted.
  ///
  /// Equality still matches the temporary id too, so that an earlier state of the entity can be
  /// compared with its present one.
  package func resolving(_ known: [TemporaryID: EntityKey]) -> Filter {
    known.isEmpty
      ? self
      : Filter(
        condition: condition.resolving(known), namesNow: namesNow,
        namesNowAsPattern: namesNowAsPattern)
  }
}

extension FilterCondition {
  fileprivate func forEachValue(_ body: (FilterValue) -> Void) {
    switch self {
    case .and(let left, let right), .or(let left, let right):
      left.forEachValue(body)
      right.forEachValue(body)
    case .not(let inner): inner.forEachValue(body)
    case .comparison(_, _, let value): body(value)
    case .oneOf(_, let values): values.forEach(body)
    case .between(_, let low, let high):
      body(low)
      body(high)
    case .any(_, let inner), .anyScalar(_, let inner): inner.forEachValue(body)
    case .firstKnown(let conditions):
      for condition in conditions { condition.forEachValue(body) }
    case .columns, .truth, .like, .holds, .isNull, .isMissing: break
    }
  }

  fileprivate func resolving(_ known: [TemporaryID: EntityKey]) -> FilterCondition {
    switch self {
    case .and(let left, let right): .and(left.resolving(known), right.resolving(known))
    case .or(let left, let right): .or(left.resolving(known), right.resolving(known))
    case .not(let inner): .not(inner.resolving(known))
    case .comparison(let column, let comparison, let value):
      switch (comparison, value.real(known)) {
      case (_, nil): self
      case (.equal, let real?): .oneOf(column: column, [value, real])
      case (.notEqual, let real?): .not(.oneOf(column: column, [value, real]))
      case (_, let real?): .comparison(column: column, comparison, real)
      }
    case .oneOf(let column, let values):
      .oneOf(column: column, values + values.compactMap { $0.real(known) })
    case .between(let column, let low, let high):
      .between(column: column, low.real(known) ?? low, high.real(known) ?? high)
    case .any(let members, let inner): .any(members, inner.resolving(known))
    case .anyScalar(let list, let inner): .anyScalar(list, inner.resolving(known))
    case .firstKnown(let conditions): .firstKnown(conditions.map { $0.resolving(known) })
    case .columns, .truth, .like, .holds, .isNull, .isMissing: self
    }
  }
}

extension FilterValue {
  fileprivate func real(_ known: [TemporaryID: EntityKey]) -> FilterValue? {
    guard case .text(let text) = self, let id = TemporaryID(text) else { return nil }
    return known[id].map { .text($0.key) }
  }
}
