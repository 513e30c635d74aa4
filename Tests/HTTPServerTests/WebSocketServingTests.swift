import HTTPServer
import HTTPTypes
import Synchronization
import TestSupport
import Testing
import Transport
import WebSocketWire

/// The server's side of WebSockets over real sockets, with clients that send any bytes.
struct WebSocketServingTests {
  /// Echoes every message, and records how each connection ended.
  private final class Echo: Sendable {
    let ends = Mutex<[WebSocketClose]>([])
    let limits: WebSocketLimits

    init(_ change: (inout WebSocketLimits) -> Void = { _ in }) {
      var limits = WebSocketLimits()
      change(&limits)
      self.limits = limits
    }

    var handler: ScriptedHandler {
      ScriptedHandler { request in
        guard request.path == "/socket" else { return .text("plain") }
        let subprotocol = try? request.webSocketHandshake.firstSubprotocol(of: ["echo"])
        return .webSocket(subprotocol: subprotocol, limits: self.limits) { await self.serve($0) }
      }
    }

    private func serve(_ peer: WebSocketPeer) async {
      do throws(WebSocketClose) {
        while true { try await peer.send(try await peer.next()) }
      } catch {
        ends.withLock { $0.append(error) }
      }
    }
  }

  private func withSocket<Value: Sendable>(
    _ server: ServerFixture, headers: [(String, String)] = [], early: [UInt8] = [],
    _ body: @escaping @Sendable (RawWebSocket) throws -> Value
  ) async throws -> Value {
    let port = server.port
    return try await onOwnThread {
      try body(RawWebSocket(port: port, "/socket", headers: headers, early: early))
    }
  }

