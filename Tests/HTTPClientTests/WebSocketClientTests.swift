import HTTPTypes
import HTTPWire
import Synchronization
import TestSupport
import Testing
import Transport
import WebSocketWire

@testable import HTTPClient

/// The client's side of WebSockets over real sockets, with a server that sends any bytes.
struct WebSocketClientTests {
  private func request(
    _ server: ScriptedWebSocketServer.Running, subprotocols: [String] = [],
    _ change: (inout WebSocketRequest) -> Void = { _ in }
  ) -> WebSocketRequest {
    var request = WebSocketRequest(url: server.url, subprotocols: subprotocols)
    request.limits.deflate.isOn = false
    change(&request)
    return request
  }

  private func failure(
    _ client: HTTPClient, _ request: WebSocketRequest
  ) async -> HTTPClientError? {
    do throws(HTTPClientError) {
      _ = try await client.openWebSocket(request)
      return nil
    } catch {
      return error
    }
  }

  private func end(_ connection: WebSocketClientConnection) async -> WebSocketClose {
    do throws(WebSocketClose) {
      while true { _ = try await connection.next() }
    } catch {
      return error
    }
  }

  @Test("Messages go both ways, and the close handshake ends the connection")
  func messagesGoBothWays() async throws {
    try await ScriptedWebSocketServer.run { server in
      let connection = try await server.client.openWebSocket(
        request(server, subprotocols: ["a", "b"]) { $0.fields[.authorization] = "Bearer t" })
      #expect(connection.subprotocol == "a")
      let large = WebSocketMessage.binary([UInt8](repeating: 5, count: 1 << 20))
      for message in [WebSocketMessage(text: "Grüße"), large] {
        try await connection.send(message)
        #expect(try await connection.next() == message)
      }
      connection.close(code: 4000, reason: "done")
      connection.close(code: 4001, reason: "again")
      #expect(await end(connection) == WebSocketClose(code: 4000, reason: "done"))
      #expect(await eventuallyHolds { server.closes == [4000] })
      #expect(await eventuallyHolds { server.openCount == 0 })
      let head = server.heads.first ?? ""
      #expect(head.hasPrefix("GET /socket HTTP/1.1\r\nHost: 127.0.0.1:"))
      #expect(head.contains("Authorization: Bearer t\r\n"))
      #expect(head.contains("Sec-WebSocket-Version: 13\r\n"))
      #expect(head.contains("Sec-WebSocket-Protocol: a, b\r\n"))
    }
  }

  @Test("Messages go both ways over TLS")
  func messagesGoOverTLS() async throws {
    var script = ScriptedWebSocketServer.Script()
    script.certificate = try SelfSignedCertificate()
    try await ScriptedWebSocketServer.run(script) { server in
      #expect(server.url.origin.scheme == .https)
      let connection = try await server.client.openWebSocket(request(server))
      for size in [1, 20_000, 1 << 20] {
        let message = WebSocketMessage.binary([UInt8](repeating: 5, count: size))
        try await connection.send(message)
        #expect(try await connection.next() == message)
      }
      connection.close(code: 1000, reason: "")
      #expect(await eventuallyHolds { server.closes == [1000] && server.openCount == 0 })
    }
  }

  @Test("Each handshake has a new key, and each frame a new mask")
  func keysAndMasksDiffer() async throws {
    try await ScriptedWebSocketServer.run { server in
      for _ in 0..<2 {
        let connection = try await server.client.openWebSocket(request(server))
        try await connection.send(WebSocketMessage(text: "same"))
        try await connection.send(WebSocketMessage(text: "same"))
        _ = try await connection.next()
        _ = try await connection.next()
        connection.close(code: 1000, reason: "")
      }
      let keys = server.heads.compactMap { head in
        head.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key") }
      }
      #expect(Set(keys).count == 2)
      #expect(Set(server.masks).count == server.masks.count)
      #expect(server.masks.count >= 4)
    }
  }

  @Test(
    "A refused handshake reports its status", arguments: [200, 301, 302, 401, 403, 404, 429, 503])
  func refusalsReportTheirStatus(status: Int) async throws {
    let reply = "HTTP/1.1 \(status) X\r\nLocation: /other\r\nContent-Length: 2\r\n\r\nno"
    try await ScriptedWebSocketServer.run(.init(reply: { _ in Array(reply.utf8) })) { server in
      let error = await failure(server.client, request(server))
      #expect(error == .upgradeRefused(status: status))
      #expect(error?.wasSent == true)
      #expect(await eventuallyHolds { server.openCount == 0 })
    }
  }

