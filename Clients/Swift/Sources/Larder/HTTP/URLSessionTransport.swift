import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// HTTP by URLSession, with a delegate.
final class URLSessionTransport: HTTPTransport {
  private let receiver = ExchangeReceiver()
  private let requests: URLSession
  private let streams: URLSession

  init() {
    func session(connectionsMax: Int, receiver: ExchangeReceiver) -> URLSession {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.urlCache = nil
      configuration.httpCookieStorage = nil
      configuration.httpShouldSetCookies = false
      configuration.httpMaximumConnectionsPerHost = connectionsMax
      return URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
    }
    requests = session(connectionsMax: 6, receiver: receiver)
    streams = session(connectionsMax: 100, receiver: receiver)
  }

  deinit {
    requests.invalidateAndCancel()
    streams.invalidateAndCancel()
  }

  func start(_ request: HTTPRequest, url: URL) -> HTTPExchange {
    var native = URLRequest(url: url)
    native.httpMethod = request.method
    native.httpBody = request.body
    native.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
    // The client has the deadline of others.
    native.timeoutInterval = request.isStream ? TimeInterval(HTTPExchange.streamSilence) : 3_600
    for (name, value) in request.headers { native.setValue(value, forHTTPHeaderField: name) }
    let task = (request.isStream ? streams : requests).dataTask(with: native)
    let (heads, body) = receiver.register(task)
    task.resume()
    return HTTPExchange(heads: heads, body: body) {
      task.cancel()
      // URLSession does not say whether there was a connection.
      return true
    }
  }
}

/// Passes what URLSession receives on to the exchange that waits for it.
final class ExchangeReceiver: NSObject, URLSessionDataDelegate, Sendable {
  private struct Exchange: Sendable {
    let head: HTTPExchange.Heads.Continuation
    let body: HTTPExchange.Body.Continuation
  }

  private let exchanges = Locked<[ObjectIdentifier: Exchange]>([:])

  /// The head and the body of a task that has not been resumed yet. A body that is given up cancels the
  /// task.
  func register(_ task: URLSessionTask) -> (HTTPExchange.Heads, HTTPExchange.Body) {
    let (heads, head) = HTTPExchange.Heads.makeStream()
    let (bodies, body) = HTTPExchange.Body.makeStream()
    exchanges.withLock { $0[ObjectIdentifier(task)] = Exchange(head: head, body: body) }
    body.onTermination = { reason in
      if case .cancelled = reason { task.cancel() }
    }
    return (heads, bodies)
  }

  private func exchange(of task: URLSessionTask) -> Exchange? {
    exchanges.withLock { $0[ObjectIdentifier(task)] }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    if let response = response as? HTTPURLResponse {
      var headers: [String: String] = [:]
      for (name, value) in response.allHeaderFields {
        if let name = name as? String, let value = value as? String {
          headers[name.lowercased()] = value
        }
      }
      exchange(of: dataTask)?.head.yield(
        HTTPExchange.Head(status: response.statusCode, headers: headers))
    }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    exchange(of: dataTask)?.body.yield(data)
  }

  /// Redirections are not followed: credentials are for Larder alone.
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    guard
      let exchange = exchanges.withLock({ $0.removeValue(forKey: ObjectIdentifier(task)) })
    else { return }
    let failure = error.map(Self.failure)
    exchange.head.finish(throwing: failure)
    exchange.body.finish(throwing: failure)
  }

  private static func failure(_ error: any Error) -> LarderError {
    let isUnsent = (error as? URLError).map { unsent.contains($0.code) } ?? false
    return .offline(error.localizedDescription, wasSent: !isUnsent)
  }

  /// Failures after which nothing can have reached the server.
  private static let unsent: Set<URLError.Code> = [
    .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet,
    .dataNotAllowed, .internationalRoamingOff, .secureConnectionFailed,
  ]
}
