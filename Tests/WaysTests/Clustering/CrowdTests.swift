import Composition
import DemoUpstream
import Foundation
import Gateway
import TestSupport
import Testing

extension Ways {
  /// More streams at a replica than it passes on, and content that only the leader's own limits would refuse.
  struct CrowdTests {
    private static let operations = [
      "films": """
      query Film($id: ID!) @route(path: "/films/{id}") @cache(maxAge: 600, scope: PUBLIC) {
        film(id: $id) { id title year }
      }
      """
    ]
    private static let stream = "/v1/operations/Film/stream?id=f1"

    @Test("Streams above their share are refused, and short requests go on")
    func streamsHaveAShare() async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      let world = try await ClusterWorld.start(larder, streamsMax: 2)
      let port = world.replica.port
      try await Self.fill(world) { first in
        let refused = try await EventClient.open(port: port, Self.stream)
        #expect(refused.status == 503 && refused.fields["retry-after"] == "5")
        let problem = try await world.replica.get(Self.stream)
        #expect(problem.problem == "overloaded", "\(problem.text)")
        // A long poll, and a WebSocket.
        let poll = try await world.replica.get(
          "/v1/operations/Film/stream?id=f2", ("Accept", "text/event-stream"))
        #expect(poll.status == 503)
        await #expect(throws: (any Error).self) { _ = try await SocketClient.open(world.replica) }
        // What needs a connection for a moment only.
        for number in 7...12 {
          #expect(try await world.replica.get("/api/films/f\(number)").status == 200)
        }
        #expect(
          try await world.replica.post("/v1/devices", #"{"platform":"ios"}"#).status == 201)
        #expect(try await first.nextEvent()?.data.contains("f1") == true)
      }
      let lines = world.leader.log.lines.filter { $0.message.contains("streams are refused") }
      #expect(lines.count == 1)
      // The clients have left.
      #expect(
        try await eventuallyHolds {
          try await EventClient.open(port: port, Self.stream).status == 200
        })
      await world.stop()
    }

    /// Opens as many streams as the replica passes on, during the body.
    private static func fill(
      _ world: ClusterWorld, _ body: (EventClient) async throws -> Void
    ) async throws {
      let first = try await EventClient.open(port: world.replica.port, stream)
      let second = try await EventClient.open(port: world.replica.port, stream)
      #expect(first.status == 200 && second.status == 200)
      try await body(first)
      #expect(second.status == 200)
    }

    /// 64 KiB of blanks, as gzip writes them.
    private static let blanks = Array(
      Data(
        base64Encoded:
          "H4sIAAAAAAACA+3BgQAAAACAIJX9KRepCgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
          + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAGqUGSy0AAABAA==") ?? Data())

    /// A gzip member whose content is not compressed (RFC 1951 section 3.2.4).
    private static func member(_ content: [UInt8]) -> [UInt8] {
      var member: [UInt8] = [31, 139, 8, 0, 0, 0, 0, 0, 0, 255]
      func words(_ number: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
      }
      for start in stride(from: 0, to: content.count, by: 65_535) {
        let part = content[start..<min(start + 65_535, content.count)]
        member.append(start + 65_535 >= content.count ? 1 : 0)
        member += words(UInt32(part.count), 2) + words(~UInt32(part.count), 2) + part
      }
      var checksum = UInt32.max
      for byte in content {
        checksum ^= UInt32(byte)
        for _ in 0..<8 { checksum = checksum >> 1 ^ (checksum & 1 == 1 ? 0xEDB8_8320 : 0) }
      }
      return member + words(~checksum, 4) + words(UInt32(content.count), 4)
    }

    @Test("A replica passes on compressed content that is longer than the limit once it is decoded")
    func decodedContent() async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      let world = try await ClusterWorld.start(larder)
      // 200,000 bytes as they are, so that the ratio is small, and a megabyte of blanks after them.
      let text = #"{"platform":"ios"}"# + String(repeating: " ", count: 200_000)
      let body = Self.member(Array(text.utf8)) + Array(repeating: Self.blanks, count: 16).joined()
      #expect(body.count < 1 << 20)
      for node in [world.leader, world.replica] {
        let port = node.port
        let made = try await onOwnThread {
          let client = try RawClient(port: port)
          let head =
            "POST /v1/devices HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Content-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n"
          try client.send(Array(head.utf8) + body)
          return try client.response(to: "POST")
        }
        #expect(made.status == 201, "\(made.text)")
      }
      await world.stop()
    }

    @Test("A replica passes on a head that is as long as a client may send")
    func longHeads() async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      let world = try await ClusterWorld.start(larder)
      // With `Host` and the fields of the content these are 98 of the 100 that a client may send.
      let fields = (0..<95).map { ("X-Field-\($0)", "x") }
      let body = #"{"platform":"ios"}"#
      for node in [world.leader, world.replica] {
        let made = try await node.request("POST", "/v1/devices", headers: fields, body: body)
        #expect(made.status == 201, "\(made.text)")
      }
      let more = fields + (95..<105).map { ("X-Field-\($0)", "x") }
      for node in [world.leader, world.replica] {
        let refused = try await node.request("POST", "/v1/devices", headers: more, body: body)
        #expect(refused.status == 431)
      }
      await world.stop()
    }
  }
}
