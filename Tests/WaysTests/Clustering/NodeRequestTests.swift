import Foundation
import Gateway
import Model
import TestSupport
import Testing

extension Ways {
  /// Requests that claim to come from another node.
  struct NodeRequestTests {
    /// The fields of a signed request.
    private static func signed(
      _ method: String, _ target: String, content: NodeSignature.Content = .none,
      by signature: NodeSignature = ClusterWorld.signature, nonce: String = "once",
      secondsAgo: Int64 = 0
    ) -> [(String, String)] {
      let now = Timestamp(
        milliseconds: Int64(Date().timeIntervalSince1970 * 1000) - secondsAgo * 1000)
      let field = signature.field(
        NodeSignature.Statement(
          node: "n_9", time: now, nonce: nonce,
          client: NodeSignature.Client(address: "192.0.2.1", isSecure: false), surface: "main",
          content: content),
        for: NodeSignature.Request(method: method, target: target, host: "localhost", id: "r-1"))
      return [("Request-Id", "r-1"), ("Larder-Node", field)]
    }

    @Test(
      "The leader answers a signed request, and refuses one that is forged, old, altered or repeated"
    )
    func leaderChecksSignatures() async throws {
      let world = try await ClusterWorld.start(try await RunningLarder.start())
      let leader = world.leader
      let served = try await leader.request(
        "GET", "/v1/operations", headers: Self.signed("GET", "/v1/operations"))
      #expect(served.status == 200)
      #expect(served["larder-position"] == "\(world.log.position)")
      let other = NodeSignature(secret: Array(repeating: UInt8(9), count: 32))
      let refusals: [([(String, String)], String)] = [
        ([("Larder-Node", "1 a b c")], "signature"),
        (Self.signed("GET", "/v1/operations", by: other), "signature"),
        (Self.signed("GET", "/v1/changes"), "signature"),
        (Self.signed("GET", "/v1/operations", secondsAgo: 40), "expired"),
        (Self.signed("GET", "/v1/operations", secondsAgo: -40), "expired"),
      ]
      for (headers, reason) in refusals {
        let refused = try await leader.request("GET", "/v1/operations", headers: headers)
        #expect(refused.status == 403 && refused.problem == "node_refused", "\(reason)")
        #expect(refused["larder-node-refusal"] == reason)
        #expect(refused["larder-position"] == nil)
      }
      // Once for each reason in a minute.
      let logged = leader.log.lines.filter {
        $0.message.hasPrefix("requests that claim to come from a node of the cluster were refused")
      }
      #expect(logged.count == 2, "\(logged.map(\.text))")
      let body = #"{"platform":"ios"}"#
      let digest = NodeSignature.Content.digest(NodeSignature.digest(of: Array(body.utf8)))
      let write = Self.signed("POST", "/v1/devices", content: digest, nonce: "a")
      #expect(
        try await leader.request("POST", "/v1/devices", headers: write, body: body).status == 201)
      let again = try await leader.request("POST", "/v1/devices", headers: write, body: body)
      #expect(again["larder-node-refusal"] == "replayed")
      for (nonce, content) in [("b", digest), ("c", NodeSignature.Content.none)] {
        let altered = try await leader.request(
          "POST", "/v1/devices",
          headers: Self.signed("POST", "/v1/devices", content: content, nonce: nonce),
          body: #"{"platform":"iot"}"#)
        #expect(altered["larder-node-refusal"] == "content")
      }
      await world.stop()
    }

    @Test("Each node says which one it is to nodes alone, by its own signature")
    func nodesSayWhoTheyAre() async throws {
      let world = try await ClusterWorld.start(try await RunningLarder.start())
      for (larder, id) in [(world.leader, "n_1"), (world.replica, "n_2")] {
        let answer = try await larder.request(
          "GET", NodePing.path, headers: Self.signed("GET", NodePing.path))
        #expect(answer.status == 200, "\(id)")
        let field = try #require(answer["larder-node"])
        let statement = try ClusterWorld.signature.statement(
          in: field,
          of: NodeSignature.Request(
            method: "ANSWER", target: NodePing.path, host: "the cluster", id: "r-1"),
          at: Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)))
        #expect(statement.node == id)
        // Of no use as a signature of a request.
        let replayed = try await larder.request(
          "GET", NodePing.path, headers: [("Request-Id", "r-1"), ("Larder-Node", field)])
        #expect(replayed["larder-node-refusal"] == "signature")
        #expect(try await larder.get(NodePing.path).status == 404)
        let other = NodeSignature(secret: Array(repeating: UInt8(9), count: 32))
        let refused = try await larder.request(
          "GET", NodePing.path, headers: Self.signed("GET", NodePing.path, by: other))
        #expect(refused.status == 403 && refused["larder-node"] == nil)
      }
      await world.stop()
    }

    @Test("A replica passes no forwarded request on, and a service alone ignores the field")
    func forwardedRequestsEnd() async throws {
      let larder = try await RunningLarder.start()
      let fields = Self.signed("GET", "/v1/operations")
      #expect(try await larder.request("GET", "/v1/operations", headers: fields).status == 200)
      let world = try await ClusterWorld.start(larder)
      let refused = try await world.replica.request("GET", "/v1/operations", headers: fields)
      #expect(refused.status == 421 && refused.problem == "not_leader")
      #expect(refused["larder-node-refusal"] == "not-leader")
      #expect(world.log.position == 0)
      // A leader that is none: the replica asks it once, and then serves without one.
      let other = try await world.replica.get("/api/films/f30")
      #expect(other.status == 200)
      try world.noteLeader(atPort: world.replica.port, epoch: 2)
      let away = try await world.replica.get("/api/films/f31")
      #expect(away.status == 503 && away.problem == "leader_unavailable")
      await world.stop()
    }

    @Test("Nodes with different secrets serve without a leader, and the log says why")
    func otherSecretsAreLogged() async throws {
      let world = try await ClusterWorld.start(
        try await RunningLarder.start(),
        replicaSignature: NodeSignature(secret: Array(repeating: UInt8(9), count: 32)))
      let refused = try await world.replica.get("/api/films/f1")
      #expect(refused.status == 503 && refused.problem == "leader_unavailable")
      let lines = world.leader.log.lines.filter {
        $0.message.contains("refuses this node's requests")
      }
      #expect(lines.count == 1)
      await world.stop()
    }
  }
}
