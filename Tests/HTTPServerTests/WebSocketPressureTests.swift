import HTTPServer
import Synchronization
import TestSupport
import Testing
import WebSocketWire

/// WebSockets whose other side is silent, slow or too fast.
struct WebSocketPressureTests {
  @Test("A silent client is pinged, and its connection ends without an answer")
  func silentClientsAreLost() async throws {
    let echo = WebSocketEcho {
      $0.pingInterval = .milliseconds(50)
      $0.pongTimeout = .milliseconds(150)
    }
    try await ServerFixture.serve(echo.handler) { server in
      try await server.withSocket { socket in
        // Answered, it lives on.
        for _ in 0..<3 {
          #expect(try socket.frame().opcode == 9)
          try socket.send(RawFrame.pong())
        }
        #expect(try socket.frame().opcode == 9)
        #expect(throws: RawClient.Problem.self) { while true { _ = try socket.frame() } }
      }
      #expect(await eventuallyHolds { echo.ends.withLock { $0.count } == 1 })
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
      async let sent: Void = server.withSocket { socket in
        for _ in 0..<600 { try socket.send(frame) }
        try socket.send(RawFrame.close(1000))
        while try socket.frame().opcode != 8 {}
      }
      #expect(await eventuallyHolds { gate.arrivals == 1 })
      #expect(received.value == 0)
      gate.open()
      try await sent
      #expect(await eventuallyHolds { received.value == 600 })
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
      #expect(await eventuallyHolds { ends.withLock { $0.count } == 1 })
      #expect(ends.withLock { $0.first?.isLost } == true)
      // What the kernels hold, and a little more: not what an endless sender would have queued.
      #expect(sent.value * 100_000 < 64 << 20)
      done.open()
      try await silent
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
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
    let echo = WebSocketEcho {
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
      #expect(await eventuallyHolds { echo.ends.withLock { $0.count } == 1 })
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
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
      async let reading: Void = server.withSocket { socket in
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
