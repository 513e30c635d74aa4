package import LosslessJSON
package import Model

/// The coerced variables of one call.
package struct Variables: Sendable {
  /// The JSON object to send: the given variables, with original digits.
  package let json: String
  /// The variables with defaults applied, keys sorted and numbers canonical: equal calls have equal
  /// texts. It is ``ResultKey/variables``.
  ///
  /// Computed on each access, because mutations never need it.
  package var canonical: String {
    JSONValue.object(values.map { JSONMember($0.key, $0.value) }).canonicalText
  }
  /// The values with defaults applied; a variable that is neither given nor has a default is
  /// absent.
  let values: [String: JSONValue]

  /// No variables at all.
  package static let none = Variables(json: "{}", values: [:])

  /// The value at a path such as `input.id`; nil if absent.
  package func value(at path: [String]) -> JSONValue? {
    guard let first = path.first, var value = values[first] else { return nil }
    for name in path.dropFirst() {
      guard let member = value[name] else { return nil }
      value = member
    }
    return value
  }
}

/// All faults of a call's variables; never empty.
package struct VariableFaults: Error, Hashable, Sendable {
  /// Each with its parameter or JSON pointer.
  package let all: [Failure.Detail]

  package init(_ all: [Failure.Detail]) {
    self.all = all
  }
}
