import Testing

@testable import Transport

/// The choice of the certificate for a client.
struct TLSNameTests {
  /// The client verifies the name, so a response proves that the right certificate was shown.
  @Test("Each name gets its certificate")
  func eachNameHasItsCertificate() async throws {
    let files = try TestCertificates.shared.get()
    let context = try TLSServerContext([
      files.leaf, files.issue("api", for: "DNS:api.example.test,DNS:API2.example.test"),
      files.issue("wild", for: "DNS:*.example.test"),
    ])
    let trust = try TLSClientContext(trust: .file(files.authority))
    try await withLoops { group in
      let server = try await group.listen(on: .host("127.0.0.1", port: 0), tls: context) { _ in
        EchoAcceptor(log: ServerLog())
      }
      let endpoint = Endpoint.host("127.0.0.1", port: server.address.port ?? 0)
      for name in ["localhost", "api.example.test", "api2.example.test", "other.example.test"] {
        let client = await TestClient(
          endpoint, tls: trust, serverName: name, on: group.reactors[0])
        await client.write([42])
        #expect(await client.receive(1) == [42], "\(name)")
      }
      // A wildcard is one label; who asks for an unknown name sees the first certificate.
      for name in ["a.b.example.test", "example.test", "elsewhere.test"] {
        let client = await TestClient(
          endpoint, tls: trust, serverName: name, on: group.reactors[0])
        #expect(await client.closeReason() == .tls(.nameMismatch), "\(name)")
      }
    }
  }

  @Test("A certificate lists its names, key kind and expiry")
  func certificatesListTheirProperties() throws {
    let files = try TestCertificates.shared.get()
    let rsa = try files.issue("facts", for: "DNS:Facts.test,IP:127.0.0.1", key: ["rsa:2048"])
    let context = try TLSServerContext([files.leaf, rsa])
    #expect(context.certificates.map(\.keyKind) == [.ecdsa, .rsa])
    #expect(context.certificates.map(\.names) == [["localhost"], ["facts.test"]])
    let left = context.certificates[1].expirySeconds - LoopClock.wallSeconds()
    #expect((100_000...172_800).contains(left), "two days, not \(left) s")
    #expect(!context.certificates[1].isKeyOpenToAll)
  }

  @Test(
    "Certificates are grouped by name and kind of key",
    arguments: [
      // Two kinds of keys for a name are offered together; of one kind the first counts.
      ([("a", "ecdsa"), ("a", "rsa"), ("a", "rsa")], [[0, 1]], ["a": 0]),
      // A name that only one of them has is a group of its own.
      (
        [("a", "ecdsa"), ("a b", "rsa"), ("c", "rsa")], [[0, 1], [1], [2]],
        ["a": 0, "b": 1, "c": 2]
      ),
      ([("", "rsa"), ("*.a", "rsa"), ("*.a", "ecdsa")], [[0], [1, 2]], ["*.a": 1]),
    ])
  func groupsCertificatesByName(
    certificates: [(names: String, kind: String)], groups: [[Int]], byName: [String: Int]
  ) {
    let plan = TLSNamePlan(
      certificates.map { certificate in
        TLSCertificateFacts(
          files: TLSCertificateFiles(certificate: "", key: ""),
          keyKind: certificate.kind == "rsa" ? .rsa : .ecdsa,
          names: certificate.names.split(separator: " ").map(String.init), expirySeconds: 0,
          isKeyOpenToAll: false)
      })
    #expect(plan.groups == groups)
    #expect(plan.groupByName == byName)
  }
}
