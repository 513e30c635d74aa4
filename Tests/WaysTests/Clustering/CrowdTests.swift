import Composition
import DemoUpstream
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
