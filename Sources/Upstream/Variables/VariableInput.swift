package import LosslessJSON

/// The variables of a call as a client wrote them.
package enum VariableInput: Sendable {
  package struct Parameter: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Percent-decoded parameters: those of the route's path and those of the query string in their
  /// order, repeated names included.
  case parameters(path: [Parameter], query: [Parameter])
  /// A JSON object of variables, with the route's path parameters. A variable that both name is a
  /// fault unless they agree.
  case body([UInt8], path: [Parameter] = [])
  /// A JSON object of variables that has been read already.
  case value(JSONValue)
}
