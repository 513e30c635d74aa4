package import LosslessJSON

/// The coerced variables of one call.
package struct Variables: Sendable {
  /// The JSON object to send: what the caller gave, by the client's names, digits kept.
  package let json: String
  /// The same with defaults applied, keys sorted and numbers in one form: equal calls have equal
  /// texts. It is ``ResultKey/variables``.
  ///
  /// Made anew each time it is asked for: mutations are never told apart by it.
  package var canonical: String {
    JSONValue.object(values.map { JSONMember($0.key, $0.value) }).canonicalText
  }
  /// Defaults applied; a variable that is neither given nor has a default is absent.
  let values: [String: JSONValue]

  /// No variables at all.
  package static let none = Variables(json: "{}", values: [:])

  /// The value at a path such as `input.id`; nil where nothing is given.
  package func value(at path: [String]) -> JSONValue? {
    guard let first = path.first, var value = values[first] else { return nil }
    for name in path.dropFirst() {
      guard let member = value[name] else { return nil }
      value = member
    }
    return value
  }
}
