package import HTTPClient
import HTTPTypes
import HTTPWire
import LosslessJSON
package import Model

/// Sends one request to a hook, signed after the Standard Webhooks specification. Redirects are not
/// followed.
package struct HookExchange: Sendable {
  /// Sends one request with a timeout; `HTTPClient.execute`, or a script in tests.
  package typealias Send =
    @Sendable (HTTPClientRequest, Duration) async throws(HTTPClientError) -> HTTPClientResponse

  /// The response of a hook.
  enum Answer: Hashable {
    /// Status 2xx.
    case accepted
    /// Any other status.
    ///
    /// - Parameter detail: `detail` of a JSON body.
    case status(Int, detail: String?, retryAfter: Duration?)
    /// No usable response.
    ///
    /// - Parameters:
    ///   - wasSent: whether the hook may have received the request.
    ///   - retryAfter: the rest of the circuit breaker's pause.
    case none(wasSent: Bool, retryAfter: Duration?, reason: String)
    /// A response whose body is too large, or cannot be decoded.
    case unreadable(reason: String)
  }

  /// Responses are only read for their `detail`. Some repeat what they were asked about.
  private static let responseBytesMax = 2 << 20
  private static let detailCharactersMax = 1_000

  let clock: WallClock
  let send: Send

  package init(clock: WallClock, send: @escaping Send) {
    self.clock = clock
    self.send = send
  }

  /// - Parameters:
  ///   - id: the value of `webhook-id`, the same for each attempt.
  ///   - limit: at most the hook's own timeout.
  func call(
    _ hook: OutgoingHook, id: String, body: [UInt8], within limit: Duration? = nil
  ) async -> Answer {
    let seconds = "\(clock.now().milliseconds / 1_000)"
    let request = HTTPClientRequest(
      method: .post, url: hook.url,
      fields: [
        .accept: "application/json", .contentType: "application/json", .webhookID: id,
        .webhookTimestamp: seconds,
        .webhookSignature: WebhookSignature.make(
          id: id, timestamp: seconds, body: body, keys: hook.keys),
      ],
      body: body, responseBytesMax: Self.responseBytesMax, operation: hook.name)
    do throws(HTTPClientError) {
      return answer(try await send(request, min(hook.timeout, limit ?? hook.timeout)))
    } catch {
      switch error {
      case .responseTooLarge, .responseUndecodable: return .unreadable(reason: "\(error)")
      default: break
      }
      var wait: Duration?
      if case .breakerOpen(let retryAfter) = error { wait = retryAfter }
      return .none(wasSent: error.wasSent, retryAfter: wait, reason: "\(error)")
    }
  }

  private func answer(_ response: HTTPClientResponse) -> Answer {
    let status = response.status.code
    if (200...299).contains(status) { return .accepted }
    let now = HTTPDate(secondsSince1970: clock.now().milliseconds / 1_000)
    return .status(
      status, detail: Self.detail(of: response.body),
      retryAfter: response.fields[.retryAfter].flatMap { RetryAfter.wait($0, now: now) })
  }

  /// Returns the reason that a problem document (RFC 9457) or a body of the same form gives.
  private static func detail(of body: [UInt8]) -> String? {
    guard let text = (try? JSONValue(parsing: body))?["detail"]?.string else { return nil }
    let scalars = text.unicodeScalars.filter { $0.properties.generalCategory != .control }
    let detail = String(String(String.UnicodeScalarView(scalars)).prefix(detailCharactersMax))
    return detail.isEmpty ? nil : detail
  }
}

extension HTTPField.Name {
  fileprivate static let webhookID = Self("webhook-id")!
  fileprivate static let webhookTimestamp = Self("webhook-timestamp")!
  fileprivate static let webhookSignature = Self("webhook-signature")!
}
