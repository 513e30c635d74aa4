import Foundation

/// Requests to one Larder. A response is whole or none, also where a connection ends within its head or
/// body.
final class HTTPClient: Sendable {
  private let base: String
  private let headers: [String: String]
  private let deadline: Duration
  private let transport: any HTTPTransport

  init(
    base: URL, deadline: Duration, headers: [String: String] = [:],
    transport: (any HTTPTransport)? = nil
  ) {
    let text = base.absoluteString
    self.base = text.hasSuffix("/") ? String(text.dropLast()) : text
    self.deadline = deadline
    self.headers = headers
    self.transport = transport ?? Self.transport(for: base)
  }

  private static func transport(for base: URL) -> any HTTPTransport {
    #if canImport(Glibc)
      // FoundationNetworking ends the process when a connection is closed within the head of a response.
      if base.scheme?.lowercased() == "http" { return SocketTransport() }
    #endif
    return URLSessionTransport()
  }

  /// - Throws: `LarderError.offline`, and `CancellationError`.
  func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard let url = URL(string: base + request.target) else {
      throw LarderError.invalidArgument("\(request.target) is no path with a query.")
    }
    var request = request
    request.headers.merge(headers) { own, _ in own }
    let exchange = transport.start(request, url: url)
    let limit = request.deadline ?? deadline
    let watch = Task {
      try await Task.sleep(for: limit)
      exchange.cancel()
    }
    defer { watch.cancel() }
    return try await withTaskCancellationHandler {
      do {
        return try await receive(exchange, request)
      } catch {
        exchange.cancel()
        try Task.checkCancellation()
        throw error as? LarderError ?? .offline("\(error)", wasSent: true)
      }
    } onCancel: {
      exchange.cancel()
    }
  }

  private func receive(
    _ exchange: HTTPExchange, _ request: HTTPRequest
  ) async throws -> HTTPResponse {
    let head = try await exchange.head()
    var response = HTTPResponse(status: head.status, headers: head.headers)
    if request.isStream, response.status == 200 {
      response.stream = exchange.body
      return response
    }
    for try await piece in exchange.body { response.body.append(piece) }
    guard isWhole(response, to: request) else {
      throw LarderError.offline("The response was cut off.", wasSent: true)
    }
    return response
  }

  /// A head without a length was cut off itself; a body has the length that its head says.
  private func isWhole(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
    if [204, 304].contains(response.status) { return true }
    if response.headers["transfer-encoding"] != nil { return true }
    // The length is that of the coded body.
    if request.method == "HEAD" || response.headers["content-encoding"] != nil { return true }
    return response.headers["content-length"].flatMap { Int($0) } == response.body.count
  }
}
