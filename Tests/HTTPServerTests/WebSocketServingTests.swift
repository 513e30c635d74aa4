import HTTPServer
import HTTPTypes
import Synchronization
import TestSupport
import Testing
import Transport
import WebSocketWire

/// The server's side of WebSockets over real sockets, with clients that send any bytes.
struct WebSocketServingTests {
  @Test("Messages are echoed, and the close handshake ends the connection")
  func messagesAreEchoed() async throws {
    let echo = WebSocketEcho()
    try await ServerFixture.serve(echo.handler) { server in
      try await server.withSocket(headers: [("Sec-WebSocket-Protocol", "other, echo")]) { socket in
        #expect(socket["sec-websocket-protocol"] == "echo")
        #expect(socket["upgrade"] == "websocket")
        #expect(socket["request-id"] != nil)
        try socket.send(RawFrame.text("Grüße"))
        #expect(try socket.frame() == .text("Grüße"))
        let large = [UInt8](repeating: 7, count: 1 << 20)
        try socket.send(RawFrame.binary(large))
        #expect(try socket.frame() == RawWebSocket.Frame(opcode: 2, payload: large))
        try socket.send(RawFrame.ping([1, 2]))
        #expect(try socket.frame() == RawWebSocket.Frame(opcode: 10, payload: [1, 2]))
        try socket.send(RawFrame.close(4001, Array("bye".utf8)))
        #expect(try socket.frame().closeCode == 4001)
        #expect(socket.isClosedByPeer())
      }
      #expect(await eventuallyHolds { echo.ends.withLock { $0.count } == 1 })
      #expect(echo.ends.withLock { $0 } == [WebSocketClose(code: 4001, reason: "bye")])
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
    }
  }

  @Test("Frames that come with the request belong to the WebSocket")
  func earlyFramesCount() async throws {
    let echo = WebSocketEcho()
    try await ServerFixture.serve(echo.handler) { server in
      let early = [RawFrame.text("a", isFinal: false), .more("b", isFinal: true)].bytes
      let frame = try await server.withSocket(early: early) { try $0.frame() }
      #expect(frame == .text("ab"))
    }
  }

  @Test("Frames that come while the handler decides belong to the WebSocket")
  func framesDuringTheDecisionCount() async throws {
    let gate = Gate()
    let handler = ScriptedHandler { _ in
      await gate.wait()
      return .webSocket(subprotocol: nil) { peer in
        if let message = try? await peer.next() { try? await peer.send(message) }
      }
    }
    try await ServerFixture.serve(handler) { server in
      async let echoed = server.withSocket(early: RawFrame.text("early").bytes) { socket in
        let frame = try socket.frame()
        let end = try socket.frame()
        return (frame, end.closeCode)
      }
      #expect(await eventuallyHolds { gate.arrivals == 1 })
      gate.open()
      let (frame, code) = try await echoed
      #expect(frame == .text("early"))
      // The handler has returned.
      #expect(code == 1000)
    }
  }

  @Test("An upgrade follows requests on the same connection")
  func upgradesFollowRequests() async throws {
    let echo = WebSocketEcho()
    try await ServerFixture.serve(echo.handler) { server in
      let text = try await server.withPeer { peer in
        let request =
          "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
          + "GET /socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
          + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \(RawWebSocket.key)\r\n\r\n"
        _ = peer.send(Array(request.utf8) + RawFrame.text("pipelined").bytes)
        try peer.receive(upTo: "pipelined")
        return peer.text
      }
      #expect(text.contains("plain"))
      #expect(text.contains("Sec-WebSocket-Accept: \(RawWebSocket.accept)"))
    }
  }

  static let faultyRequests: [(String, [(String, String)], Int)] = [
    ("GET", [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")], 426),
    ("GET", [], 426),
    (
      "GET",
      [
        ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "8"),
        ("Sec-WebSocket-Key", RawWebSocket.key),
      ], 426
    ),
    (
      "GET",
      [
        ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "short"),
      ], 400
    ),
    (
      "DELETE",
      [
        ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", RawWebSocket.key),
      ], 405
    ),
  ]

