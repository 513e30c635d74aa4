import HTTPTypes
import Testing
import Transport

@testable import HTTPClient

struct SecureClientTests {
  /// Runs `body` with a server that has `files` and the address it is reached at.
  private func withServer(
    _ files: SelfSignedCertificate, _ body: (EventLoopGroup, HTTPURL) async throws -> Void
  ) async throws {
    let group = try EventLoopGroup(count: 2)
    let server = ScriptedServer { .ok("\($0.index)") }
    do {
      let context = try TLSServerContext([
        TLSCertificateFiles(certificate: files.certificate, key: files.key)
      ])
      let address = try await server.start(on: group, tls: context)
      try await body(group, try HTTPURL("https://localhost:\(address.port ?? 0)/"))
    } catch {
      await group.shutdown()
      throw error
    }
    await group.shutdown()
  }

  private func result(
    _ client: HTTPClient, _ url: HTTPURL
  ) async -> Result<String, HTTPClientError> {
    do throws(HTTPClientError) {
      let answer = try await client.execute(HTTPClientRequest(method: .get, url: url))
      return .success(String(decoding: answer.body, as: UTF8.self))
    } catch {
      return .failure(error)
    }
  }

  @Test("A TLS connection is reused")
  func reusesATLSConnection() async throws {
    let files = try SelfSignedCertificate()
    try await withServer(files) { group, url in
      let trust = try TLSClientContext(trust: .file(files.certificate))
      let client = HTTPClient(group: group, tls: trust, random: { 0 })
      #expect(await result(client, url) == .success("0"))
      #expect(await result(client, url) == .success("1"))
    }
  }

  @Test("An untrusted server is refused")
  func refusesUntrustedServers() async throws {
    let files = try SelfSignedCertificate()
    try await withServer(files) { group, url in
      let trusting = try TLSClientContext(trust: .file(files.certificate))
      let byName = HTTPClient(group: group, tls: trusting, random: { 0 })
      var other = url
      if case .host(_, let port) = url.origin.endpoint {
        other.origin = Origin(scheme: .https, endpoint: .host("127.0.0.1", port: port))
      }
      #expect(await result(byName, other) == .failure(.tls(.nameMismatch)))
      let system = HTTPClient(group: group, tls: try TLSClientContext(), random: { 0 })
      #expect(await result(system, url) == .failure(.tls(.untrusted)))
    }
  }

  @Test("A client without a TLS context never connects to https")
  func clientWithoutTLSNeverConnects() async throws {
    let group = try EventLoopGroup(count: 1)
    let client = HTTPClient(group: group, random: { 0 })
    let failure = await result(client, try HTTPURL("https://localhost:1/"))
    guard case .failure(.tls) = failure else {
      Issue.record("not refused: \(failure)")
      return
    }
    await group.shutdown()
  }
}
