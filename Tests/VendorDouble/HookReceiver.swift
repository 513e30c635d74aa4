import HTTPClient
import HTTPTypes
package import LosslessJSON
import Synchronization

/// A server that hooks call: it keeps every request, and responds as the test says.
package final class HookReceiver: Sendable {
  /// A request as it arrived.
  package struct Call: Sendable {
    /// With the leading slash.
    package let path: String
    /// `webhook-id`, `webhook-timestamp` and `webhook-signature`.
    package let id: String
    package let timestamp: String
    package let signature: String
    package let body: [UInt8]

    package var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
  }

  package struct Response: Sendable {
    package var status: Int
    package var body: JSONValue
    /// The value of `Location` of a redirect.
    package var location: String?

    package init(_ status: Int, _ body: JSONValue = [:], location: String? = nil) {
      self.status = status
      self.body = body
      self.location = location
    }
  }

  private final class Record: Sendable {
    let calls = Mutex<[Call]>([])
  }

  package let port: UInt16
  private let server: VendorServer
  private let record: Record

  package var url: String { "http://127.0.0.1:\(port)" }

  /// All requests so far, in the order of their arrival.
  package var calls: [Call] { record.calls.withLock { $0 } }

  /// - Parameters:
  ///   - port: nil for a free one.
  ///   - respond: called on the server's loop; nil loses the response with its connection.
  package init(
    port: UInt16? = nil, respond: @escaping @Sendable (Call) -> Response? = { _ in Response(204) }
  ) async throws {
    let record = Record()
    self.record = record
    server = try await VendorServer(port: port) { request in
      let call = Call(
        path: request.url.target, id: Self.field("webhook-id", request),
        timestamp: Self.field("webhook-timestamp", request),
        signature: Self.field("webhook-signature", request), body: request.body)
      record.calls.withLock { $0.append(call) }
      guard let response = respond(call) else { return nil }
      var fields = HTTPFields()
      if let location = response.location { fields[.location] = location }
      return HTTPClientResponse(
        status: HTTPResponse.Status(code: response.status), fields: fields,
        body: response.status == 204 ? [] : response.body.bytes)
    }
    self.port = server.port
  }

  private static func field(_ name: String, _ request: HTTPClientRequest) -> String {
    HTTPField.Name(name).flatMap { request.fields[$0] } ?? ""
  }

  /// Refuses connections from now on.
  package func stop() async { await server.stop() }
}
