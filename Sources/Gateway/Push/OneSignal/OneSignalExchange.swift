package import HTTPClient
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// Sends one request to OneSignal, and classifies failures.
package struct OneSignalExchange: Sendable {
  /// Sends one request with a timeout; `HTTPClient.execute`, or a script in tests.
  package typealias Send =
    @Sendable (HTTPClientRequest, Duration) async throws(HTTPClientError) -> HTTPClientResponse

  /// OneSignal times out after 100 s; a much shorter timeout would treat slow responses as lost.
  package static let timeout = Duration.seconds(60)
  /// The response to a batch of invalid ids contains all of them.
  private static let responseBytesMax = 2 << 20
  /// Maximum bytes of OneSignal's error text in a reason.
  private static let reasonBytesMax = 200

  let settings: OneSignalSettings
  let clock: WallClock
  let send: Send

  /// - Parameters:
  ///   - path: with a leading slash.
  ///   - known: accepted statuses in addition to 200, 201 and 202.
  /// - Returns: the response body; an empty object for an empty body.
  func ask(
    _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue?, known: Set<Int> = []
  ) async throws(PushFault) -> JSONValue {
    let request = try request(method, path, body)
    let response: HTTPClientResponse
    do throws(HTTPClientError) {
      response = try await send(request, Self.timeout)
    } catch {
      throw error.wasSent ? .unknown(reason: "\(error)") : .notSent(reason: "\(error)")
    }
    let status = response.status.code
    guard [200, 201, 202].contains(status) || known.contains(status) else {
      throw fault(response)
    }
    if response.body.isEmpty { return [:] }
    guard let document = try? JSONValue(parsing: response.body) else {
      throw .unknown(reason: "the response with status \(status) is not JSON")
    }
    return document
  }

  private func request(
    _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue?
  ) throws(PushFault) -> HTTPClientRequest {
    let url: HTTPURL
    do throws(HTTPURL.Fault) {
      url = try HTTPURL(settings.base + path)
    } catch {
      throw .permanent(reason: "\(settings.base) with the request path is not an HTTP URL")
    }
    var fields: HTTPFields = [
      .authorization: "\(settings.api.scheme) \(settings.key)", .accept: "application/json",
    ]
    if body != nil { fields[.contentType] = "application/json" }
    return HTTPClientRequest(
      method: method, url: url, fields: fields, body: body?.bytes ?? [],
      responseBytesMax: Self.responseBytesMax)
  }

  // MARK: Refusals

  private func fault(_ response: HTTPClientResponse) -> PushFault {
    let status = response.status.code
    let errorText = Self.errorText(of: response.body)
    let reason = errorText.isEmpty ? "status \(status)" : "status \(status): \(errorText)"
    switch status {
    case 401, 403: return .credentialsRefused(reason: reason)
    // OneSignal also reports a missing or malformed authorization field with 400.
    case 400 where errorText.contains("Authorization"): return .credentialsRefused(reason: reason)
    case 408, 425, 429, 500...599:
      return .transient(retryAfter: retryAfter(response.fields), reason: reason)
    default: return .permanent(reason: reason)
    }
  }

  private func retryAfter(_ fields: HTTPFields) -> Duration? {
    let now = HTTPDate(secondsSince1970: clock.now().milliseconds / 1000)
    return fields[.retryAfter].flatMap { RetryAfter.wait($0, now: now) }
  }

  /// The text of `errors`: a list of strings, a list of objects with a title, or an object.
  private static func errorText(of body: [UInt8]) -> String {
    guard let errors = (try? JSONValue(parsing: body))?["errors"] else { return "" }
    let texts =
      errors.array?.compactMap { $0.string ?? $0["title"]?.string ?? $0["code"]?.string }
      ?? [errors.text]
    var bytes = 0
    return String(
      texts.joined(separator: "; ").prefix { character in
        bytes += character.utf8.count
        return bytes <= reasonBytesMax && !character.isNewline
      })
  }
}
