import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

extension ForwardedRequest {
  /// Fields that belong to one connection (RFC 9110 section 7.6.1), that the forwarder sets, or by which
  /// proxies report the client that the signature names.
  private static let droppedNames: Set<String> = [
    "connection", "content-length", "expect", "host", "http2-settings", "keep-alive",
    "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade", "forwarded", "x-forwarded-for", "x-forwarded-host",
    "x-forwarded-proto", "request-id", "x-request-id",
  ]
  /// What only nodes may say to each other.
  private static let nodePrefix = "larder-"
  /// Fields of the content, which a request without content does not have.
  private static let contentNames: Set<String> = [
    "content-encoding", "content-type", "content-md5", "content-digest", "digest",
    "idempotency-key", "if-match", "if-none-match", "if-range", "range", "cache-control", "accept",
    "last-event-id", "sync-cursor",
  ]

  /// - Parameter isDecoded: whether the content has lost its content coding.
  init(
    _ request: ServerRequest, content: Content, isDecoded: Bool, surface: NodeCall.Surface
  ) {
    var fields = Self.fields(of: request)
    if isDecoded { fields[.contentEncoding] = nil }
    // Otherwise the client would ask for gzip.
    if fields[.acceptEncoding] == nil { fields[.acceptEncoding] = "identity" }
    self.init(
      method: HTTPRequest.Method(request.method.name) ?? .get,
      // In origin form, also if the client sent the absolute one.
      target: request.path + (request.queryText.map { "?\($0)" } ?? ""),
      host: request.head.authority?.text ?? "", fields: fields, id: request.id,
      client: NodeSignature.Client(
        address: request.clientHost, isSecure: request.scheme == "https",
        host: request.forwardedHost),
      surface: surface.rawValue, content: content,
      isLong: Self.isLong(request, content: content))
  }

  /// Whether a request is for a stream or a long poll, or sends its content at the client's pace.
  private static func isLong(_ request: ServerRequest, content: Content) -> Bool {
    if case .stream = content { return true }
    if request.field("accept")?.contains("text/event-stream") ?? false { return true }
    guard request.method == .get else { return false }
    if request.path.hasSuffix("/stream") { return true }
    guard request.head.query != nil else { return false }
    return (try? request.query())?["wait"] != nil
  }

  /// The request with which a replica shows the leader the credentials of another one.
  init(presenting request: ServerRequest) {
    self.init(request, content: .none, isDecoded: true, surface: .main)
    method = .get
    target = "/v1/devices/me"
    isLong = false
    let kept = fields.filter { !Self.contentNames.contains($0.name.canonicalName) }
    fields = HTTPFields()
    for field in kept { fields.append(field) }
    fields[.acceptEncoding] = "identity"
  }

  private static func fields(of request: ServerRequest) -> HTTPFields {
    var named: Set<String> = []
    if let connection = request.head.fields.joined("connection") {
      named = Set(
        connection.text.split(separator: ",").map {
          $0.filter { $0 != " " && $0 != "\t" }.lowercased()
        })
    }
    var fields = HTTPFields()
    for field in request.fields {
      let name = field.name.canonicalName
      if droppedNames.contains(name) || named.contains(name) || name.hasPrefix(nodePrefix) {
        continue
      }
      fields.append(field)
    }
    return fields
  }
}

extension ForwardedResponse {
  /// Fields that belong to the connection to the leader, and those that this node adds itself.
  private static let droppedNames: Set<String> = [
    "connection", "content-length", "keep-alive", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade", "date", "request-id", "x-content-type-options", "ratelimit",
    "ratelimit-policy", "strict-transport-security",
  ]

  /// The response as it is sent on.
  ///
  /// - Throws: if the leader ends before its content does, and the client has seen nothing yet.
  func serverResponse(
    to request: ServerRequest, stallMax: Duration
  ) async throws(ForwardingFault) -> ServerResponse {
    var kept = HTTPFields()
    for field in fields where !Self.droppedNames.contains(field.name.canonicalName) {
      kept.append(field)
    }
    var response = ServerResponse(status: status, fields: kept)
    let length = byteCount
    if status == .noContent || status == .notModified { return response }
    if request.method == .head {
      response.body = .stream(length: length) { _ in }
      return response
    }
    if let length, length <= Self.wholeBytesMax {
      response.body = .bytes(try await rest(bytesMax: length))
      return response
    }
    response.body = .stream(length: length) { writer in
      if isEventStream { writer.streamEvents(stallMax: stallMax) }
      while let piece = try await next() { try await writer.write(piece) }
    }
    return response
  }
}