  static let malformed: [(String, HTTPClientError)] = [
    (
      "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: AAAA\r\n\r\n", .upgradeMalformed(.wrongAccept)
    ),
    ("HTTP/1.1 101 X\r\n\r\n", .responseMalformed(.unsolicitedUpgrade)),
    ("nonsense\r\n\r\n", .responseMalformed(.malformedStatusLine)),
  ]

  @Test("A malformed handshake is refused by name", arguments: malformed)
  func malformedHandshakesAreRefused(reply: String, error: HTTPClientError) async throws {
    try await ScriptedWebSocketServer.run(.init(reply: { _ in Array(reply.utf8) })) { server in
      #expect(await failure(server.client, request(server)) == error)
      #expect(await eventuallyHolds { server.openCount == 0 })
    }
  }

  @Test("A server that does not answer the handshake is given up in time")
  func handshakesHaveADeadline() async throws {
    try await ScriptedWebSocketServer.run(.init(reply: { _ in [] })) { server in
      let error = await failure(
        server.client, request(server) { $0.handshakeTimeout = .milliseconds(100) })
      #expect(error == .noResponseInTime)
      #expect(await eventuallyHolds { server.openCount == 0 })
    }
  }

  @Test("A server that is not there is an outage, and nothing was sent")
  func missingServersAreOutages() async throws {
    try await ScriptedWebSocketServer.run { server in
      let error = await failure(
        server.client, WebSocketRequest(url: try HTTPURL("http://127.0.0.1:1/")))
      guard case .connectFailed = error else {
        Issue.record("not refused: \(String(describing: error))")
        return
      }
      #expect(error?.wasSent == false)
    }
  }

  @Test("A cancelled handshake ends")
  func cancelledHandshakesEnd() async throws {
    try await ScriptedWebSocketServer.run(.init(reply: { _ in [] })) { server in
      let opening = Task { await failure(server.client, request(server)) }
      #expect(await eventuallyHolds { server.heads.count == 1 })
      opening.cancel()
      #expect(await opening.value == .cancelled(wasSent: true))
      #expect(await eventuallyHolds { server.openCount == 0 })
    }
  }

  @Test("Fields of the handshake cannot be set by the caller")
  func handshakeFieldsAreRefused() async throws {
    try await ScriptedWebSocketServer.run { server in
      for name in ["Sec-WebSocket-Key", "Connection", "Host"] {
        let field = try #require(HTTPField.Name(name))
        let error = await failure(server.client, request(server) { $0.fields[field] = "x" })
        guard case .invalidRequest = error else {
          Issue.record("\(name) is accepted")
          continue
        }
      }
      #expect(server.heads.isEmpty)
    }
  }

  @Test("Frames that come with the handshake's response are the first messages")
  func earlyFramesCount() async throws {
    let early = [RawFrame.text("first"), .text("second")].map(\.unmasked)
    try await ScriptedWebSocketServer.run(
      .init(reply: { ScriptedWebSocketServer.switching($0) + early.flatMap(\.bytes) })
    ) { server in
      let connection = try await server.client.openWebSocket(request(server))
      #expect(try await connection.next() == WebSocketMessage(text: "first"))
      #expect(try await connection.next() == WebSocketMessage(text: "second"))
    }
  }

  static let faults: [([UInt8], UInt16)] = [
    (RawFrame.text("a").bytes, 1002),
    (RawFrame(opcode: 4, mask: nil).bytes, 1002),
    (RawFrame(opcode: 1, reserved: 1, mask: nil).bytes, 1002),
    (RawFrame.text([0xC0]).unmasked.bytes, 1007),
    ([0x82, 0x7F, 0, 0, 0, 0, 0x7F, 0, 0, 0], 1009),
  ]

