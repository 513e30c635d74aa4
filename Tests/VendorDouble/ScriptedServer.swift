import HTTPClient
import HTTPTypes

/// A server with responses scripted by a test, for responses that no double gives by itself.
package final class ScriptedServer: Sendable {
  package struct Request: Sendable {
    /// The value of `Idempotency-Key`; empty without it.
    package let key: String
    package let body: [UInt8]
  }

  package struct Answer: Sendable {
    package var status: Int
    package var contentType: String
    package var retryAfter: String?
    package var body: String

    package init(
      _ status: Int = 200, _ body: String = "{}", contentType: String = "application/json",
      retryAfter: String? = nil
    ) {
      self.status = status
      self.body = body
      self.contentType = contentType
      self.retryAfter = retryAfter
    }
  }

  private static let keyField = HTTPField.Name("Idempotency-Key")

  private let server: VendorServer

  /// - Parameter respond: returns nil to lose the response with its connection.
  package init(_ respond: @escaping @Sendable (Request) -> Answer?) async throws {
    server = try await VendorServer { request in
      let key = Self.keyField.flatMap { request.fields[$0] } ?? ""
      guard let answer = respond(Request(key: key, body: request.body)) else { return nil }
      var fields = HTTPFields()
      fields[.contentType] = answer.contentType
      fields[.retryAfter] = answer.retryAfter
      return HTTPClientResponse(
        status: HTTPResponse.Status(code: answer.status), fields: fields,
        body: Array(answer.body.utf8))
    }
  }

  package var url: String { "http://127.0.0.1:\(server.port)/graphql" }

  package func stop() async {
    await server.stop()
  }
}
