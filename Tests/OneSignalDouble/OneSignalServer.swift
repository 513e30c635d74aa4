import VendorDouble

/// A ``FakeOneSignal`` behind a socket.
package final class OneSignalServer: Sendable {
  package let app: FakeOneSignal
  /// Where it is asked; without a slash at the end.
  package let url: String
  private let server: VendorServer

  /// - Parameter port: nil for a free one.
  package init(_ app: FakeOneSignal, port: UInt16? = nil) async throws {
    self.app = app
    server = try await VendorServer(port: port) { app.respond(to: $0) }
    url = "http://127.0.0.1:\(server.port)\(app.pathPrefix)"
  }

  /// Refuses connections from now on.
  package func stop() async {
    await server.stop()
  }
}
