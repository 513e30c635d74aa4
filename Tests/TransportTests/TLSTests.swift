import TestSupport
import Testing
import Transport

struct TLSTests {
  private func listen(on group: EventLoopGroup, log: ServerLog = ServerLog()) async throws -> UInt16
  {
    let files = try TestCertificates.shared.get()
    let context = try TLSServerContext([files.leaf])
    let server = try await group.listen(on: .host("127.0.0.1", port: 0), tls: context) { _ in
      EchoAcceptor(log: log)
    }
    return server.address.port ?? 0
  }

  @Test(
    "A client accepts the names of the certificate",
    arguments: [("127.0.0.1", nil), ("localhost", nil), ("127.0.0.1", "localhost")])
  func acceptsTheNamesOfTheCertificate(host: String, name: String?) async throws {
    let files = try TestCertificates.shared.get()
    try await withLoops { group in
      let port = try await listen(on: group)
      let client = await TestClient(
        .host(host, port: port), tls: try TLSClientContext(trust: .file(files.authority)),
        serverName: name, on: group.reactors[0])
      await client.write([42])
      #expect(await client.receive(1) == [42])
      #expect(client.state.negotiatedProtocol == "http/1.1")
    }
  }

  @Test(
    "A client refuses a certificate for another name",
    arguments: ["example.com", "127.0.0.2", "localhost.example.com"])
  func refusesAnotherName(name: String) async throws {
    let files = try TestCertificates.shared.get()
    try await withLoops { group in
      let log = ServerLog()
      let port = try await listen(on: group, log: log)
      let client = await TestClient(
        .host("127.0.0.1", port: port), tls: try TLSClientContext(trust: .file(files.authority)),
        serverName: name, on: group.reactors[0])
      await client.write([42])
      #expect(await client.closeReason() == .tls(.nameMismatch))
      #expect(!client.state.isOpened)
      #expect(await eventuallyHolds { log.current.reasons.count == 1 })
      #expect(log.current.bytes == 0)
      guard case .tls? = log.current.reasons.first else {
        Issue.record("the server was not told by an alert: \(log.current.reasons)")
        return
      }
    }
  }

  @Test("A client refuses an unknown authority")
  func refusesAnUnknownAuthority() async throws {
    let files = try TestCertificates.shared.get()
    try await withLoops { group in
      let port = try await listen(on: group)
      for trust in [TLSClientContext.Trust.system, .file(files.otherAuthority)] {
        let client = await TestClient(
          .host("localhost", port: port), tls: try TLSClientContext(trust: trust),
          on: group.reactors[0])
        #expect(await client.closeReason() == .tls(.untrusted))
      }
    }
  }

  @Test("A peer that does not speak TLS is reported")
  func reportsAPeerWithoutTLS() async throws {
    let files = try TestCertificates.shared.get()
    try await withLoops { group in
      let log = ServerLog()
      let server = try await group.listen(on: .host("127.0.0.1", port: 0)) { _ in
        EchoAcceptor(log: log)  // sends the client's own hello back
      }
      let client = await TestClient(
        .host("localhost", port: server.address.port ?? 0),
        tls: try TLSClientContext(trust: .file(files.authority)), on: group.reactors[0])
      guard case .tls(.handshake) = await client.closeReason() else {
        Issue.record("not a failed handshake: \(String(describing: client.state.reason))")
        return
      }
    }
  }

  /// The alert must leave although the session has failed.
  @Test("A malformed client hello gets an alert")
  func malformedHelloGetsAnAlert() async throws {
    try await withLoops { group in
      let port = try await listen(on: group)
      let peer = try RawPeer(connectedTo: port)
      // A handshake record with a client hello of one octet.
      try peer.send([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0])
      let answer = try peer.receive(7)
      #expect(answer.first == 21, "an alert record (RFC 8446, 5.1), got \(answer)")
    }
  }

  @Test("A handshake with a silent server ends at the deadline")
  func silentServerMeetsTheDeadline() async throws {
    let files = try TestCertificates.shared.get()
    try await withLoops { group in
      let server = try await group.listen(on: .host("127.0.0.1", port: 0)) { _ in SilentAcceptor() }
      let client = await TestClient(
        .host("localhost", port: server.address.port ?? 0),
        tls: try TLSClientContext(trust: .file(files.authority)), within: .milliseconds(100),
        on: group.reactors[0])
      #expect(await client.closeReason() == .connectFailed(.deadlineExceeded))
    }
  }

  @Test("A replaced certificate serves new connections")
  func replacedCertificateServesNewConnections() async throws {
    let files = try TestCertificates.shared.get()
    let trust = try TLSClientContext(trust: .file(files.authority))
    try await withLoops { group in
      let other = try TLSServerContext([
        TLSCertificateFiles(certificate: files.otherAuthority, key: files.otherKey)
      ])
      let server = try await group.listen(on: .host("127.0.0.1", port: 0), tls: other) { _ in
        EchoAcceptor(log: ServerLog())
      }
      let endpoint = Endpoint.host("localhost", port: server.address.port ?? 0)
      let early = await TestClient(endpoint, tls: trust, on: group.reactors[0])
      #expect(await early.closeReason() == .tls(.untrusted))
      await server.replaceTLS(
        with: try TLSServerContext([files.leaf]))
      let late = await TestClient(endpoint, tls: trust, on: group.reactors[0])
      await late.write([1])
      #expect(await late.receive(1) == [1])
    }
  }

  @Test("A context reports all errors of its files")
  func contextReportsAllCertificateErrors() throws {
    let files = try TestCertificates.shared.get()
    let encrypted = try files.encryptedKey()
    let noKey = TLSCertificateFiles(certificate: files.certificate, key: "/nowhere.key")
    #expect(
      throws: TLSContextFaults([
        .keyMismatch(path: files.otherKey),
        .certificateUnreadable(path: "/nowhere.pem", reason: "No such file or directory"),
        .keyUnreadable(path: "/nowhere.key", reason: "No such file or directory"),
        .keyEncrypted(path: encrypted),
      ])
    ) {
      try TLSServerContext([
        TLSCertificateFiles(certificate: files.certificate, key: files.otherKey),
        files.leaf,
        TLSCertificateFiles(certificate: "/nowhere.pem", key: files.key), noKey,
        TLSCertificateFiles(certificate: files.certificate, key: encrypted),
      ])
    }
    #expect(
      throws: TLSContextError.trustUnreadable(
        path: "/nowhere.pem", reason: "No such file or directory")
    ) {
      try TLSClientContext(trust: .file("/nowhere.pem"))
    }
  }
}

/// Takes connections and says nothing.
private final class SilentAcceptor: StreamAcceptor, StreamDelegate {
  func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)? {
    self
  }
  func received(
    _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor
  ) {}
  func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor) { stream.close() }
  func closed(_ stream: ByteStream, reason: CloseReason, on reactor: isolated Reactor) {}
}
