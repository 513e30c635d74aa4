import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// HTTP by URLSession. A response is whole or none, also where a connection ends within its head or body.
final class HTTPClient: Sendable {
  /// Without a byte for so long a stream counts as broken; heartbeats come every 15 s.
  private static let streamSilence: TimeInterval = 40

  private let base: String
  private let headers: [String: String]
  private let deadline: Duration
  private let receiver = ExchangeReceiver()
  private let session: URLSession
  private let streams: URLSession

  init(base: URL, deadline: Duration, headers: [String: String] = [:]) {
    let text = base.absoluteString
    self.base = text.hasSuffix("/") ? String(text.dropLast()) : text
    self.deadline = deadline
    self.headers = headers
    func session(connectionsMax: Int, receiver: ExchangeReceiver) -> URLSession {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.urlCache = nil
      configuration.httpCookieStorage = nil
      configuration.httpShouldSetCookies = false
      configuration.httpMaximumConnectionsPerHost = connectionsMax
      return URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
    }
    self.session = session(connectionsMax: 6, receiver: receiver)
    streams = session(connectionsMax: 100, receiver: receiver)
  }

  deinit {
    session.invalidateAndCancel()
    streams.invalidateAndCancel()
  }

  /// - Throws: `LarderError.offline`, and `CancellationError`.
  func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard let url = URL(string: base + request.target) else {
      throw LarderError.invalidArgument("\(request.target) is no path with a query.")
    }
    var native = URLRequest(url: url)
    native.httpMethod = request.method
    native.httpBody = request.body
    native.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
    native.timeoutInterval = request.isStream ? Self.streamSilence : 3_600
    for (name, value) in headers.merging(request.headers, uniquingKeysWith: { $1 }) {
      native.setValue(value, forHTTPHeaderField: name)
    }
    let task = (request.isStream ? streams : session).dataTask(with: native)
    let limit = request.deadline ?? deadline
    let watch = Task {
      try await Task.sleep(for: limit)
      task.cancel()
    }
    defer { watch.cancel() }
    return try await withTaskCancellationHandler {
      try await exchange(task, request)
    } onCancel: {
      task.cancel()
    }
  }

  private func exchange(_ task: URLSessionDataTask, _ request: HTTPRequest) async throws -> HTTPResponse {
    let (heads, body) = receiver.register(task)
    task.resume()
    do {
      var native: HTTPURLResponse?
      for try await head in heads {
        native = head as? HTTPURLResponse
        break
      }
      guard let native else {
        throw LarderError.offline("The response has no head.", wasSent: true)
      }
      var fields: [String: String] = [:]
      for (name, value) in native.allHeaderFields {
        if let name = name as? String, let value = value as? String { fields[name.lowercased()] = value }
      }
      var response = HTTPResponse(status: native.statusCode, headers: fields)
      if request.isStream, response.status == 200 {
        response.stream = body
        return response
      }
      for try await piece in body { response.body.append(piece) }
      guard isWhole(response, to: request) else {
        throw LarderError.offline("The response was cut off.", wasSent: true)
      }
      return response
    } catch {
      task.cancel()
      try Task.checkCancellation()
      throw Self.failure(error)
    }
  }

  /// A head without a length was cut off itself; a body has the length that its head says.
  private func isWhole(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
    if [204, 304].contains(response.status) { return true }
    if response.headers["transfer-encoding"] != nil { return true }
    guard let length = response.headers["content-length"].flatMap({ Int($0) }) else {
      return response.headers["content-encoding"] != nil
    }
    if request.method == "HEAD" || response.headers["content-encoding"] != nil { return true }
    return length == response.body.count
  }

  static func failure(_ error: any Error) -> LarderError {
    if let error = error as? LarderError { return error }
    let isUnsent = (error as? URLError).map { unsent.contains($0.code) } ?? false
    return .offline(error.localizedDescription, wasSent: !isUnsent)
  }

  /// Failures after which nothing can have reached the server.
  private static let unsent: Set<URLError.Code> = [
    .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet,
    .dataNotAllowed, .internationalRoamingOff, .secureConnectionFailed,
  ]
}
