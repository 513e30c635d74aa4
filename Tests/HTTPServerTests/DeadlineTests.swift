import HTTPServer
import TestSupport
import Testing
import Transport

struct DeadlineTests {
  private let handler = ScriptedHandler(bodyBytesMax: 64 << 20) { request in
    .text("\((try? await request.body.collect(upTo: 64 << 20).count) ?? -1)")
  }

  private var short: ServerLimits {
    var limits = ServerLimits()
    limits.headDeadline = .milliseconds(800)
    limits.idleDeadline = .milliseconds(800)
    limits.transferGrace = .milliseconds(800)
    limits.transferStallMax = .milliseconds(800)
    limits.lingerDeadline = .milliseconds(200)
    return limits
  }

  @Test("A head sent byte by byte gets a 408")
  func slowHeadGets408() async throws {
    try await ServerFixture.serve(handler, limits: short) { server in
      let text = try await server.withPeer { peer in
        peer.send("GET / HTTP/1.1\r\nHost: x\r\n")
        // Each read waits for the server: the deadline is absolute, whatever is received.
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
      #expect(text.contains("\r\nConnection: close\r\n"))
    }
  }

  @Test("A connection that sends nothing is closed without a response")
  func silentConnectionsAreClosed() async throws {
    try await ServerFixture.serve(handler, limits: short) { server in
      let texts = try await server.withPeer { peer in
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(texts == "")
      let kept = try await server.withPeer { peer in
        peer.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(kept.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(!kept.contains("408"))
    }
  }

  @Test("A body that stalls gets a 408")
  func stalledBodyGets408() async throws {
    try await ServerFixture.serve(handler, limits: short) { server in
      let text = try await server.withPeer { peer in
        peer.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nsome")
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
    }
  }

  @Test("A client that does not read is disconnected")
  func clientThatDoesNotReadIsReset() async throws {
    let bytes = [UInt8](repeating: 0x61, count: 32 << 20)
    let handler = ScriptedHandler { _ in ServerResponse(body: .bytes(bytes)) }
    try await ServerFixture.serve(handler, limits: short) { server in
      let port = server.port
      try await server.group.blockingPool.run { () throws -> Void in
        let peer = try BytePeer(port: port, receiveBufferBytes: 4096)
        peer.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try peer.receiveFirst()
        // Reading on only after the server has given up.
        _ = try? RawClient(port: port).isClosedByPeer()
        _ = try? RawClient(port: port).isClosedByPeer()
        try peer.receiveToEnd()
        #expect(peer.received.count < 32 << 20)
      }
    }
  }

  @Test("A handler that reads slowly does not time out the client")
  func slowHandlerDoesNotTimeOutTheClient() async throws {
    let gate = Gate()
    let handler = ScriptedHandler(bodyBytesMax: 64 << 20) { request in
      await gate.wait()
      return .text("\((try? await request.body.collect(upTo: 64 << 20).count) ?? -1)")
    }
    try await ServerFixture.serve(handler, limits: short) { server in
      let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(8 << 20)\r\n\r\n"
      let request = Array(head.utf8) + [UInt8](repeating: 0x78, count: 8 << 20)
      let client = Task {
        try await server.withClient { client in
          try client.send(request)
          return try client.response()
        }
      }
      #expect(await eventuallyHolds { gate.arrivals == 1 })
      // Another connection shows that more than the grace has gone by.
      try await server.withPeer { try $0.receiveToEnd() }
      try await server.withPeer { try $0.receiveToEnd() }
      gate.open()
      let outcome = try await client.value.text
      #expect(outcome == "\(8 << 20)")
    }
  }
}
