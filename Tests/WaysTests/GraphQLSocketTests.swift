import DemoUpstream
import Foundation
import Logging
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// GraphQL over WebSocket.
  struct GraphQLSocketTests {
    private static let initialise = #"{"type":"connection_init"}"#

    private static func subscribe(
      _ id: String, _ operation: String, _ variables: String = "{}", more: String = ""
    ) -> String {
      #"{"id":"\#(id)","type":"subscribe","payload":{"operationName":"\#(operation)","#
        + #""variables":\#(variables)\#(more)}}"#
    }

    private static func initialise(_ name: String, _ value: String) -> String {
      #"{"type":"connection_init","payload":{"\#(name)":"\#(value)"}}"#
    }

    @Test("Queries, mutations and live queries share one connection")
    func servesOperations() async throws {
      let larder = try await RunningLarder.start()
      let rest = try await larder.get("/api/films/f1")
      let socket = try await SocketClient.open(larder)
      try await socket.send(Self.initialise)
      #expect(try await socket.next() == ["type": "connection_ack"])
      try await socket.send(Self.subscribe("q", "Film", #"{"id":"f1"}"#))
      #expect(
        try await socket.nextText()
          == #"{"id":"q","type":"next","payload":\#(rest.text)}"#)
      #expect(try await socket.next() == ["id": "q", "type": "complete"])
      try await socket.send(
        Self.subscribe("live", "Film", #"{"id":"f1"}"#, more: #","extensions":{"live":true}"#))
      #expect(try await socket.next()["id"] == "live")
      try await socket.send(
        Self.subscribe("m", "UpdateFilm", #"{"id":"f1","patch":{"title":"Renamed"}}"#))
      var seen: [String] = []
      while seen.count < 3 {
        let message = try await socket.next()
        seen.append("\(message["id"]?.string ?? "") \(message["type"]?.string ?? "")")
        if message["type"] == "next" { #expect(message.text.contains("Renamed")) }
      }
      #expect(seen.sorted() == ["live next", "m complete", "m next"])
      // Ended by the client: no more results, and the id can be used again.
      try await socket.send(#"{"id":"live","type":"complete"}"#)
      try await socket.send(Self.subscribe("live", "Film", #"{"id":"f2"}"#))
      #expect(try await socket.next()["payload"]?["data"]?["film"]?["id"] == "f2")
      await larder.stop()
    }

    @Test("A refused operation ends with its errors, and the connection stays")
    func reportsRefusals() async throws {
      let larder = try await RunningLarder.start()
      let socket = try await SocketClient.open(larder)
      try await socket.send(Self.initialise)
      _ = try await socket.next()
      for (operation, variables, code) in [
        ("Nothing", "{}", "document_unknown"), ("Film", "{}", "invalid_variables"),
        ("CreatePerson", #"{"input":{"name":"A"}}"#, "unauthenticated"),
      ] {
        try await socket.send(Self.subscribe("1", operation, variables))
        let message = try await socket.next()
        #expect(message["type"] == "error" && message["id"] == "1", "\(message)")
        #expect(message["payload"]?[0]?["extensions"]?["code"]?.string == code, "\(message)")
      }
      try await socket.send(#"{"id":"1","type":"subscribe","payload":{"query":1}}"#)
      #expect(try await socket.next()["type"] == "error")
      try await socket.send(#"{"type":"ping","payload":{"a":1}}"#)
      #expect(try await socket.next() == ["type": "pong", "payload": ["a": 1]])
      await larder.stop()
    }

    @Test("The causes of operations' failures are logged, as those of other requests")
    func logsFailures() async throws {
      let larder = try await RunningLarder.start()
      try await larder.demo.change { $0.fail = .status(500) }
      let socket = try await SocketClient.open(larder)
      try await socket.send(Self.initialise)
      _ = try await socket.next()
      try await socket.send(Self.subscribe("1", "Film", #"{"id":"f1"}"#))
      let message = try await socket.next()
      #expect(
        message["payload"]?[0]?["extensions"]?["code"] == "upstream_failed", "\(message)")
      let lines = larder.log.lines.filter { $0.message == "request refused" }
      #expect(lines.count == 1, "\(lines)")
      #expect(lines.first?.metadata["code"] == "upstream_failed")
      #expect(lines.first?.metadata["cause"] == "status 500")
      #expect(lines.first?.metadata["request_id"] != nil)
      await larder.stop()
    }

    @Test(
      "A client that breaks the protocol is closed with the protocol's code",
      arguments: [
        ([subscribe("1", "Me")], 4401), ([initialise, initialise], 4429), (["{"], 4400),
        ([initialise("Authorization", #"Bearer a\r\nX-Role: admin"#)], 4400),
        ([initialise("Device-Token", "made-up")], 4403),
      ] as [([String], Int)])
    func closesOnFaults(messages: [String], code: Int) async throws {
      let larder = try await RunningLarder.start()
      let socket = try await SocketClient.open(larder)
      for message in messages { try await socket.send(message) }
      #expect(try await socket.closeCode() == code)
      await larder.stop()
    }

    @Test("A client without the subprotocol is closed with 4406")
    func requiresTheSubprotocol() async throws {
      let larder = try await RunningLarder.start()
      for offered in [nil, "graphql-ws"] {
        let socket = try await SocketClient.open(larder, subprotocol: offered)
        #expect(try await socket.closeCode() == 4406)
      }
      await larder.stop()
    }

    @Test("Each connection has its own caller, by the handshake or by connection_init")
    func separatesCallers() async throws {
      let larder = try await RunningLarder.start()
      let bob = try await larder.get("/api/me", ("Authorization", "Bearer user-bob"))
      let ada = try await larder.get("/api/me", ("Authorization", "Bearer user-ada"))
      for (headers, payload, wanted) in [
        ([], Self.initialise("Authorization", "Bearer user-bob"), bob),
        (
          [],
          #"{"type":"connection_init","payload":{"headers":{"authorization":"Bearer user-bob"}}}"#,
          bob
        ),
        ([("Authorization", "Bearer user-ada")], Self.initialise, ada),
        // The message replaces the handshake's.
        (
          [("Authorization", "Bearer user-ada")],
          Self.initialise("authorization", "Bearer user-bob"), bob
        ),
      ] as [([(String, String)], String, RawResponse)] {
        let socket = try await SocketClient.open(larder, headers: headers)
        try await socket.send(payload)
        #expect(try await socket.next()["type"] == "connection_ack")
        try await socket.send(Self.subscribe("1", "Me"))
        #expect(
          try await socket.nextText() == #"{"id":"1","type":"next","payload":\#(wanted.text)}"#)
      }
      await larder.stop()
    }

    @Test("The connection of a device whose token is replaced is closed with 4403")
    func closesForRevokedDevices() async throws {
      let larder = try await RunningLarder.start()
      let (_, token) = try await DeviceTests.register(larder)
      let socket = try await SocketClient.open(larder)
      try await socket.send(Self.initialise("Device-Token", token))
      #expect(try await socket.next()["type"] == "connection_ack")
      try await socket.send(
        Self.subscribe("1", "Film", #"{"id":"f1"}"#, more: #","extensions":{"live":true}"#))
      #expect(try await socket.next()["type"] == "next")
      let rotated = try await larder.request(
        "POST", "/v1/devices/me/rotate", headers: [("Device-Token", token)])
      #expect(rotated.status == 200)
      #expect(try await socket.closeCode() == 4403)
      let again = try await SocketClient.open(larder)
      try await again.send(Self.initialise("Device-Token", token))
      #expect(try await again.closeCode() == 4403)
      await larder.stop()
    }

    /// CORS does not apply to WebSockets.
    @Test("Pages of other origins cannot connect; own pages, listed ones and apps can")
    func checksOrigins() async throws {
      let larder = try await RunningLarder.start(settings: "cors: {origins: [https://app.test]}")
      // As the test's client names the host.
      let own = "http://localhost"
      for (origin, isAllowed) in [
        ("https://app.test", true), (own, true), ("https://evil.test", false), ("null", false),
        ("https://app.test.evil.test", false), ("http://app.test", false),
      ] {
        if isAllowed {
          let socket = try await SocketClient.open(larder, headers: [("Origin", origin)])
          try await socket.send(Self.initialise)
          #expect(try await socket.next()["type"] == "connection_ack", "\(origin)")
        } else {
          let refused = try await larder.get(
            "/v1/graphql", ("Origin", origin), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
            ("Sec-WebSocket-Key", RawWebSocket.key), ("Sec-WebSocket-Version", "13"))
          #expect(refused.status == 403, "\(origin)")
        }
      }
      await larder.stop()
    }

    @Test("A shutdown closes connections with 1001")
    func shutdownClosesConnections() async throws {
      let larder = try await RunningLarder.start()
      let socket = try await SocketClient.open(larder)
      try await socket.send(Self.initialise)
      _ = try await socket.next()
      try await socket.send(
        Self.subscribe("1", "Film", #"{"id":"f1"}"#, more: #","extensions":{"live":true}"#))
      #expect(try await socket.next()["type"] == "next")
      async let stopped: Void = larder.stop()
      // No `complete`: the query goes on with the client's next connection.
      #expect(try await socket.closeCode() == 1001)
      await stopped
    }
  }
}

/// A client of GraphQL over WebSocket.
// SAFETY: its methods run one after the other, each awaited by the one task that holds it.
final class SocketClient: @unchecked Sendable {
  private let socket: RawWebSocket

  private init(_ socket: RawWebSocket) { self.socket = socket }

  static func open(
    _ larder: RunningLarder, subprotocol: String? = "graphql-transport-ws",
    headers: [(String, String)] = []
  ) async throws -> SocketClient {
    let port = larder.port
    let offer = subprotocol.map { [("Sec-WebSocket-Protocol", $0)] } ?? []
    return try await onOwnThread {
      SocketClient(try RawWebSocket(port: port, "/v1/graphql", headers: headers + offer))
    }
  }

  func send(_ text: String) async throws {
    try await onOwnThread { try self.socket.send(RawFrame.text(text)) }
  }

  func nextText() async throws -> String {
    try await onOwnThread { try self.socket.dataFrame().text }
  }

  func next() async throws -> JSONValue { try JSONValue(parsing: try await nextText()) }

  /// The code of the next close frame; messages before it are skipped.
  func closeCode() async throws -> Int? {
    try await onOwnThread {
      while true {
        let frame = try self.socket.dataFrame()
        guard frame.opcode == 8 else { continue }
        return frame.closeCode
      }
    }
  }
}
