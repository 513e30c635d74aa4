import Auth0Double
import Foundation
import LosslessJSON
import TestSupport
import Testing
import VendorDouble

extension Ways {
  /// One copy of a response for all verified callers whose token has the same value of a claim.
  struct ClaimScopeTests {
    private static let operations = [
      "team": """
      query Team @route(path: "/team") @cache(maxAge: 600, scope: CLAIM, claim: "org_id") {
        watchlist { __typename id title }
      }
      query Me @route(path: "/me") @cache(maxAge: 600) { me { __typename id name } }
      """
    ]

    /// A service, an upstream whose responses name the caller, and a token issuer.
    private struct World {
      let larder: RunningLarder
      let upstream: EchoUpstream
      let auth0: Auth0Server

      func bearer(_ subject: String, org: JSONValue?) throws -> (String, String) {
        let now = Int64(Date().timeIntervalSince1970)
        var claims: JSONValue = [
          "iss": .string(auth0.tenant.issuer), "sub": .string(subject),
          "aud": .string(FakeAuth0.audience), "iat": .number(JSONNumber(now)),
          "exp": .number(JSONNumber(now + 600)),
        ]
        if let org { claims["org_id"] = org }
        return ("Authorization", "Bearer \(try auth0.tenant.key.token(claims))")
      }

      func stop() async {
        await larder.stop()
        await upstream.stop()
        await auth0.stop()
      }
    }

    private static func start(forward: String = "authorization, cookie") async throws -> World {
      let auth0 = try await Auth0Server { Int64(Date().timeIntervalSince1970) }
      let upstream = try await EchoUpstream.start()
      let larder = try await RunningLarder.start(
        settings: """
          accounts:
            provider: auth0
            domain: \(FakeAuth0.domain)
            issuer: \(auth0.tenant.issuer)
            clientId: \(FakeAuth0.clientID)
            clientSecret: \(FakeAuth0.secret)
            audience: \(FakeAuth0.audience)
          types:
            Film: {search: [title]}
          """, operations: operations, upstream: upstream.url, forward: forward)
      return World(larder: larder, upstream: upstream, auth0: auth0)
    }

    @Test("A team shares one copy in every kind of read, and other callers get none")
    func oneCopyForATeam() async throws {
      let world = try await Self.start()
      let larder = world.larder
      let ada = try world.bearer("qada", org: "acme")
      let bob = try world.bearer("qbob", org: "acme")
      let eve = try world.bearer("qeve", org: "other")
      let first = try await larder.get("/api/team", ada, ("Cookie", "u=qcookie"))
      #expect(first.status == 200 && first.text.contains("Film 1 of qada"), "\(first.text)")
      #expect(first["cache-control"]?.hasPrefix("private") == true)
      #expect(!first.text.contains("qcookie"), "a cookie says more than the claim")
      for _ in 0..<3 {
        let shared = try await larder.get("/api/team", bob)
        #expect(shared.body == first.body)
        #expect(shared.cacheStatus?.hasPrefix("hit") == true)
      }
      #expect(world.upstream.requests(of: "Team") == 1)
      let others = try await larder.get("/api/team", eve)
      #expect(others.text.contains("Film 1 of qeve") && !others.text.contains("qada"))
      #expect(world.upstream.requests(of: "Team") == 2)
      let reads = [
        "/v1/entities/Film?total=true", "/v1/entities/Film/f1-qada", "/v1/search?q=film",
        "/v1/changes?types=Film", "/v1/entities/Film/diff", "/v1/entities",
        "/v1/operations/Team/diff",
      ]
      for member in [ada, bob] {
        for target in reads where target != "/v1/entities" {
          let response = try await larder.get(target, member)
          #expect(response.text.contains("f1-qada"), "\(target): \(response.text)")
          #expect(!response.text.contains("qeve"), "\(target)")
        }
      }
      let strangers = [
        [eve], [], [("Authorization", "Bearer opaque")], [try world.bearer("qzoe", org: nil)],
        [try world.bearer("qzoe", org: "")], [try world.bearer("qzoe", org: ["acme"])],
        [("Authorization", "Bearer \(RunningLarder.adminToken)")],
      ]
      for stranger in strangers {
        for target in reads {
          let response = try await larder.request("GET", target, headers: stranger)
          // A problem document repeats the request's path.
          let told = response.text.replacing(target, with: "").replacing("Film/f1-qada", with: "")
          #expect(response.status >= 400 || response.text == told, "\(target): \(response.text)")
          #expect(!told.contains("qada"), "\(target): \(response.text)")
        }
      }
      await world.stop()
    }

    @Test("Callers without a verified value of the claim are refused")
    func refusals() async throws {
      let world = try await Self.start()
      let larder = world.larder
      let ada = try world.bearer("qada", org: "acme")
      #expect(try await larder.get("/api/team", ada).status == 200)
      for _ in 0..<2 {
        #expect(try await larder.get("/api/team").status == 401)
        #expect(try await larder.get("/api/team", ("Authorization", "Bearer opaque")).status == 401)
        for org: JSONValue? in [nil, "", .null, []] {
          let refused = try await larder.get("/api/team", world.bearer("qzoe", org: org))
          #expect(refused.status == 403, "\(String(describing: org))")
        }
      }
      #expect(world.upstream.requests(of: "Team") == 1)
      await world.stop()
    }

    /// The next event about an entity.
    private static func change(of events: EventClient) async throws -> EventClient.Event {
      while true {
        let event = try #require(try await events.nextEvent())
        if event.event == "change" { return event }
      }
    }

    @Test("A change that one member's read brings reaches only members' streams")
    func streamsReachMembersAlone() async throws {
      let world = try await Self.start()
      let larder = world.larder
      let ada = try world.bearer("qada", org: "acme")
      let bob = try world.bearer("qbob", org: "acme")
      let eve = try world.bearer("qeve", org: "other")
      let members = try await EventClient.open(
        port: larder.port, "/v1/changes/stream?since=now", headers: [bob])
      let others = try await EventClient.open(
        port: larder.port, "/v1/changes/stream?since=now", headers: [eve])
      #expect(try await larder.get("/api/team", ada).status == 200)
      let told = try await Self.change(of: members)
      #expect(told.data.contains("qada"), "\(told)")
      // The first event that the other caller gets is its own.
      #expect(try await larder.get("/api/team", eve).status == 200)
      let first = try await Self.change(of: others)
      #expect(first.data.contains("qeve") && !first.data.contains("qada"), "\(first)")
      await world.stop()
    }
  }
}
