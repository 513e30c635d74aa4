import Glibc
import TestSupport
import Testing

@testable import Transport

/// What comes in on a TLS port and is no handshake, or none that ends.
struct HostileHandshakeTests {
  private static let answer = Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)

  private func withServer(
    _ body: (_ port: UInt16, _ log: ServerLog, EventLoopGroup) async throws -> Void
  ) async throws {
    let files = try TestCertificates.shared.get()
    let context = try TLSServerContext([files.leaf], plainHTTPResponse: Self.answer)
    try await withLoops { group in
      let log = ServerLog()
      let server = try await group.listen(on: .host("127.0.0.1", port: 0), tls: context) { _ in
        EchoAcceptor(log: log)
      }
      try await body(server.address.port ?? 0, log, group)
    }
  }

  @Test(
    "Plain HTTP on a TLS port gets a plain response",
    arguments: [
      "GET / HTTP/1.1\r\n\r\n", "POST /a HTTP/1.1\r\n\r\n", "DELETE / HTTP/1.0\r\n\r\n",
    ])
  func plainHTTPGetsAPlainResponse(request: String) async throws {
    try await withServer { port, log, _ in
      let peer = try RawPeer(connectedTo: port)
      try peer.send(Array(request.utf8))
      #expect(try peer.receive(Self.answer.count + 1) == Self.answer)
      #expect(await eventuallyHolds { log.current.reasons == [.tls(.plainHTTP)] })
      #expect(log.current.opened == 0)
    }
  }

  @Test(
    "Garbage in the handshake ends the connection",
    arguments: [
      [UInt8](repeating: 0, count: 100), [UInt8](repeating: 255, count: 100),
      Array("SSH-2.0-OpenSSH_9.6\r\n".utf8), [0x80, 0x2E, 1, 0, 2, 0, 0x15, 0, 0, 0, 16],
      [0x17, 3, 3, 0, 5, 1, 2, 3, 4, 5], [0x16, 3, 1, 255, 255, 1],
    ])
  func garbageEndsTheConnection(bytes: [UInt8]) async throws {
    try await withServer { port, log, group in
      let peer = try RawPeer(connectedTo: port)
      try peer.send(bytes)
      peer.shutDownWriting()
      #expect(await eventuallyHolds { log.current.reasons.count == 1 })
      guard case .tls? = log.current.reasons.first else {
        Issue.record("not an end of TLS: \(log.current.reasons)")
        return
      }
      #expect(await eventuallyHolds { await group.openStreams == 0 })
    }
  }

  /// OpenSSL would gather such a hello up to 128 KB.
  @Test("A client hello that does not end is cut off at the limit")
  func endlessHelloIsBounded() async throws {
    try await withServer { port, log, group in
      let peer = try RawPeer(connectedTo: port)
      // The first 60,000 octets of a client hello of 120,000, in records of 1,000.
      try? peer.send([0x16, 3, 1, 0, 4, 1, 1, 0xD4, 0xC0])
      for _ in 0..<60 {
        try? peer.send([0x16, 3, 1, 3, 0xE8] + [UInt8](repeating: 0, count: 1000))
      }
      #expect(await eventuallyHolds { log.current.reasons.count == 1 })
      guard case .tls(.handshake)? = log.current.reasons.first else {
        Issue.record("not a failed handshake: \(log.current.reasons)")
        return
      }
      #expect(await eventuallyHolds { await group.openStreams == 0 })
    }
  }

  /// Cut off after each so many octets of a hello that would be answered.
  @Test(
    "A client that disconnects in the handshake leaves nothing behind",
    arguments: [1, 5, 6, 60, 200])
  func disconnectInTheHandshakeLeavesNothing(count: Int) async throws {
    let hello = try await clientHello()
    try await withServer { port, log, group in
      let peer = try RawPeer(connectedTo: port)
      for octet in hello.prefix(count) { try peer.send([octet]) }
      peer.shutDownWriting()
      #expect(await eventuallyHolds { log.current.reasons == [.tls(.closedInHandshake)] })
      #expect(await eventuallyHolds { await group.openStreams == 0 })
    }
  }

  /// The first bytes that a client of ours sends.
  private func clientHello() async throws -> [UInt8] {
    let session = try #require(TLSClientContext().makeSession(serverName: "localhost"))
    #expect(session.handshake() == .needsMore)
    return [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
      count = session.takeRecords(into: UnsafeMutableRawBufferPointer(buffer))
    }
  }
}

extension EventLoopGroup {
  /// Sockets that are open, listeners not counted.
  fileprivate var openStreams: Int {
    get async {
      var count = 0
      for reactor in reactors { count += await reactor.openCount - 1 }
      return count
    }
  }
}
