package import LosslessJSON

/// A GraphQL request as it came, for looking at what a gateway really sends.
package struct RecordedRequest: Sendable {
  package let operationName: String
  package let query: String
  package let variables: JSONValue
  /// Names in lower case, in the order of the wire.
  package let fields: [(name: String, value: String)]

  /// The first field with this name, given in lower case.
  package subscript(field: String) -> String? {
    fields.first { $0.name == field }?.value
  }
}
