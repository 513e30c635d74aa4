import LosslessJSON

/// What a subscription asks for.
struct SubscriptionRequest: Sendable {
  /// The payload up to the value of `variables`: `query` and `operationName`.
  let opening: [UInt8]
  let document: String
  /// The variables as JSON.
  let variables: String

  init(_ operation: RegisteredOperation, variables: Variables) {
    opening = operation.requestOpenings.text
    document = operation.document
    self.variables = variables.json
  }

  /// `{"query":…,"operationName":…,"variables":…}`: a request's body, or a message's payload.
  var payload: [UInt8] {
    opening + Array(variables.utf8) + [UInt8(ascii: "}")]
  }

  /// The same as AppSync wants it: without the name, which only chooses among several operations.
  var appSyncData: String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("query")
    writer.string(document)
    writer.name("variables")
    writer.raw(variables)
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
