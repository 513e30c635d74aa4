package import HTTPClient
import HTTPTypes
import LosslessJSON

/// Sends HTTP requests that return JSON.
package struct JSONExchange: Sendable {
  /// Sends one request with a timeout; `HTTPClient.execute`, or a script in tests.
  package typealias Send =
    @Sendable (HTTPClientRequest, Duration) async throws(HTTPClientError) -> HTTPClientResponse

  struct Response: Sendable {
    let status: Int
    let fields: HTTPFields
    /// Nil if it is not JSON.
    let body: JSONValue?
  }

  private static let timeout = Duration.seconds(10)
  /// Key sets and users take a few kilobytes.
  private static let responseBytesMax = 512 * 1024

  private let send: Send

  package init(send: @escaping Send) {
    self.send = send
  }

  func get(_ url: HTTPURL, fields: HTTPFields = [:]) async throws(HTTPClientError) -> Response {
    try await ask(.get, url, body: nil, fields: fields)
  }

  func ask(
    _ method: HTTPRequest.Method, _ url: HTTPURL, body: JSONValue?, fields: HTTPFields = [:]
  ) async throws(HTTPClientError) -> Response {
    var fields = fields
    fields[.accept] = "application/json"
    if body != nil { fields[.contentType] = "application/json" }
    let response = try await send(
      HTTPClientRequest(
        method: method, url: url, fields: fields, body: body?.bytes ?? [],
        responseBytesMax: Self.responseBytesMax),
      Self.timeout)
    return Response(
      status: response.status.code, fields: response.fields,
      body: try? JSONValue(parsing: response.body))
  }
}
