import Foundation

/// Requests to one Larder. A response is whole or none, also where a connection ends within its head or
/// body, and Larder's or none.
final class HTTPClient: Sendable {
  /// A longer body is no response.
  private static let bodyBytesMax = 256 << 20
  /// The deadline begins again with each so many bytes of a body, and not with each byte: what waits for the
  /// response waits no longer than for one at 270 bytes a second.
  static let bytesOfDeadline = 4 << 10

  private let base: String
  private let isSecure: Bool
  private let headers: [String: String]
  private let deadline: Duration
  private let transport: any HTTPTransport
  private let sleep: @Sendable (Duration) async throws -> Void

  init(
    base: URL, deadline: Duration, headers: [String: String], transport: (any HTTPTransport)?,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) throws {
    try Self.check(base)
    isSecure = base.scheme?.lowercased() == "https"
    self.sleep = sleep
    let text = base.absoluteString
    self.base = text.hasSuffix("/") ? String(text.dropLast()) : text
    self.deadline = deadline
    self.headers = headers
    self.transport = transport ?? Self.transport(for: base)
  }

  private static func check(_ base: URL) throws {
    guard ["http", "https"].contains(base.scheme?.lowercased()), base.host?.isEmpty == false,
      base.query == nil, base.fragment == nil
    else {
      throw LarderError.invalidArgument(
        "\(base.absoluteString) is not an address of Larder: it must be http or https with a host, without query "
          + "and fragment, such as https://api.example.com.")
    }
  }

  private static func transport(for base: URL) -> any HTTPTransport {
    #if canImport(Glibc)
      // FoundationNetworking ends the process when a connection is closed within the head of a response.
      if base.scheme?.lowercased() == "http" { return SocketTransport() }
    #endif
    return URLSessionTransport()
  }

  /// - Throws: `LarderError.offline`, `LarderError.invalidArgument`, and `CancellationError`.
  func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    try request.checkPath()
    guard let url = URL(string: base + request.target) else {
      throw LarderError.invalidArgument("\(request.target) is no path with a query.")
    }
    var request = request
    request.headers.merge(headers) { own, _ in own }
    request.arrival?.withLock { $0 = true }
    let exchange = transport.start(request, url: url)
    let watch = Watch(limit: request.deadline ?? deadline, sleep: sleep) { exchange.cancel() }
    watch.restart()
    defer { watch.end() }
    return try await withTaskCancellationHandler {
      do {
        return try await receive(exchange, request, watch)
      } catch {
        let wasSent = exchange.cancel()
        request.arrival?.withLock { $0 = wasSent }
        try Task.checkCancellation()
        throw error as? LarderError ?? .offline("\(error)", wasSent: true)
      }
    } onCancel: {
      exchange.cancel()
    }
  }

  private func receive(
    _ exchange: HTTPExchange, _ request: HTTPRequest, _ watch: Watch
  ) async throws -> HTTPResponse {
    let head = try await exchange.head()
    watch.restart()
    var response = HTTPResponse(status: head.status, headers: head.headers)
    if request.isStream, response.status == 200 {
      if response.hasRequestID, response.type.hasPrefix("text/event-stream") {
        response.stream = exchange.body
      } else {
        response.isForeign = true
        exchange.cancel()
      }
      return response
    }
    var bytesAtRestart = 0
    for try await piece in exchange.body {
      response.body.append(piece)
      if response.body.count - bytesAtRestart >= Self.bytesOfDeadline {
        bytesAtRestart = response.body.count
        watch.restart()
      }
      guard response.body.count <= Self.bodyBytesMax else {
        throw LarderError.offline("The response is too long.", wasSent: true)
      }
    }
    guard isWhole(response, to: request) else {
      throw LarderError.offline("The response was cut off.", wasSent: true)
    }
    response.readJSON()
    if response.isLarders(to: request) { return response }
    guard request.isStream else {
      let type = response.type.isEmpty ? "no content type" : response.type
      throw LarderError.offline(
        "The response (\(response.status), \(type)) is not one of Larder.", wasSent: true)
    }
    response.isForeign = true
    return response
  }

  /// A body has the length that its head says. Without TLS a head without a length was cut off itself; with
  /// TLS that is an error of the connection.
  private func isWhole(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
    if [204, 304].contains(response.status) { return true }
    if response.headers["transfer-encoding"] != nil { return true }
    // The length is that of the coded body.
    if request.method == "HEAD" || response.headers["content-encoding"] != nil { return true }
    guard let length = response.headers["content-length"] else { return isSecure }
    return Int(length) == response.body.count
  }
}

/// Ends an exchange that makes no progress for some time.
private final class Watch: Sendable {
  private let timer = Locked<Task<Void, any Error>?>(nil)
  private let limit: Duration
  private let sleep: @Sendable (Duration) async throws -> Void
  private let expire: @Sendable () -> Void

  init(
    limit: Duration, sleep: @escaping @Sendable (Duration) async throws -> Void,
    expire: @escaping @Sendable () -> Void
  ) {
    (self.limit, self.sleep, self.expire) = (limit, sleep, expire)
  }

  func restart() {
    let next = Task { [limit, sleep, expire] in
      try await sleep(limit)
      try Task.checkCancellation()
      expire()
    }
    timer.withLock { timer in
      timer?.cancel()
      timer = next
    }
  }

  func end() {
    timer.withLock { $0?.cancel() }
  }
}
