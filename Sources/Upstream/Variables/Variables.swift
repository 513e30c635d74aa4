package import LosslessJSON

/// The coerced variables of one call.
package struct Variables: Sendable {
  /// The JSON object to send: what the caller gave, by the client's names, digits kept.
  package let json: String
  /// The same with defaults applied, keys sorted and numbers in one form: equal calls have equal
  /// texts. It is ``ResultKey/variables``.
  package let canonical: String
  /// Defaults applied; a variable that is neither given nor has a default is absent.
  let values: [String: JSONValue]

  /// No variables at all.
  package static let none = Variables(json: "{}", canonical: "{}", values: [:])

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
