import HTTPClient
package import HTTPTypes
package import WebSocketWire

/// A client's request, as a replica passes it on.
package struct ForwardedRequest: Sendable {
  package enum Content: Sendable {
    case none
    /// The whole content, with its digest under the signature.
    case bytes([UInt8])
    /// Content that is sent while it arrives; `byteCount` is nil if its length is not known.
    case stream(byteCount: Int?, next: @Sendable () async -> Piece)
  }

  /// A step of content that arrives.
  package enum Piece: Sendable {
    case bytes([UInt8])
    case end
    /// The client stopped before the end.
    case failed
  }

  package var method: HTTPRequest.Method
  /// The path with the query, as sent.
  package var target: String
  /// The value of `Host`; empty if the client sent none.
  package var host: String
  /// The client's fields, without those of the connection.
  package var fields: HTTPFields
  package var id: String
  package var client: NodeSignature.Client
  package var surface: String
  package var content: Content
  /// Whether it is known to occupy its connection for as long as its client likes, so that it needs a place of
  /// ``RelayPlaces`` before it is sent. What turns out to be long by its response needs one then.
  package var isLong: Bool

  package init(
    method: HTTPRequest.Method, target: String, host: String, fields: HTTPFields, id: String,
    client: NodeSignature.Client, surface: String, content: Content, isLong: Bool = false
  ) {
    self.method = method
    self.target = target
    self.host = host
    self.fields = fields
    self.id = id
    self.client = client
    self.surface = surface
    self.content = content
    self.isLong = isLong
  }

  /// Whether it can be sent a second time after it may have been executed (RFC 9110 section 9.2.1).
  var isSafe: Bool { [.get, .head, .options].contains(method) }

  /// Whether its content is still there after it was sent.
  var isWhole: Bool {
    if case .stream = content { false } else { true }
  }
}

/// The leader's response to a forwarded request, whose content is read as it arrives.
package struct ForwardedResponse: Sendable {
  /// Content up to this length is read before the response to the client begins, so that its connection is free
  /// soon, and a leader that fails while it sends leaves no broken response.
  package static let wholeBytesMax = 256 << 10

  package let status: HTTPResponse.Status
  /// As received, without those that only nodes read.
  package let fields: HTTPFields
  /// Which credentials of the request the leader has verified.
  package let verified: Set<String>
  private let content: HTTPClientStream
  /// Held until the content has been passed on; nil for a short response.
  var place: RelayPlace?

  init(
    _ response: HTTPClientStream, fields: HTTPFields, verified: Set<String>
  ) {
    status = response.status
    self.fields = fields
    self.verified = verified
    content = response
  }

  /// The announced length of the content; nil if there is none.
  package var byteCount: Int? { fields[.contentLength].flatMap { Int($0) } }

  package var isEventStream: Bool {
    fields[.contentType]?.hasPrefix("text/event-stream") ?? false
  }

  /// Whether the content is sent on while it arrives, at the client's pace.
  func isLong(to request: ForwardedRequest) -> Bool {
    if request.method == .head || status == .noContent || status == .notModified { return false }
    return byteCount.map { $0 > Self.wholeBytesMax } ?? true
  }

  /// Returns the next piece of the content; nil at its end. Supports one reader at a time.
  package func next() async throws(ForwardingFault) -> [UInt8]? {
    do throws(HTTPClientError) {
      return try await content.next()
    } catch {
      throw .unanswered("the leader's response ended early: \(error)")
    }
  }

  /// Reads the rest of the content, up to a limit.
  package func rest(bytesMax: Int) async throws(ForwardingFault) -> [UInt8] {
    do throws(HTTPClientError) {
      return try await content.rest(bytesMax: bytesMax)
    } catch {
      throw .unanswered("the leader's response ended early: \(error)")
    }
  }

  /// Reads the content of a response that no client waits for, so that its connection can be used again.
  package func drop() async {
    _ = try? await content.rest(bytesMax: 1 << 20)
  }
}

/// A WebSocket connection to the leader. Releasing it closes the connection.
package struct ForwardedSocket: Sendable {
  /// The subprotocol that the leader chose; nil for none.
  package var subprotocol: String? { connection.subprotocol }
  private let connection: WebSocketClientConnection
  private let place: RelayPlace

  init(_ connection: WebSocketClientConnection, at place: RelayPlace) {
    self.connection = connection
    self.place = place
  }

  package func send(_ message: WebSocketMessage) async throws(WebSocketClose) {
    try await connection.send(message)
  }

  /// Returns the next message. Supports one reader at a time.
  package func next() async throws(WebSocketClose) -> WebSocketMessage {
    try await connection.next()
  }

  package func close(code: UInt16, reason: String) {
    connection.close(code: code, reason: reason)
  }
}
