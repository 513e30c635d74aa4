import Endpoints
import Gateway
import HTTPServer
import HTTPWire
import TestSupport
import Testing

extension Ways {
  /// Every route of the table at a replica, with a leader and without one.
  struct ClusterMatrixTests {
    private static let secrets = MatrixSecrets(
      word: "replica", listID: "l1", revision: "none", tags: [], listTag: "none", cursor: "none",
      pageToken: nil)

    /// Whether the request decides that the leader must answer, although the route's place does not.
    private static func isDecidedByRequest(_ route: String, _ ask: MatrixAsk) -> Bool {
      route.contains("/v1/operations/") || route.contains("/v1/graphql")
        || route.contains(" /api/") || ask.target.contains("ticket=")
        || route.contains("/v1/changes") && ask.target.contains("filter")
        || ask.headers.contains { $0.0 == "Console-CSRF-Token" || $0.0 == "Sync-Cursor" }
    }

    /// The places of the routes. Those of operations, which the table does not list by itself, are decided
    /// by requests.
    private static let places: [String: RoutePlace] = Dictionary(
      LarderRoutes.lines(for: [], hasPages: true, hasMetrics: true).map {
        ("\($0.method.name) \($0.pattern)", $0.place)
      }, uniquingKeysWith: { first, _ in first })

    private static func outcome(
      of ask: MatrixAsk, at larder: RunningLarder
    ) async throws -> (status: Int, code: String?, hasRetryAfter: Bool) {
      if ask.isStream {
        let events = try await EventClient.open(
          port: larder.port, ask.target, headers: ask.headers, body: ask.body)
        return (events.status, nil, events.fields["retry-after"] != nil)
      }
      let answer = try await larder.request(
        ask.method, ask.target, headers: ask.headers, body: ask.body)
      return (answer.status, answer.problem, answer["retry-after"] != nil)
    }

    @Test("A replica calls no upstream and writes nothing, and the leader answers what is its own")
    func everyRouteHasItsPlace() async throws {
      let world = try await ClusterWorld.start(try await MatrixWorld.start().larder)
      var (forwarded, local) = (0, 0)
      for route in world.replica.routes {
        for ask in try #require(MatrixRequests.all(of: route, Self.secrets), "\(route)") {
          let before = world.log.position
          let (status, code, _) = try await Self.outcome(of: ask, at: world.replica)
          let isForwarded = world.log.position > before
          #expect(code != "storage_unavailable" && status != 500, "\(ask): \(status)")
          #expect(code != "leader_unavailable" && status != 421, "\(ask): \(status)")
          if Self.places[route] == .leader || Self.places[route] == .leaderIfReachable {
            #expect(isForwarded, "\(ask): \(status) \(code ?? "")")
          } else if !Self.isDecidedByRequest(route, ask) {
            #expect(!isForwarded, "\(ask): \(status) \(code ?? "")")
          }
          if isForwarded { forwarded += 1 } else { local += 1 }
          if ask.isSafe, !ask.isStream {
            let direct = try await Self.outcome(of: ask, at: world.leader)
            #expect(direct.status == status && direct.code == code, "\(ask): \(status)")
          }
        }
      }
      #expect(forwarded > 100 && local > 40, "\(forwarded) forwarded, \(local) not")
      #expect(world.replicaCalls == 0)
      await world.stop()
    }

    @Test("Without a leader, a replica answers what it has, and 503 with Retry-After for the rest")
    func answersWithoutALeader() async throws {
      let world = try await ClusterWorld.start(try await MatrixWorld.start().larder)
      try world.noteLeader(epoch: 2, isAway: true)
      let before = world.log.position
      for route in world.replica.routes {
        for ask in try #require(MatrixRequests.all(of: route, Self.secrets), "\(route)") {
          let (status, code, hasRetryAfter) = try await Self.outcome(of: ask, at: world.replica)
          #expect(code != "storage_unavailable" && status != 500, "\(ask): \(status)")
          if Self.places[route] == .leader {
            #expect(status == 503 && hasRetryAfter, "\(ask): \(status)")
            #expect(ask.isStream || code == "leader_unavailable" || code == nil, "\(ask)")
          } else if status == 503 {
            #expect(hasRetryAfter, "\(ask)")
            #expect(ask.isStream || code == "leader_unavailable" || code == nil, "\(ask)")
          }
        }
      }
      #expect(world.log.position == before)
      #expect(world.replicaCalls == 0)
      await world.stop()
    }

    @Test("Without a leader, operators read a replica's state, but for what only the leader has")
    func operatorsReadWithoutALeader() async throws {
      let world = try await ClusterWorld.start(try await MatrixWorld.start().larder)
      let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")
      let routes = world.replica.routes.filter { Self.places[$0] == .leaderIfReachable }
      #expect(routes.count > 10)
      for isAway in [true, false] {
        // Away: known, and no process listens there. Otherwise there is none.
        if isAway {
          try world.noteLeader(epoch: 2, isAway: true)
        } else {
          world.link.note(leader: nil)
        }
        for route in routes {
          for ask in try #require(MatrixRequests.all(of: route, Self.secrets), "\(route)") {
            let own = MatrixAsk(
              ask.method, ask.target, headers: ask.headers + [admin], body: ask.body,
              isStream: ask.isStream)
            let (status, code, hasRetryAfter) = try await Self.outcome(of: own, at: world.replica)
            #expect(status != 500 && code != "storage_unavailable", "\(ask): \(status)")
            #expect(status != 401 && status != 403, "\(ask): \(status)")
            #expect(status != 503 || hasRetryAfter, "\(ask): \(status)")
            let none = try await Self.outcome(of: ask, at: world.replica)
            #expect(none.status == 401, "\(ask): \(none.status)")
          }
        }
        for name in ["cluster", "logs", "log-level", "operations", "overview", "settings"] {
          let shown = try await world.replica.get("/v1/admin/\(name)", admin)
          #expect(shown.status == 200, "\(name): \(shown.status)")
          // This node does not know the session: whether it has ended is the leader's to say.
          let cookie = try await world.replica.get(
            "/v1/admin/\(name)", ("Cookie", "larder-console=session"))
          #expect(cookie.status == 503 && cookie.problem == "leader_unavailable", "\(name)")
        }
        for name in ["session", "subscriptions", "upstreams"] {
          let shown = try await world.replica.get("/v1/admin/\(name)", admin)
          #expect(shown.status == 503 && shown.problem == "leader_unavailable", "\(name)")
        }
      }
      #expect(world.replicaCalls == 0)
      await world.stop()
    }
  }
}
