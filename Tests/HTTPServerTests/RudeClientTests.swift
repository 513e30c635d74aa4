import HTTPServer
import HTTPTypes
import Synchronization
import TestSupport
import Testing
import Transport

/// The cost of slow, greedy and disconnecting clients, and their responses.
struct RudeClientTests {
  private static let collecting = ScriptedHandler(bodyBytesMax: 64 << 20) { request in
    .text("\((try? await request.body.collect(upTo: 64 << 20).count) ?? -1)")
  }

  private static var short: ServerLimits {
    var limits = ServerLimits()
    limits.headDeadline = .milliseconds(600)
    limits.idleDeadline = .milliseconds(600)
    limits.transferGrace = .milliseconds(400)
    limits.transferStallMax = .milliseconds(800)
    limits.transferBytesPerSecondMin = 100_000
    limits.lingerDeadline = .milliseconds(200)
    limits.drainPauseMax = .milliseconds(200)
    return limits
  }

  /// Each piece comes in time; all of them together do not.
  @Test(
    "Input that is too slow in total gets a 408",
    arguments: [
      ("GET / HTTP/1.1\r\nHost: x\r\n", "X-A: b\r\n"),
      ("", "G"),
      ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n", "x"),
      ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"),
    ])
  func slowInputGets408(start: String, piece: String) async throws {
    try await ServerFixture.serve(Self.collecting, limits: Self.short) { server in
      let text = try await server.withPeer { peer in
        peer.send(start)
        let count = peer.drip(piece, everyMilliseconds: 20, countMax: 300)
        #expect(count < 300)
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
      #expect(text.contains("\r\nConnection: close\r\n"))
    }
  }

  @Test(
    "A flood is refused once",
    arguments: [
      ("GET / HTTP/1.1\r\nHost: x\r\n" + String(repeating: "X: y\r\n", count: 200) + "\r\n", 431),
      (
        "GET / HTTP/1.1\r\nHost: x\r\nX: " + String(repeating: "y", count: 20_000) + "\r\n\r\n", 431
      ),
      (
        "GET / HTTP/1.1\r\nHost: x\r\n"
          + String(repeating: "X: " + String(repeating: "y", count: 1000) + "\r\n", count: 50), 431
      ),
      ("GET /" + String(repeating: "a", count: 9000) + " HTTP/1.1\r\n", 414),
      (String(repeating: "G", count: 40) + " / HTTP/1.1\r\nHost: x\r\n\r\n", 501),
      (String(repeating: "\r\n", count: 6) + "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
      (
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
          + "1;" + String(repeating: "a", count: 300) + "\r\nx\r\n", 400
      ),
      (
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
          + String(repeating: "1\r\nx\r\n", count: 6000), 400
      ),
      (
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n00000000000000001\r\nx\r\n",
        400
      ),
      (
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
          + String(repeating: "X: y\r\n", count: 40) + "\r\n", 431
      ),
    ])
  func floodsAreRefusedOnce(request: String, status: Int) async throws {
    try await ServerFixture.serve(Self.collecting) { server in
      let text = try await server.withPeer { peer in
        peer.send(request)
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(text.prefix(40))")
      #expect(text.contains("\r\nConnection: close\r\n"))
      #expect(text.split(separator: "HTTP/1.1 ").count == 1)
    }
  }

  /// The handler writes endlessly. Unread output stays small, and the connection ends.
  @Test("An unread stream takes little memory and is disconnected")
  func unreadStreamIsResetAndSmall() async throws {
    let written = Mutex(0)
    let ended = Gate()
    let handler = ScriptedHandler { _ in
      ServerResponse(
        body: .stream { writer in
          defer { ended.open() }
          while true {
            try await writer.write([UInt8](repeating: 0x61, count: 64 * 1024))
            written.withLock { $0 += 64 * 1024 }
          }
        })
    }
    try await ServerFixture.serve(handler, limits: Self.short) { server in
      let port = server.port
      try await server.group.blockingPool.run { () throws -> Void in
        let peer = try BytePeer(port: port, receiveBufferBytes: 4096)
        peer.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try peer.receiveFirst()
        // Other connections come and go while this one waits.
        while written.withLock({ $0 }) == 0 { _ = try RawClient(port: port) }
        for _ in 0..<3 { _ = try RawClient(port: port).isClosedByPeer() }
      }
      await ended.wait()
      // Kernel buffers and one watermark, whatever the handler would like to write.
      #expect(written.withLock { $0 } < 16 << 20)
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
    }
  }

  /// The response arrives while the client still sends; it must be able to read it.
  @Test(
    "An early response reaches a client that still sends",
    arguments: [404, 413])
  func earlyResponseReachesAClientThatStillSends(status: Int) async throws {
    let handler = ScriptedHandler(bodyBytesMax: 64 << 20) { request in
      .text("no", status: .init(code: status))
    }
    try await ServerFixture.serve(handler, limits: Self.short) { server in
      let text = try await server.withPeer { peer in
        peer.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(32 << 20)\r\n\r\n")
        _ = peer.send([UInt8](repeating: 0x78, count: 200_000))
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(text.prefix(60))")
      #expect(text.contains("\r\nConnection: close\r\n"))
      #expect(text.hasSuffix("\r\n\r\nno"))
    }
  }

  @Test("Chunked content over the limit is refused while it is sent")
  func chunkedContentOverTheLimitIsRefused() async throws {
    let handler = ScriptedHandler(bodyBytesMax: 1000) { request in
      .text("\((try? await request.body.collect(upTo: 1000).count) ?? -1)")
    }
    try await ServerFixture.serve(handler, limits: Self.short) { server in
      for framing in ["Content-Length: 1000000", "Transfer-Encoding: chunked"] {
        let text = try await server.withPeer { peer in
          peer.send("POST / HTTP/1.1\r\nHost: x\r\n\(framing)\r\n\r\n")
          if framing.hasPrefix("T") { peer.send("F4240\r\n") }
          _ = peer.send([UInt8](repeating: 0x78, count: 50_000))
          try peer.receiveToEnd()
          return peer.text
        }
        #expect(text.hasPrefix("HTTP/1.1 413 "), "\(text.prefix(60))")
        #expect(text.contains("\"code\":\"body_too_large\""))
      }
    }
  }

  /// Such a client reads after it has sent everything. A reset in the meantime would lose the response.
  @Test(
    "A client that sends all its content before it reads gets an early response",
    arguments: ["Content-Length: 8388608", "Transfer-Encoding: chunked"])
  func earlyResponseReachesASendingClient(framing: String) async throws {
    let handler = ScriptedHandler(bodyBytesMax: 64 << 20) { _ in .text("no", status: .conflict) }
    var limits = ServerLimits()
    limits.lingerDeadline = .seconds(10)
    try await ServerFixture.serve(handler, limits: limits) { server in
      let (sent, text) = try await server.withPeer { peer in
        peer.send("POST / HTTP/1.1\r\nHost: x\r\n\(framing)\r\n\r\n")
        if framing.hasPrefix("T") { peer.send("800000\r\n") }
        let sent = peer.send([UInt8](repeating: 0x78, count: 8 << 20))
        peer.finishSending()
        try peer.receiveToEnd()
        return (sent, peer.text)
      }
      #expect(sent == 8 << 20)
      #expect(text.hasPrefix("HTTP/1.1 409 "), "\(text.prefix(60))")
      #expect(text.contains("\r\nConnection: close\r\n"))
    }
  }

  /// Requests of a client that reads no responses stop at the socket.
  @Test("Unread responses stop the reading of requests")
  func unreadResponsesStopTheReading() async throws {
    let answered = Count()
    let handler = ScriptedHandler { _ in
      answered.add()
      return ServerResponse(body: .bytes([UInt8](repeating: 0x61, count: 64 * 1024)))
    }
    try await ServerFixture.serve(handler, limits: Self.short) { server in
      let port = server.port
      let sent = try await server.group.blockingPool.run { () throws -> Int in
        let peer = try BytePeer(port: port, receiveBufferBytes: 4096)
        let request = Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        return peer.send((0..<400_000).flatMap { _ in request })
      }
      #expect(sent < 400_000 * 27)
      #expect(answered.value < 1000)
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
    }
  }

  @Test("A half-closed client gets its response")
  func halfClosedClientGetsItsResponse() async throws {
    try await ServerFixture.serve(Self.collecting) { server in
      let text = try await server.withPeer { peer in
        peer.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
        peer.finishSending()
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(text.hasSuffix("\r\n\r\n3"))
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
    }
  }

  /// It would otherwise live on until the second of its heartbeats is refused.
  @Test(
    "A stream of events ends at once when its client closes its side", arguments: [true, false])
  func eventsEndWithTheirClient(isHalfClosed: Bool) async throws {
    let ended = Gate()
    let handler = ScriptedHandler { _ in
      ServerResponse(
        body: .stream { writer in
          writer.streamEvents(stallMax: .seconds(60))
          try await writer.write("data: 1\n\n")
          let (silence, continuation) = AsyncStream<Void>.makeStream()
          for await _ in silence {}
          continuation.finish()
          ended.open()
          await ended.wait()
        })
    }
    try await ServerFixture.serve(handler) { server in
      try await server.withPeer { peer in
        peer.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try peer.receive(upTo: "data: 1\n\n\r\n")
        guard isHalfClosed else { return }
        peer.finishSending()
        try peer.receiveToEnd()
      }
      #expect(await eventuallyHolds { ended.arrivals == 1 })
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
    }
  }

  static let cutShort = [
    "Content-Length: 3\r\n\r\na", "Content-Length: 3\r\n\r\n",
    "Content-Length: 3\r\nExpect: 100-continue\r\n\r\n",
    "Content-Length: 3\r\nContent-Encoding: gzip\r\n\r\n\u{1f}",
    "Transfer-Encoding: chunked\r\n\r\n3\r\na", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc",
    "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
  ]

  /// The handler gets an error for the missing content, and its response reaches the client.
  @Test(
    "A truncated body gets the handler's response",
    arguments: cutShort)
  func truncatedBodyGetsAResponse(request: String) async throws {
    let handler = ScriptedHandler { request in
      do throws(BodyReadError) {
        return .text("\(try await request.body.collect(upTo: 100).count)")
      } catch {
        return .text("\(error)", status: .badRequest)
      }
    }
    try await ServerFixture.serve(handler) { server in
      let text = try await server.withPeer { peer in
        peer.send("POST / HTTP/1.1\r\nHost: x\r\n" + request)
        peer.finishSending()
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.contains("HTTP/1.1 400 Bad Request\r\n"))
      #expect(text.contains("\r\nConnection: close\r\n"))
      #expect(text.hasSuffix("\r\n\r\nincomplete"))
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
    }
  }

  /// The response was ready before the body was cut short.
  @Test(
    "The response to an unread truncated body is sent",
    arguments: cutShort)
  func responseToAnUnreadTruncatedBodyIsSent(request: String) async throws {
    try await ServerFixture.serve(ScriptedHandler { _ in .text("no", status: .notFound) }) {
      server in
      let text = try await server.withPeer { peer in
        peer.send("POST / HTTP/1.1\r\nHost: x\r\n" + request)
        peer.finishSending()
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
      #expect(text.hasSuffix("\r\n\r\nno"))
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
    }
  }

  /// Content after a streamed response is drained until the client ends it; a response made from the
  /// content cannot be complete.
  @Test(
    "A streamed response to a truncated body ends",
    arguments: [(false, "\r\n\r\n2\r\nno\r\n0\r\n\r\n"), (true, "\r\n1\r\na\r\n")])
  func streamedResponseToATruncatedBodyEnds(readsBody: Bool, end: String) async throws {
    let handler = ScriptedHandler { request in
      ServerResponse(
        body: .stream { writer in
          if !readsBody { return try await writer.write("no") }
          for try await chunk in request.body { try await writer.write(chunk) }
        })
    }
    try await ServerFixture.serve(handler) { server in
      let text = try await server.withPeer { peer in
        peer.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na")
        try peer.receive(upTo: end)
        peer.finishSending()
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(text.hasSuffix(end))
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
    }
  }

  /// No client waits for the response, and nothing is left behind.
  @Test("A reset within a body ends its reading")
  func aResetInsideABodyEndsTheReading() async throws {
    let failure = Mutex<BodyReadError?>(nil)
    let reading = Gate()
    let handler = ScriptedHandler { request in
      do throws(BodyReadError) {
        for try await _ in request.body { reading.open() }
      } catch {
        failure.withLock { $0 = error }
      }
      return .text("dropped")
    }
    try await ServerFixture.serve(handler) { server in
      var peer: BytePeer? = try BytePeer(port: server.port)
      peer?.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na")
      peer?.resetAtEnd()
      await reading.wait()
      peer = nil
      #expect(await eventuallyHolds { failure.withLock { $0 } == .disconnected })
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
    }
  }

  @Test("No request after Connection: close is served")
  func nothingAfterCloseIsServed() async throws {
    let served = Count()
    let handler = ScriptedHandler { _ in
      served.add()
      return .text("x")
    }
    try await ServerFixture.serve(handler) { server in
      let text = try await server.withPeer { peer in
        peer.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        peer.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.split(separator: "HTTP/1.1 200 OK").count == 1)
      #expect(served.value == 1)
    }
  }
}
