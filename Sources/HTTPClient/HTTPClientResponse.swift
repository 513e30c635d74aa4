package import HTTPTypes

/// An answer, whole in memory.
package struct HTTPClientResponse: Sendable, Equatable {
  package var status: HTTPResponse.Status
  /// The fields as received; without `Content-Encoding` and `Content-Length` when the client has
  /// decoded the body.
  package var fields: HTTPFields
  package var body: [UInt8]

  package init(status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }
}
