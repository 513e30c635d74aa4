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

/// The variables of a call as sent by a client.
package enum VariableInput: Sendable {
  package struct Parameter: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Percent-decoded parameters of the route's path and of the query string, in order, including
  /// repeated names.
  case parameters(path: [Parameter], query: [Parameter])
  /// A JSON object of variables, with the route's path parameters. A variable given in both is a
  /// fault unless the values are equal.
  case body([UInt8], path: [Parameter] = [])
  /// A parsed JSON object of variables.
  case value(JSONValue)
}

/// All faults of a call's variables; never empty.
package struct VariableFaults: Error, Hashable, Sendable {
  /// Each with its parameter or JSON pointer.
  package let all: [Failure.Detail]

  package init(_ all: [Failure.Detail]) {
    self.all = all
  }
}
