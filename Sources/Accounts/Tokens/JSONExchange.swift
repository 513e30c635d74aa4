package import HTTPClient
import HTTPTypes
import LosslessJSON

/// Asks other services for JSON.
package struct JSONExchange: Sendable {
  /// Sends one request within a time; `HTTPClient.execute`, or a script in tests.
  package typealias Send =
    @Sendable (HTTPClientRequest, Duration) async throws(HTTPClientError) -> HTTPClientResponse

  struct Answer: Sendable {
    let status: Int
    let fields: HTTPFields
    /// Nil where it is not JSON.
    let body: JSONValue?
  }

  private static let timeout = Duration.seconds(10)
  /// Key sets and users are a few kilobytes.
  private static let answerBytesMax = 512 * 1024

  private let send: Send

  package init(send: @escaping Send) {
    self.send = send
  }

  func get(_ url: HTTPURL, fields: HTTPFields = [:]) async throws(HTTPClientError) -> Answer {
    try await ask(.get, url, body: nil, fields: fields)
  }

  func ask(
    _ method: HTTPRequest.Method, _ url: HTTPURL, body: JSONValue?, fields: HTTPFields = [:]
  ) async throws(HTTPClientError) -> Answer {
    var fields = fields
    fields[.accept] = "application/json"
    if body != nil { fields[.contentType] = "application/json" }
    let response = try await send(
      HTTPClientRequest(
        method: method, url: url, fields: fields, body: body?.bytes ?? [],
        responseBytesMax: Self.answerBytesMax),
      Self.timeout)
    return Answer(
      status: response.status.code, fields: response.fields,
      body: try? JSONValue(parsing: response.body))
  }
}