  @Test("Messages are echoed, and the close handshake ends the connection")
  func messagesAreEchoed() async throws {
    let echo = Echo()
    try await ServerFixture.serve(echo.handler) { server in
      try await withSocket(server, headers: [("Sec-WebSocket-Protocol", "other, echo")]) { socket in
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
      #expect(await server.eventually { echo.ends.withLock { $0.count } == 1 })
      #expect(echo.ends.withLock { $0 } == [WebSocketClose(code: 4001, reason: "bye")])
      #expect(await server.eventually { server.service.connectionCount == 0 })
    }
  }

  @Test("Frames that come with the request belong to the WebSocket")
  func earlyFramesCount() async throws {
    let echo = Echo()
    try await ServerFixture.serve(echo.handler) { server in
      let early = [RawFrame.text("a", isFinal: false), .more("b", isFinal: true)].bytes
      let frame = try await withSocket(server, early: early) { try $0.frame() }
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
      async let echoed = withSocket(server, early: RawFrame.text("early").bytes) { socket in
        let frame = try socket.frame()
        let end = try socket.frame()
        return (frame, end.closeCode)
      }
      #expect(await server.eventually { gate.arrivals == 1 })
      gate.open()
      let (frame, code) = try await echoed
      #expect(frame == .text("early"))
      // The handler has returned.
      #expect(code == 1000)
    }
  }

  @Test("An upgrade follows requests on the same connection")
  func upgradesFollowRequests() async throws {
    let echo = Echo()
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
    try await ServerFixture.serve(Echo().handler) { server in
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
    let echo = Echo { $0.lingerBytesMax = 1 << 20 }
    try await ServerFixture.serve(echo.handler) { server in
      try await withSocket(server) { socket in
        try socket.send(bytes + [UInt8](repeating: 0x55, count: 500_000))
        #expect(try socket.frame().closeCode == code)
      }
      #expect(await server.eventually { echo.ends.withLock { $0.count } == 1 })
      #expect(echo.ends.withLock { $0.first?.code } == UInt16(code))
      #expect(await server.eventually { server.service.connectionCount == 0 })
    }
  }

  @Test("A client that only resets, or only ends its side, leaves nothing behind")
  func disconnectedClientsLeaveNothing() async throws {
    let echo = Echo()
    try await ServerFixture.serve(echo.handler) { server in
      for _ in 0..<20 {
        try await withSocket(server) { socket in
          try socket.send(RawFrame.text("a", isFinal: false))
        }
      }
      #expect(await server.eventually { echo.ends.withLock { $0.count } == 20 })
      #expect(echo.ends.withLock { ends in ends.allSatisfy { $0.isLost } })
      #expect(await server.eventually { server.service.connectionCount == 0 })
      // The two listening sockets of the loop at most.
      #expect(await server.eventually { await server.group.reactors[0].openCount <= 2 })
    }
  }

  @Test("A silent client is pinged, and its connection ends without an answer")
  func silentClientsAreLost() async throws {
    let echo = Echo {
      $0.pingInterval = .milliseconds(50)
      $0.pongTimeout = .milliseconds(150)
    }
    try await ServerFixture.serve(echo.handler) { server in
      try await withSocket(server) { socket in
        // Answered, it lives on.
        for _ in 0..<3 {
          #expect(try socket.frame().opcode == 9)
          try socket.send(RawFrame.pong())
        }
        #expect(try socket.frame().opcode == 9)
        #expect(throws: RawClient.Problem.self) { while true { _ = try socket.frame() } }
      }
      #expect(await server.eventually { echo.ends.withLock { $0.count } == 1 })
      #expect(
        echo.ends.withLock { $0.first } == .lost("the peer did not answer a ping in time"))
    }
  }

  @Test("A slow reader makes the client wait, and loses no message")
  func slowReadersMakeTheClientWait() async throws {
    let gate = Gate()
    let received = Count()
    var limits = WebSocketLimits()
    limits.waitingMessagesMax = 4
    limits.pingInterval = .milliseconds(20)
    limits.pongTimeout = .milliseconds(20)
    let handler = ScriptedHandler { [limits] _ in
      .webSocket(subprotocol: nil, limits: limits) { peer in
        await gate.wait()
        while (try? await peer.next()) != nil { received.add() }
      }
    }
    try await ServerFixture.serve(handler) { server in
      let frame = RawFrame.binary([UInt8](repeating: 1, count: 30_000)).bytes
      async let sent: Void = withSocket(server) { socket in
        for _ in 0..<600 { try socket.send(frame) }
        try socket.send(RawFrame.close(1000))
        while try socket.frame().opcode != 8 {}
      }
      #expect(await server.eventually { gate.arrivals == 1 })
      #expect(received.value == 0)
      gate.open()
      try await sent
      #expect(await server.eventually { received.value == 600 })
    }
  }

  @Test("A sender waits for a client that does not read, which is then cut off")
  func clientsThatDoNotReadAreCutOff() async throws {
    let sent = Count()
    let ends = Mutex<[WebSocketClose]>([])
    var limits = WebSocketLimits()
    limits.sendStallMax = .milliseconds(300)
    let handler = ScriptedHandler { [limits] _ in
      .webSocket(subprotocol: nil, limits: limits) { peer in
        do throws(WebSocketClose) {
          while true {
            try await peer.send(.binary([UInt8](repeating: 1, count: 100_000)))
            sent.add()
          }
        } catch {
          ends.withLock { $0.append(error) }
        }
      }
    }
    try await ServerFixture.serve(handler) { server in
      let done = Gate()
      async let silent: Void = withSilentSocket(server, until: done)
      #expect(await server.eventually { ends.withLock { $0.count } == 1 })
      #expect(ends.withLock { $0.first?.isLost } == true)
      // What the kernels hold, and a little more: not what an endless sender would have queued.
      #expect(sent.value * 100_000 < 64 << 20)
      done.open()
      try await silent
      #expect(await server.eventually { server.service.connectionCount == 0 })
    }
  }

  private func withSilentSocket(_ server: ServerFixture, until done: Gate) async throws {
    let port = server.port
    let socket = try await onOwnThread { Held(try RawWebSocket(port: port, "/socket")) }
    await done.wait()
    _ = socket
  }

  /// Keeps a socket open while a test waits.
  // SAFETY: nothing calls it after it was made.
  private final class Held: @unchecked Sendable {
    let socket: RawWebSocket
    init(_ socket: RawWebSocket) { self.socket = socket }
  }

  @Test("A flood of pings to a client that does not read costs no memory")
  func pingFloodsAreBounded() async throws {
    let echo = Echo {
      $0.sendStallMax = .milliseconds(500)
      $0.outgoingBytesMax = 16 << 10
    }
    try await ServerFixture.serve(echo.handler) { server in
      let ping = RawFrame.ping([UInt8](repeating: 9, count: 125)).bytes
      let flood = (0..<100).flatMap { _ in ping }
      _ = try await server.withPeer { peer in
        peer.send(
          "GET /socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \(RawWebSocket.key)\r\n\r\n")
        var sent = 0
        while sent < 64 << 20 {
          let count = peer.send(flood)
          sent += count
          if count < flood.count { break }
        }
        return sent
      }
      #expect(await server.eventually { echo.ends.withLock { $0.count } == 1 })
      #expect(await server.eventually { server.service.connectionCount == 0 })
    }
  }

  @Test("A draining server closes its WebSockets with 1001")
  func drainingClosesWith1001() async throws {
    let echo = Echo()
    var drain = HTTPServerConfiguration.Drain()
    drain.deadline = .seconds(10)
    drain.handshakes = .zero
    try await ServerFixture.serve(echo.handler, drain: drain) { server in
      let client = Task {
        try await withSocket(server) { socket in
          try socket.send(RawFrame.text("a"))
          // The echo may be missing: the server can drain before it has read the handshake.
          var close = try socket.frame()
          while close.opcode != 8 { close = try socket.frame() }
          try socket.send(RawFrame.close(1001))
          return (close.closeCode, socket.isClosedByPeer())
        }
      }
      #expect(await server.eventually { server.service.connectionCount == 1 })
      await server.service.drain()
      let (code, isClosed) = try await client.value
      #expect(code == 1001)
      #expect(isClosed)
      #expect(server.service.connectionCount == 0)
      // The handler learns of the end in a task of its own.
      #expect(await server.eventually { echo.ends.withLock { $0.map(\.code) } == [1001] })
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
      let (code, wasEnded) = try await withSocket(server) { socket in
        let code = try socket.frame().closeCode
        return (code, (try? socket.frame()) == nil)
      }
      #expect(code == 4403)
      #expect(wasEnded)
      #expect(await server.eventually { server.service.connectionCount == 0 })
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
      try await withSocket(server) { try $0.send(RawFrame.text("a")) }
      await cancelled.wait()
      #expect(await server.eventually { server.service.connectionCount == 0 })
    }
  }

  @Test("A frame encoded once reaches many clients, and a compressed message is compressed")
  func sharedFramesAndCompression() async throws {
    let shared = WebSocketSharedFrame(WebSocketMessage(text: "to all"))
    let long = String(repeating: "compressible ", count: 400)
    let handler = ScriptedHandler { _ in
      .webSocket(subprotocol: nil) { peer in
        try? await peer.send(shared)
        try? await peer.send(WebSocketMessage(text: long))
        _ = try? await peer.next()
      }
    }
    try await ServerFixture.serve(handler) { server in
      for offer in ["permessage-deflate", "none"] {
        let (first, second, chosen) = try await withSocket(
          server, headers: [("Sec-WebSocket-Extensions", offer)]
        ) { socket in
          let frames = (try socket.frame(), try socket.frame())
          return (frames.0, frames.1, socket["sec-websocket-extensions"])
        }
        #expect(first == .text("to all"))
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

  @Test("A fast sender on the loop does not block other connections")
  func fastSendersShareTheLoop() async throws {
    let handler = ScriptedHandler { request in
      guard request.path == "/socket" else { return .text("plain") }
      return .webSocket(subprotocol: nil) { peer in
        while (try? await peer.send(.binary([UInt8](repeating: 1, count: 10)))) != nil {}
      }
    }
    try await ServerFixture.serve(handler) { server in
      let isOver = Mutex(false)
      async let reading: Void = withSocket(server) { socket in
        while !isOver.withLock({ $0 }) { _ = try socket.frame() }
      }
      for _ in 0..<20 {
        let response = try await server.withClient { try $0.request("GET", "/") }
        #expect(response.text == "plain")
      }
      isOver.withLock { $0 = true }
      try await reading
    }
  }
}
