import VendorDouble

/// A ``FakeAuth0`` behind a socket.
package final class Auth0Server: Sendable {
  package let tenant: FakeAuth0
  private let server: VendorServer

  /// Listens on a free port, which becomes the tenant's issuer.
  package init(seconds: @escaping @Sendable () -> Int64) async throws {
    let tenant = try await FakeAuth0(seconds: seconds)
    self.tenant = tenant
    server = try await VendorServer { tenant.respond(to: $0) }
    tenant.issuer = "http://127.0.0.1:\(server.port)/"
  }

  package func stop() async {
    await server.stop()
  }
}
