import HTTPServer
import HTTPWire
import Model
import Testing

@testable import Endpoints

/// Which node answers each route, and which writes every node must have applied.
struct RoutePlaceTests {
  private static let lines = LarderRoutes.lines(for: [], hasPages: true, hasMetrics: true)

  private static func names(_ isWanted: (RouteLine) -> Bool) -> Set<String> {
    Set(lines.filter(isWanted).map { "\($0.method.name) \($0.pattern)" })
  }

  /// A line in this list is served by replicas from their own stores: it must write nothing there.
  @Test("By another method than GET, replicas answer only these routes")
  func replicasReadByOtherMethods() {
    #expect(
      Self.names { $0.method != .get && $0.place == .anyNode } == [
        "POST /v1/operations/{name}", "POST /v1/operations/{name}/diff", "POST /v1/graphql",
        "POST /v1/mutations",
        "POST /v1/entities/{type}/diff", "POST /v1/entities/{type}/{id}/{relationship}/diff",
      ])
  }

  @Test("By GET, the leader alone answers what only it knows, and the streams of operations")
  func leaderReads() {
    #expect(
      Self.names { $0.method == .get && $0.place == .leader } == [
        "GET /v1/operations/{name}/stream", "GET /v1/admin/session", "GET /v1/admin/subscriptions",
        "GET /v1/admin/upstreams",
      ])
  }

  @Test("What else operators read is the leader's, and any node's without one")
  func operatorsReadWithoutALeader() {
    for line in Self.lines where "\(line.pattern)".hasPrefix(OperatorAccess.prefix) {
      #expect(line.place != .anyNode, "\(line.method.name) \(line.pattern)")
    }
    for line in Self.lines where line.place == .leaderIfReachable {
      #expect(
        line.method == .get && line.effect == .reads && line.operators == .required,
        "\(line.method.name) \(line.pattern)")
    }
    let known = Self.names { $0.place == .leaderIfReachable }
    #expect(known.isSuperset(of: ["GET /v1/admin/cluster", "GET /v1/admin/overview"]))
  }

  /// Submissions go to the inbox that all nodes share, and not to the node's own store.
  @Test("No route that writes is answered by a replica, but for those that the request decides")
  func leaderWrites() {
    for line in Self.lines
    where line.effect == .writes && "\(line.pattern)" != "/v1/mutations" {
      #expect(line.place == .leader, "\(line.method.name) \(line.pattern)")
    }
  }

  @Test(
    "A new route belongs to the leader unless it is a GET",
    arguments: [
      (.get, "/v1/new", .anyNode), (.get, "/v1/admin/new", .leaderIfReachable),
      (.post, "/v1/new", .leader), (.post, "/v1/admin/new", .leader),
      (.put, "/v1/new", .leader), (.patch, "/v1/new", .leader), (.delete, "/v1/new", .leader),
    ] as [(RequestMethod, RoutePattern, RoutePlace)])
  func placeByDefault(method: RequestMethod, pattern: RoutePattern, place: RoutePlace) {
    let line = RouteLine(method, pattern) { _, request in
      .failure(Failure(.notFound, "Nothing here."), request: request)
    }
    #expect(line.place == place)
    #expect(line.reach == .leader)
  }

  @Test("These writes are answered once every live replica has applied them")
  func writesReachEveryNode() {
    #expect(
      Self.names { $0.reach == .everyNode } == [
        "POST /v1/devices", "DELETE /v1/devices/me", "POST /v1/devices/me/rotate",
        "POST /v1/devices/me/reset", "POST /v1/devices/me/tokens",
        "DELETE /v1/devices/me/tokens/{id}", "DELETE /v1/admin/devices/{device}",
        "POST /v1/auth/sign-out", "PUT /v1/auth/password", "DELETE /v1/admin/users/{user}",
        "POST /v1/admin/users/{user}/sign-out", "POST /v1/admin/users/{user}/disable",
        "POST /v1/admin/users/{user}/enable", "POST /v1/admin/purge",
        "POST /v1/admin/signing-keys/replace", "POST /v1/admin/s3/keys",
        "DELETE /v1/admin/s3/keys/{id}",
      ])
  }
}
