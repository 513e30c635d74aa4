import TestSupport
import Testing
import Transport
import WebSocketWire

@testable import HTTPClient

/// This client at a server of other make (`websockets`).
@Suite(
  .enabled(if: PythonPeer.environment != nil, Comment(rawValue: PythonPeer.whyNot)), .serialized)
struct WebSocketServersTests {
  private func withServer(
    _ body: (HTTPClient, (String) throws -> WebSocketRequest) async throws -> Void
  ) async throws {
    let peer = try await onOwnThread { try PythonPeer(serving: "websocket/server.py") }
    let group = try EventLoopGroup(count: 1)
    var generator = SeededGenerator(seed: 3)
    let seed = Double.random(in: 0...1, using: &generator)
    let client = HTTPClient(group: group, random: { seed })
    do {
      try await body(client) { path in
        WebSocketRequest(url: try HTTPURL("http://127.0.0.1:\(peer.port)\(path)"))
      }
    } catch {
      await group.shutdown()
      throw error
    }
    await client.close()
    await group.shutdown()
  }

  @Test("Messages of all sizes come back, compressed and plain", arguments: ["/echo", "/plain"])
  func messagesComeBack(path: String) async throws {
    try await withServer { client, request in
      var order = try request(path)
      order.subprotocols = ["other", "echo"]
      order.limits.deflate.keepsContext = true
      order.limits.deflate.messageBytesMin = 1
      let connection = try await client.openWebSocket(order)
      #expect(connection.subprotocol == "echo")
      for length in [0, 1, 125, 126, 1024, 65_535, 65_536, 300_000] {
        for message in [
          WebSocketMessage(text: String(repeating: "Grüße ", count: length / 8)),
          .binary((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }),
        ] {
          try await connection.send(message)
          #expect(try await connection.next() == message)
        }
      }
      connection.close(code: 1000, reason: "done")
    }
  }

  @Test("Fragments of a message with pings between them are joined")
  func fragmentsAreJoined() async throws {
    try await withServer { client, request in
      let connection = try await client.openWebSocket(try request("/fragments"))
      let expected = (0..<300).map { "Teil \($0) é🎬;" }.joined()
      #expect(try await connection.next() == WebSocketMessage(text: expected))
    }
  }

  @Test("A close frame's code and reason are reported, and a refusal's status")
  func endsAreReported() async throws {
    try await withServer { client, request in
      let connection = try await client.openWebSocket(try request("/close"))
      await #expect(throws: WebSocketClose(code: 4401, reason: "Token läuft ab")) {
        _ = try await connection.next()
      }
      await #expect(throws: HTTPClientError.upgradeRefused(status: 403)) {
        _ = try await client.openWebSocket(try request("/refuse"))
      }
    }
  }

  @Test("A server's pings are answered")
  func pingsAreAnswered() async throws {
    try await withServer { client, request in
      let connection = try await client.openWebSocket(try request("/count"))
      for count in [3, 6, 9] {
        try await connection.send(WebSocketMessage(text: "?"))
        #expect(try await connection.next() == WebSocketMessage(text: "\(count)"))
      }
    }
  }

  @Test("A flood of messages arrives whole and in order")
  func floodsArriveWhole() async throws {
    try await withServer { client, request in
      let connection = try await client.openWebSocket(try request("/flood"))
      for number in 0..<3000 {
        let message = try await connection.next()
        #expect(String(decoding: message.bytes, as: UTF8.self).hasPrefix("\(number) x"))
      }
      await #expect(throws: WebSocketClose(code: 1000)) { _ = try await connection.next() }
    }
  }
}
