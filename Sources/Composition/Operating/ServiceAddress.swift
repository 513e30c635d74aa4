import HTTPClient
import Transport

/// The address at which commands reach the running service.
struct ServiceAddress: CustomStringConvertible, Sendable {
  /// Without a trailing slash.
  let url: String
  /// Whether an operator named it.
  let isGiven: Bool
  /// As a message names it.
  let description: String

  /// - Parameter given: a URL that an operator named; nil for the first of `listen`, which is reached over
  ///   loopback if it stands for all interfaces, or with TLS `publicUrl`, whose name the certificate has.
  init(_ settings: Settings, given: String?) throws(StartFailure) {
    if let given {
      guard (try? HTTPURL(given)) != nil else {
        throw StartFailure(
          .usage,
          "`--url` must be the service's URL, such as https://api.example.com, not `\(given)`.")
      }
      var text = given
      while text.hasSuffix("/") { text.removeLast() }
      (url, isGiven, description) = (text, true, text)
      return
    }
    let isSecure = settings.tls.certificateFile != nil
    if isSecure, let publicURL = settings.publicURL, publicURL.scheme == "https" {
      var text = publicURL.text
      while text.hasSuffix("/") { text.removeLast() }
      (url, isGiven, description) = (text, false, text)
      return
    }
    let scheme = isSecure ? "https" : "http"
    let listening = settings.listen.first ?? .tcp(host: "127.0.0.1", port: 8080)
    url = Self.url(of: listening, scheme: scheme)
    if case .unix(let path) = listening { description = "unix:\(path)" } else { description = url }
    isGiven = false
  }

  /// Returns the URL at which this machine reaches a listening address, over loopback if it stands for all
  /// interfaces.
  static func url(of listening: ListenAddress, scheme: String) -> String {
    switch listening {
    case .unix(let path):
      "http+unix://\(path.map { $0 == "/" ? "%2F" : String($0) }.joined())"
    case .tcp(nil, let port), .tcp("0.0.0.0", let port): "\(scheme)://127.0.0.1:\(port)"
    case .tcp("::", let port): "\(scheme)://[::1]:\(port)"
    case .tcp(let host?, let port):
      "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
  }

  var isSecure: Bool { url.hasPrefix("https:") }

  /// Sends one request on a connection of its own.
  func send(
    _ request: HTTPClientRequest, within limit: Duration
  ) async throws(HTTPClientError) -> HTTPClientResponse {
    let group: EventLoopGroup
    let tls: TLSClientContext?
    do {
      group = try EventLoopGroup(count: 1)
      tls = isSecure ? try TLSClientContext() : nil
    } catch {
      throw .invalidRequest("\(error)")
    }
    let client = HTTPClient(group: group, tls: tls, random: { 0.5 })
    let result: Result<HTTPClientResponse, HTTPClientError>
    do throws(HTTPClientError) {
      result = .success(try await client.execute(request, within: limit))
    } catch {
      result = .failure(error)
    }
    await client.close()
    await group.shutdown()
    return try result.get()
  }

  /// Why no response came, and what to do.
  func failure(_ error: HTTPClientError) -> StartFailure {
    let next: String
    switch error {
    case .connectFailed, .connectTimedOut, .unresolved:
      next =
        "Start the service with `larder serve`, or name the address of one that runs: "
        + (isGiven ? "--url URL." : "`listen` in its settings, or --url URL.")
    case .tls:
      next =
        isGiven
        ? "Name the URL that the certificate is for."
        : "Name the URL that the certificate is for: `publicUrl` in the settings, or --url URL."
    case .responseMalformed, .responseUndecodable, .connectionLost:
      next = "Is this a Larder? If it serves TLS, the URL begins with https."
    default:
      next = "Look at the log of the service, and at `larder doctor`."
    }
    return StartFailure(.addressInUse, "No response from \(self): \(error). \(next)")
  }
}
