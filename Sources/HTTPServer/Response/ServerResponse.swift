package import HTTPTypes
package import Transport

/// A response from a handler.
///
/// The server adds `Date`, `Request-Id`, `X-Content-Type-Options`, the framing fields and
/// `Connection`, and omits the body if the method or status has none. It drops the fields that it owns:
/// `Connection`, `Content-Length`, `Keep-Alive` and `Transfer-Encoding`.
package struct ServerResponse: Sendable {
  package var status: HTTPResponse.Status
  package var fields: HTTPFields
  package var body: ResponseBody
  /// Whether the body can be compressed. The tag then differs by coding, and `Vary` names
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

  /// Creates a compressible response from bytes and their media type.
  package init(
    status: HTTPResponse.Status = .ok, contentType: String, bytes: [UInt8],
    fields: HTTPFields = HTTPFields()
  ) {
    self.init(status: status, fields: fields, body: .bytes(bytes), isCompressible: true)
    self.fields[.contentType] = contentType
  }

  /// Makes a response of plain text.
  package static func text(_ text: String, status: HTTPResponse.Status = .ok) -> ServerResponse {
    ServerResponse(
      status: status, contentType: "text/plain; charset=utf-8", bytes: Array(text.utf8))
  }
}

/// The content of a response.
package enum ResponseBody: Sendable {
  /// No content; sent as zero bytes if the status can have content.
  case none
  case bytes([UInt8])
  /// Written piece by piece, as fast as the client reads it. The closure runs on the connection's loop
  /// after the head has been sent, and is cancelled when the connection closes. Throwing cuts the
  /// response short, which the client can detect.
  ///
  /// Set `length` if it is known; writing any other number of bytes cuts the response short too.
  case stream(
    length: Int? = nil, write: @Sendable (inout ResponseWriter) async throws -> Void)
  /// A range of a file.
  case file(OpenFile, Range<Int>)
  /// No content: the connection becomes a WebSocket; see ``ServerResponse/webSocket(subprotocol:limits:serve:)``.
  case webSocket(WebSocketUpgrade)
}

/// Writer of the body of one response.
///
/// It exists for the duration of one closure and cannot be copied, so nothing can write after the end
/// of the response.
package struct ResponseWriter: ~Copyable {
  /// The reason nothing more can be written.
  package enum Fault: Error, Sendable, Hashable {
    /// The connection is closed, or the client did not read the output in time.
    case disconnected
    /// More bytes than were announced.
    case tooMuch
  }

  private let session: ServerSession

  init(session: ServerSession) {
    self.session = session
  }

  /// Marks the content as events without an end: the response ends when the client closes its side, even
  /// if it could still read (it would otherwise be noticed only when a write is refused), or when the
  /// client reads nothing for `stallMax` while output waits.
  package mutating func streamEvents(stallMax: Duration) {
    session.streamsEvents(stallMax: stallMax)
  }

  /// Writes content, and waits for a slow client.
  package mutating func write(_ bytes: [UInt8]) async throws(Fault) {
    try await session.writeContent(bytes)
  }

  /// Writes text as UTF-8.
  package mutating func write(_ text: String) async throws(Fault) {
    try await write(Array(text.utf8))
  }
}
