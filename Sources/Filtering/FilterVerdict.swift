/// What is known about a condition on one entity without asking the database.
package enum FilterVerdict: Hashable, Sendable {
  /// The entity meets the condition.
  case met
  /// It does not: the condition is false, or NULL as in SQL.
  case unmet
  /// Only the database can tell, such as for `LIKE`.
  case unknown
}

extension Filter {
  /// Judges an entity by the values of its columns, as SQLite does, or not at all.
  ///
  /// - Parameter value: the stored value of a column, NULL included; nil if it is not known.
  package func verdict(_ value: (String) -> FilterValue?) -> FilterVerdict {
    switch condition.truth(value) {
    case .yes: .met
    case .no, .null: .unmet
    case .unknown: .unknown
    }
  }
}

/// The three values of SQL's logic, and the lack of knowledge which of them it is.
private enum FilterTruth {
  case yes, no, null, unknown

  init(_ isTrue: Bool) { self = isTrue ? .yes : .no }

  var inverted: FilterTruth {
    switch self {
    case .yes: .no
    case .no: .yes
    case .null: .null
    case .unknown: .unknown
    }
  }

  func and(_ other: @autoclosure () -> FilterTruth) -> FilterTruth {
    if self == .no { return .no }
    let other = other()
    if other == .no { return .no }
    if self == .unknown || other == .unknown { return .unknown }
    return self == .null || other == .null ? .null : .yes
  }

  func or(_ other: @autoclosure () -> FilterTruth) -> FilterTruth {
    inverted.and(other().inverted).inverted
  }
}

extension FilterCondition {
  fileprivate func truth(_ value: (String) -> FilterValue?) -> FilterTruth {
    switch self {
    case .and(let left, let right):
      return left.truth(value).and(right.truth(value))
    case .or(let left, let right):
      return left.truth(value).or(right.truth(value))
    case .not(let inner):
      return inner.truth(value).inverted
    case .comparison(let operand, let comparison, let wanted):
      return Self.compare(operand.value(value), comparison, wanted)
    case .truth(let path):
      guard let found = path.value(value) else { return .unknown }
      switch found {
      case .null: return .null
      case .integer(let number): return FilterTruth(number != 0)
      case .real, .text: return .unknown
      }
    case .oneOf(let operand, let values):
      let found = operand.value(value)
      return values.reduce(.no) { $0.or(Self.compare(found, .equal, $1)) }
    case .between(let operand, let low, let high):
      let found = operand.value(value)
      return Self.compare(found, .greaterOrEqual, low).and(
        Self.compare(found, .lessOrEqual, high))
    case .isNull(let path), .isMissing(let path):
      // A column is NULL for both.
      guard let found = path.value(value), found != .null else { return .unknown }
      return .no
    case .columns, .like, .holds, .any, .anyScalar, .firstKnown:
      // The affinity of columns and the folding of letters are SQLite's, and members are other entities.
      return .unknown
    }
  }

  private static func compare(
    _ found: FilterValue?, _ comparison: FilterComparison, _ wanted: FilterValue
  ) -> FilterTruth {
    guard let found else { return .unknown }
    if found == .null || wanted == .null { return .null }
    guard found.isComparable(to: wanted) else { return .unknown }
    let (isLess, isGreater) = (found.isBefore(wanted), wanted.isBefore(found))
    switch comparison {
    case .equal: return FilterTruth(!isLess && !isGreater)
    case .notEqual: return FilterTruth(isLess || isGreater)
    case .less: return FilterTruth(isLess)
    case .lessOrEqual: return FilterTruth(!isGreater)
    case .greater: return FilterTruth(isGreater)
    case .greaterOrEqual: return FilterTruth(!isLess)
    }
  }
}

extension FilterOperand {
  /// Returns the value of a field of the entity itself; nil for any other operand.
  fileprivate func value(_ value: (String) -> FilterValue?) -> FilterValue? {
    guard case .field(let path) = self else { return nil }
    return path.value(value)
  }
}

extension EntityPath {
  fileprivate func value(_ value: (String) -> FilterValue?) -> FilterValue? {
    hops.isEmpty && !isList ? value(field) : nil
  }
}

extension FilterValue {
  /// The numbers up to which every integer is a floating-point number too.
  private static let exactMax: Int64 = 1 << 53

  /// Whether SQLite compares the two without converting or rounding one.
  fileprivate func isComparable(to other: FilterValue) -> Bool {
    switch (self, other) {
    case (.integer, .integer), (.text, .text): true
    case (.real(let left), .real(let right)): !left.isNaN && !right.isNaN
    case (.integer(let whole), .real(let number)), (.real(let number), .integer(let whole)):
      !number.isNaN && whole.magnitude <= UInt64(Self.exactMax)
    default: false
    }
  }
}
