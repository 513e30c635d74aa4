package import HTTPClient
package import HTTPTypes

/// Opens event streams: the HTTP client, or a script in tests.
package protocol EventStreamOpening: Sendable {
  /// Sends a request and returns once the head of the response has arrived.
  func open(_ request: HTTPClientRequest) async throws(HTTPClientError) -> any EventStreamResponse
}

/// A response whose content is read as it arrives; releasing it closes its connection.
package protocol EventStreamResponse: Sendable {
  var status: HTTPResponse.Status { get }
  var fields: HTTPFields { get }

  /// Returns the next piece of the content; nil at its end.
  func next() async throws(HTTPClientError) -> [UInt8]?
}

extension HTTPClientStream: EventStreamResponse {}

extension HTTPClient: EventStreamOpening {
  package func open(
    _ request: HTTPClientRequest
  ) async throws(HTTPClientError) -> any EventStreamResponse {
    try await stream(request)
  }
}
