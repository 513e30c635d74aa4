import HTTPClient
import HTTPTypes
import VendorDouble

/// A ``FakeOneSignal`` with an HTTP server.
package final class OneSignalServer: Sendable {
  package let app: FakeOneSignal
  /// The base URL, without a trailing slash.
  package let url: String
  private let server: VendorServer

  /// - Parameters:
  ///   - port: nil for a free one.
  ///   - answering: called before each response is sent, with `METHOD /path`; the response waits
  ///     for it.
  package init(
    _ app: FakeOneSignal, port: UInt16? = nil,
    answering: @escaping @Sendable (String) -> Void = { _ in }
  ) async throws {
    self.app = app
    server = try await VendorServer(port: port) { request in
      let answer = app.respond(to: request)
      answering("\(request.method.rawValue) \(request.url.target)")
      return answer
    }
    url = "http://127.0.0.1:\(server.port)\(app.pathPrefix)"
  }

  /// Refuses connections from now on.
  package func stop() async {
    await server.stop()
  }
}
