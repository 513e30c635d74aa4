package import LosslessJSON

/// The variables of a call as sent by a client, before they are coerced.
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
