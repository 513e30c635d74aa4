import Composition
import DemoUpstream
import Gateway
import TestSupport
import Testing

extension Ways {
  /// What a node does not show readers who have seen more.
  struct NodeReadsTests {
    private static let operations = [
      "films": """
      query Film($id: ID!) @route(path: "/films/{id}") @cache(maxAge: 600, scope: PUBLIC) {
        film(id: $id) { id title year }
      }
      """
    ]

    /// A cluster whose nodes have one film.
    private static func start() async throws -> ClusterWorld {
      let larder = try await RunningLarder.start(operations: operations)
      #expect(try await larder.get("/api/films/f1").status == 200)
      return try await ClusterWorld.start(larder)
    }

    @Test("A leader that may lead no more refuses cursors that have seen what it does not have")
    func formerLeader() async throws {
      let world = try await Self.start()
      let targets = ["/api/films/f1", "/v1/entities/Film/f1"]
      // A cursor of a segment that the leader does not have, as that of the next leader is.
      let seen = try await world.replica.get("/v1/entities/Film/f1")
      let unknown = ("Sync-Cursor", try #require(seen["sync-cursor"]))
      let own = try await world.leader.get("/v1/entities/Film/f1")
      let known = ("Sync-Cursor", try #require(own["sync-cursor"]))
      // As long as it leads, such a cursor can only be of commits that were lost.
      for target in targets {
        #expect(try await world.leader.get(target, unknown).status == 200)
      }
      #expect(try await world.leader.get("/v1/changes?since=\(unknown.1)").status == 410)
      world.log.isCutOff = true
      for target in targets {
        let refused = try await world.leader.get(target, unknown)
        #expect(refused.status == 503 && refused.problem == "node_behind", "\(target)")
        #expect(refused["retry-after"] == "1")
        #expect(try await world.leader.get(target, known).status == 200)
        #expect(try await world.leader.get(target).status == 200)
      }
      let changes = try await world.leader.get("/v1/changes?since=\(unknown.1)")
      #expect(changes.problem == "node_behind")
      #expect(try await world.leader.get("/v1/changes?since=\(known.1)").status == 200)
      // Also for what another node passes on: this one has seen the leader's commit alone.
      let passed = try await world.replica.get("/v1/entities/Film/f1", known)
      #expect(passed.status == 200)
      await world.stop()
    }

    @Test("A leader that may lead no more says so to devices")
    func formerLeaderIsCutOff() async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      let own = ("Device-Token", try await DeviceTests.register(larder).token)
      #expect(try await larder.get("/api/films/f1").status == 200)
      let world = try await ClusterWorld.start(larder)
      for isCutOff in [false, true, false] {
        world.log.isCutOff = isCutOff
        for target in ["/api/films/f1", "/v1/entities/Film/f1"] {
          let answer = try await world.leader.get(target, own)
          #expect(answer.status == 200)
          #expect(
            (answer.cacheStatus?.hasSuffix("; detail=cut-off") == true) == isCutOff, "\(target)")
          let open = try await world.leader.get(target)
          #expect(open["cache-status"]?.contains("cut-off") != true)
        }
      }
      await world.stop()
    }

    @Test("Only a node that has all device tokens says that one is unknown")
    func unknownTokens() async throws {
      let world = try await Self.start()
      // Registered after the replica got its copy.
      let new = ("Device-Token", try await DeviceTests.register(world.leader).token)
      let made = ("Device-Token", String(repeating: "A", count: 43))
      let malformed = ("Device-Token", "no token")
      for target in ["/v1/devices/me", "/v1/entities/Film/f1", "/api/films/f1", "/v1/mutations"] {
        #expect(try await world.replica.get(target, new).status == 200, "\(target)")
        #expect(try await world.replica.get(target, malformed).status == 401, "\(target)")
        let refused = try await world.replica.get(target, made)
        #expect(refused.status == 401, "\(target)")
        #expect(try await world.leader.get(target, made).status == 401, "\(target)")
      }
      // Without a leader, or cut off from PostgreSQL, it can be newer than this node.
      try world.noteLeader(epoch: 2, isAway: true)
      try await Self.refuses(world.replica, new, "leader_unavailable")
      world.link.note(leader: nil)
      try await Self.refuses(world.replica, new, "leader_unavailable")
      world.link.note(isCutOff: true)
      try await Self.refuses(world.replica, new, "node_behind")
      try world.noteLeader(epoch: 3)
      try await Self.refuses(world.replica, made, "node_behind")
      world.log.isCutOff = true
      try await Self.refuses(world.leader, made, "node_behind")
      #expect(try await world.leader.get("/v1/entities/Film/f1", malformed).status == 401)
      await world.stop()
    }

    private static func refuses(
      _ node: RunningLarder, _ token: (String, String), _ problem: String
    ) async throws {
      for target in ["/v1/entities/Film/f1", "/api/films/f1"] {
        let answer = try await node.get(target, token)
        #expect(answer.status == 503 && answer.problem == problem, "\(target): \(answer.text)")
        #expect(answer["retry-after"] == "1")
      }
    }
  }
}
