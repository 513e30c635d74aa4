package import HTTPTypes

/// An answer on its way to the client.
///
/// The server adds `Date`, `Request-Id`, `X-Content-Type-Options`, the framing fields and
/// `Connection`, and leaves the body out where the method or status has none. What it owns is dropped
/// where it is set here: `Connection`, `Content-Length`, `Keep-Alive` and `Transfer-Encoding`.
package struct ServerResponse: Sendable {
  package var status: HTTPResponse.Status
  package var fields: HTTPFields
  package var body: ResponseBody
  /// Whether the body may be sent compressed. The tag then differs by coding, and `Vary` names
  /// `Accept-Encoding` on every variant.
  package var isCompressible: Bool

  package init(
    status: HTTPResponse.Status = .ok, fields: HTTPFields = HTTPFields(),
    body: ResponseBody = .none, isCompressible: Bool = false
  ) {
    self.status = status
    self.fields = fields
    self.body = body
    self.isCompressible = isCompressible
  }

  /// An answer of bytes with their media type, compressible.
  package init(
    status: HTTPResponse.Status = .ok, contentType: String, bytes: [UInt8],
    fields: HTTPFields = HTTPFields()
  ) {
    self.init(status: status, fields: fields, body: .bytes(bytes), isCompressible: true)
    self.fields[.contentType] = contentType
  }

  /// An answer of plain text.
  package static func text(_ text: String, status: HTTPResponse.Status = .ok) -> ServerResponse {
    ServerResponse(
      status: status, contentType: "text/plain; charset=utf-8", bytes: Array(text.utf8))
  }
}