  @Test("A faulty frame ends the connection with its code", arguments: faults)
  func faultyFramesEndTheConnection(bytes: [UInt8], code: UInt16) async throws {
    try await ScriptedWebSocketServer.run(
      .init(reply: {
        ScriptedWebSocketServer.switching($0) + RawFrame.text("ok").unmasked.bytes + bytes
      })
    ) { server in
      let connection = try await server.client.openWebSocket(request(server))
      #expect(try await connection.next() == WebSocketMessage(text: "ok"))
      #expect(await end(connection).code == code)
      await #expect(throws: WebSocketClose.self) {
        try await connection.send(WebSocketMessage(text: "late"))
      }
      #expect(await eventuallyHolds { server.closes == [Int(code)] })
      #expect(await eventuallyHolds { server.openCount == 0 })
    }
  }

  @Test("A server's close frame is delivered after the messages before it")
  func closeFramesAreDelivered() async throws {
    let frames = [RawFrame.text("last"), .close(4401, Array("token expired".utf8))]
    try await ScriptedWebSocketServer.run(
      .init(reply: { ScriptedWebSocketServer.switching($0) + frames.flatMap(\.unmasked.bytes) })
    ) { server in
      let connection = try await server.client.openWebSocket(request(server))
      #expect(try await connection.next() == WebSocketMessage(text: "last"))
      #expect(await end(connection) == WebSocketClose(code: 4401, reason: "token expired"))
      #expect(await eventuallyHolds { server.openCount == 0 })
    }
  }

  @Test("A half-open connection is noticed by the missing pong")
  func halfOpenConnectionsAreNoticed() async throws {
    try await ScriptedWebSocketServer.run(.init(isDeaf: true)) { server in
      let connection = try await server.client.openWebSocket(
        request(server) {
          $0.limits.pingInterval = .milliseconds(50)
          $0.limits.pongTimeout = .milliseconds(100)
        })
      #expect(await end(connection) == .lost("the peer did not answer a ping in time"))
      #expect(await eventuallyHolds { server.openCount == 0 })
    }
  }

  @Test("A server that answers pings stays connected")
  func answeredPingsKeepTheConnection() async throws {
    try await ScriptedWebSocketServer.run { server in
      let connection = try await server.client.openWebSocket(
        request(server) {
          $0.limits.pingInterval = .milliseconds(20)
          $0.limits.pongTimeout = .seconds(5)
        })
      #expect(await eventuallyHolds { server.pings >= 5 })
      try await connection.send(WebSocketMessage(text: "still here"))
      #expect(try await connection.next() == WebSocketMessage(text: "still here"))
    }
  }

  @Test("A slow reader stops the socket, and no message is lost")
  func slowReadersStopTheSocket() async throws {
    let frame = RawFrame.binary([UInt8](repeating: 1, count: 10_000)).unmasked.bytes
    let flood = (0..<2000).flatMap { _ in frame } + RawFrame.close(1000).unmasked.bytes
    try await ScriptedWebSocketServer.run(
      .init(reply: {
        ScriptedWebSocketServer.switching($0) + ($0.hasPrefix("GET /flood") ? flood : [])
      })
    ) { server in
      let connection = try await server.client.openWebSocket(
        request(server) {
          $0.url.target = "/flood"
          $0.limits.waitingMessagesMax = 8
        })
      // Time enough for all of it, if it was read.
      let other = try await server.client.openWebSocket(request(server))
      for _ in 0..<300 {
        try await other.send(WebSocketMessage(text: "x"))
        _ = try await other.next()
      }
      #expect(server.unsentBytes > 0)
      var count = 0
      do throws(WebSocketClose) {
        while true {
          _ = try await connection.next()
          count += 1
        }
      } catch {
        #expect(error == WebSocketClose(code: 1000))
      }
      #expect(count == 2000)
    }
  }

  @Test("A cancelled reader ends, and the connection goes on")
  func cancelledReadersEnd() async throws {
    try await ScriptedWebSocketServer.run { server in
      let connection = try await server.client.openWebSocket(request(server))
      let reader = Task { await end(connection) }
      reader.cancel()
      #expect(await reader.value == .cancelled)
      try await connection.send(WebSocketMessage(text: "x"))
      #expect(try await connection.next() == WebSocketMessage(text: "x"))
    }
  }

  @Test("A released connection closes with 1001")
  func releasedConnectionsClose() async throws {
    try await ScriptedWebSocketServer.run { server in
      do {
        let connection = try await server.client.openWebSocket(request(server))
        try await connection.send(WebSocketMessage(text: "x"))
      }
      #expect(await eventuallyHolds { server.closes == [1001] })
      #expect(await eventuallyHolds { server.openCount == 0 })
    }
  }

  @Test("A closed client ends its connections, and refuses others")
  func closedClientsEndTheirConnections() async throws {
    try await ScriptedWebSocketServer.run { server in
      let connection = try await server.client.openWebSocket(request(server))
      await server.client.close()
      #expect(await end(connection).code == 1001)
      #expect(await failure(server.client, request(server)) == .clientClosed)
      #expect(await eventuallyHolds { server.openCount == 0 })
    }
  }

  @Test("The number of connections is limited, and ended ones do not count")
  func connectionsAreLimited() async throws {
    var script = ScriptedWebSocketServer.Script()
    script.settings.webSocketsMax = 2
    try await ScriptedWebSocketServer.run(script) { server in
      let first = try await server.client.openWebSocket(request(server))
      let second = try await server.client.openWebSocket(request(server))
      #expect(await failure(server.client, request(server)) == .queueFull)
      first.close(code: 1000, reason: "")
      #expect(await eventuallyHolds { await failure(server.client, request(server)) == nil })
      second.close(code: 1000, reason: "")
    }
  }
}