  @Test(
    "A faulty handshake gets a problem, and the connection serves on", arguments: faultyRequests)
  func faultyHandshakesGetProblems(
    method: String, headers: [(String, String)], status: Int
  ) async throws {
    try await ServerFixture.serve(WebSocketEcho().handler) { server in
      try await server.withClient { client in
        let response = try client.request(method, "/socket", headers: headers)
        #expect(response.status == status)
        #expect(response["content-type"] == "application/problem+json")
        if status == 426 { #expect(response["upgrade"] == "websocket") }
        if headers.contains(where: { $0.1 == "8" }) {
          #expect(response["sec-websocket-version"] == "13")
          #expect(response.text.contains("\"upgrade_required\""))
        }
        if status == 405 { #expect(response["allow"] == "GET") }
        #expect(try client.request("GET", "/").text == "plain")
      }
    }
  }

  static let faults: [([UInt8], Int)] = [
    (RawFrame.text("a").unmasked.bytes, 1002),
    (RawFrame(opcode: 3).bytes, 1002),
    (RawFrame(opcode: 1, reserved: 4).bytes, 1002),
    (RawFrame.text([0xFF]).bytes, 1007),
    (RawFrame.close(1005).bytes, 1002),
    // 100 MB, announced.
    ([0x82, 0xFF, 0, 0, 0, 0, 5, 0xF5, 0xE1, 0, 1, 2, 3, 4], 1009),
  ]

  @Test(
    "A faulty frame is named in the close frame, also to a client that keeps sending",
    arguments: faults)
  func faultyFramesAreNamed(bytes: [UInt8], code: Int) async throws {
    let echo = WebSocketEcho { $0.lingerBytesMax = 1 << 20 }
    try await ServerFixture.serve(echo.handler) { server in
      try await server.withSocket { socket in
        try socket.send(bytes + [UInt8](repeating: 0x55, count: 500_000))
        #expect(try socket.frame().closeCode == code)
      }
      #expect(await eventuallyHolds { echo.ends.withLock { $0.count } == 1 })
      #expect(echo.ends.withLock { $0.first?.code } == UInt16(code))
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
    }
  }

  @Test("A client that only resets, or only ends its side, leaves nothing behind")
  func disconnectedClientsLeaveNothing() async throws {
    let echo = WebSocketEcho()
    try await ServerFixture.serve(echo.handler) { server in
      for _ in 0..<20 {
        try await server.withSocket { socket in
          try socket.send(RawFrame.text("a", isFinal: false))
        }
      }
      #expect(await eventuallyHolds { echo.ends.withLock { $0.count } == 20 })
      #expect(echo.ends.withLock { ends in ends.allSatisfy { $0.isLost } })
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
      // The two listening sockets of the loop at most.
      #expect(await eventuallyHolds { await server.group.reactors[0].openCount <= 2 })
    }
  }

  @Test("A draining server closes its WebSockets with 1001")
  func drainingClosesWith1001() async throws {
    let echo = WebSocketEcho()
    var drain = HTTPServerConfiguration.Drain()
    drain.deadline = .seconds(10)
    drain.handshakes = .zero
    try await ServerFixture.serve(echo.handler, drain: drain) { server in
      let client = Task {
        try await server.withSocket { socket in
          try socket.send(RawFrame.text("a"))
          // The echo may be missing: the server can drain before it has read the handshake.
          var close = try socket.frame()
          while close.opcode != 8 { close = try socket.frame() }
          try socket.send(RawFrame.close(1001))
          return (close.closeCode, socket.isClosedByPeer())
        }
      }
      #expect(await eventuallyHolds { server.service.connectionCount == 1 })
      await server.service.drain()
      let (code, isClosed) = try await client.value
      #expect(code == 1001)
      #expect(isClosed)
      #expect(server.service.connectionCount == 0)
      // The handler learns of the end in a task of its own.
      #expect(await eventuallyHolds { echo.ends.withLock { $0.map(\.code) } == [1001] })
    }
  }

  @Test("A client that ignores the close frame is reset at the deadline")
  func ignoredCloseFramesEndInAReset() async throws {
    var limits = WebSocketLimits()
    limits.closeTimeout = .milliseconds(100)
    let handler = ScriptedHandler { [limits] _ in
      .webSocket(subprotocol: nil, limits: limits) { $0.close(code: 4403, reason: "no") }
    }
    try await ServerFixture.serve(handler) { server in
      let (code, wasEnded) = try await server.withSocket { socket in
        let code = try socket.frame().closeCode
        return (code, (try? socket.frame()) == nil)
      }
      #expect(code == 4403)
      #expect(wasEnded)
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
    }
  }

  @Test("The task that serves a connection is cancelled when the connection closes")
  func servingTasksAreCancelled() async throws {
    let cancelled = Gate()
    let handler = ScriptedHandler { _ in
      .webSocket(subprotocol: nil) { _ in
        await withTaskCancellationHandler {
          await cancelled.wait()
        } onCancel: {
          cancelled.open()
        }
      }
    }
    try await ServerFixture.serve(handler) { server in
      try await server.withSocket { try $0.send(RawFrame.text("a")) }
      await cancelled.wait()
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
    }
  }

  @Test("A long message is compressed for clients that offer it, and a short one for none")
  func longMessagesAreCompressed() async throws {
    let long = String(repeating: "compressible ", count: 400)
    let handler = ScriptedHandler { _ in
      .webSocket(subprotocol: nil) { peer in
        try? await peer.send(WebSocketMessage(text: "short"))
        try? await peer.send(WebSocketMessage(text: long))
        _ = try? await peer.next()
      }
    }
    try await ServerFixture.serve(handler) { server in
      for offer in ["permessage-deflate", "none"] {
        let (first, second, chosen) = try await server.withSocket(
          headers: [("Sec-WebSocket-Extensions", offer)]
        ) { socket in
          let frames = (try socket.frame(), try socket.frame())
          return (frames.0, frames.1, socket["sec-websocket-extensions"])
        }
        #expect(first == .text("short"))
        if offer == "none" {
          #expect(chosen == nil)
          #expect(second.text == long)
        } else {
          #expect(chosen?.hasPrefix("permessage-deflate; server_no_context_takeover") == true)
          #expect(second.reserved == 4)
          #expect(second.payload.count < 300)
        }
      }
    }
  }
}
