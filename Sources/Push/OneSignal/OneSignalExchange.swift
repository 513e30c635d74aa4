package import HTTPClient
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// Asks OneSignal one thing, and sorts its answers into the classes that decide what follows.
package struct OneSignalExchange: Sendable {
  /// Sends one request within a time; `HTTPClient.execute`, or a script in tests.
  package typealias Send =
    @Sendable (HTTPClientRequest, Duration) async throws(HTTPClientError) -> HTTPClientResponse

  /// OneSignal gives up at 100 s; a shorter wait would take slow answers for lost ones.
  package static let timeout = Duration.seconds(60)
  /// A batch of invalid ids comes back whole.
  private static let answerBytesMax = 2 << 20
  /// Of OneSignal's words in a reason.
  private static let reasonBytesMax = 200

  let settings: OneSignalSettings
  let clock: WallClock
  let send: Send

  /// - Parameters:
  ///   - path: with its first slash.
  ///   - known: statuses beside 200, 201 and 202 that are answers.
  /// - Returns: the answer, an empty object where it has no body.
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
    guard let answer = try? JSONValue(parsing: response.body) else {
      throw .unknown(reason: "the answer with status \(status) is no JSON")
    }
    return answer
  }

  private func request(
    _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue?
  ) throws(PushFault) -> HTTPClientRequest {
    let url: HTTPURL
    do throws(HTTPURL.Fault) {
      url = try HTTPURL(settings.base + path)
    } catch {
      throw .permanent(reason: "\(settings.base) with its path is no http address")
    }
    var fields: HTTPFields = [
      .authorization: "\(settings.api.scheme) \(settings.key)", .accept: "application/json",
    ]
    if body != nil { fields[.contentType] = "application/json" }
    return HTTPClientRequest(
      method: method, url: url, fields: fields, body: body?.bytes ?? [],
      responseBytesMax: Self.answerBytesMax)
  }

  // MARK: Refusals

  private func fault(_ response: HTTPClientResponse) -> PushFault {
    let status = response.status.code
    let words = Self.words(of: response.body)
    let reason = words.isEmpty ? "status \(status)" : "status \(status): \(words)"
    switch status {
    case 401, 403: return .credentialsRefused(reason: reason)
    // A missing or malformed field has been answered so too.
    case 400 where words.contains("Authorization"): return .credentialsRefused(reason: reason)
    case 408, 425, 429, 500...599:
      return .transient(retryAfter: retryAfter(response.fields), reason: reason)
    default: return .permanent(reason: reason)
    }
  }

  private func retryAfter(_ fields: HTTPFields) -> Duration? {
    let now = HTTPDate(secondsSince1970: clock.now().milliseconds / 1000)
    return fields[.retryAfter].flatMap { RetryAfter.wait($0, now: now) }
  }

  /// `errors` is a list of texts, a list of objects with a title, or an object.
  private static func words(of body: [UInt8]) -> String {
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
