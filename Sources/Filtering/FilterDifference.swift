extension FilterCondition {
  /// Returns the condition of all entities that may meet only one of two conditions, which are the same but
  /// for the times that `now()` stands for; nil if no entity can.
  ///
  /// Whether a value is before a time differs between two times only for values from one to the other. So
  /// the entities are those of which some value that is compared with `now()` lies there.
  package func difference(from other: FilterCondition) -> FilterCondition? {
    switch (self, other) {
    case (.and(let left, let right), .and(let otherLeft, let otherRight)),
      (.or(let left, let right), .or(let otherLeft, let otherRight)):
      return Self.joined([
        left.difference(from: otherLeft), right.difference(from: otherRight),
      ])
    case (.not(let inner), .not(let otherInner)):
      return inner.difference(from: otherInner)
    case (.comparison(let operand, _, let value), .comparison(_, _, let otherValue)):
      return Self.span(operand, value, otherValue)
    case (.oneOf(let operand, let values), .oneOf(_, let otherValues)):
      return Self.joined(zip(values, otherValues).map { Self.span(operand, $0, $1) })
    case (.between(let operand, let low, let high), .between(_, let otherLow, let otherHigh)):
      return Self.joined([
        Self.span(operand, low, otherLow), Self.span(operand, high, otherHigh),
      ])
    case (.any(let members, let inner), .any(_, let otherInner)):
      return inner.difference(from: otherInner).map { .any(members, $0) }
    case (.anyScalar(let list, let inner), .anyScalar(_, let otherInner)):
      return inner.difference(from: otherInner).map { .anyScalar(list, $0) }
    case (.firstKnown(let conditions), .firstKnown(let others)):
      return Self.joined(zip(conditions, others).map { $0.difference(from: $1) })
    default:
      return nil
    }
  }

  private static func span(
    _ operand: FilterOperand, _ value: FilterValue, _ other: FilterValue
  ) -> FilterCondition? {
    guard value != other else { return nil }
    return value.isBefore(other)
      ? .between(column: operand, value, other) : .between(column: operand, other, value)
  }

  private static func joined(_ conditions: [FilterCondition?]) -> FilterCondition? {
    let all = conditions.compactMap { $0 }
    return all.dropFirst().reduce(all.first) { joined, next in joined.map { .or($0, next) } }
  }
}
