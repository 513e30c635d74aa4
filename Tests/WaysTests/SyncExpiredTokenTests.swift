import Auth0Double
import DemoUpstream
import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Upstreams that respond 403 both to an expired token and to a valid one.
  struct SyncExpiredTokenTests {
    /// - Parameter seconds: the time until the token expires; a negative one is expired, but within the clock
    ///   skew that the service allows.
    private static func token(_ auth0: Auth0Server, endsIn seconds: Int64) throws -> (
      String, String
    ) {
      let now = Int64(Date().timeIntervalSince1970)
      let claims: JSONValue = [
        "iss": .string(auth0.tenant.issuer), "sub": "auth0|7", "aud": .string(FakeAuth0.audience),
        "iat": .number(JSONNumber(now + seconds - 600)),
        "exp": .number(JSONNumber(now + seconds)),
      ]
      return ("Authorization", "Bearer \(try auth0.tenant.key.token(claims))")
    }

    @Test("A token that expires in mid-queue loses no mutation")
    func expiredTokenLosesNoMutation() async throws {
      let auth0 = try await Auth0Server { Int64(Date().timeIntervalSince1970) }
      let larder = try await Auth0Tests.start(auth0)
      let world = try await SyncWorld(larder)
      try await larder.demo.change { $0.fail = .status(403) }
      let ended = try Self.token(auth0, endsIn: -10)
      let ids = [
        try await world.enqueue(SyncWorld.rating("f1", mode: "steady"), key: "1", as: ended),
        try await world.enqueue(SyncWorld.rating("f2", mode: "steady"), key: "2", as: ended),
      ]
      let waiting = try await eventually {
        try await world.queue()
      } until: {
        $0["state"] == "auth_required"
      }
      #expect(waiting == ["pending": 2, "parked": 0, "state": "auth_required"])
      #expect(larder.demo.report["RateFilm"].requests == 1)
      for command in ["resume", "flush"] {
        let refused = try await world.command("/v1/queue/\(command)")
        #expect(refused.status == 409)
        #expect(refused.code == "auth_required")
      }
      try await larder.demo.change { $0.fail = .off }
      // The command carries the credential that the queue waits for.
      let resumed = try await larder.request(
        "POST", "/v1/queue/resume",
        headers: [world.device, try Self.token(auth0, endsIn: 600)])
      #expect(resumed.status == 200, "\(resumed.text)")
      for id in ids {
        let told = try await world.mutation(id, wait: 10)
        #expect(told["state"] == "applied", "\(told)")
        #expect(told["attempts"] == 1)
      }
      await larder.stop()
      await auth0.stop()
    }

    @Test("A 403 for a token that has not expired rejects the mutation")
    func validTokenIsRefusedPermanently() async throws {
      let auth0 = try await Auth0Server { Int64(Date().timeIntervalSince1970) }
      let larder = try await Auth0Tests.start(auth0)
      let world = try await SyncWorld(larder)
      try await larder.demo.change { $0.fail = .status(403) }
      let id = try await world.enqueue(
        SyncWorld.rating("f1"), key: "1", as: try Self.token(auth0, endsIn: 600))
      let told = try await world.mutation(id, wait: 10)
      #expect(told["state"] == "rejected", "\(told)")
      #expect(told["problem"]?["code"] == "upstream_forbidden")
      #expect(try await world.queue()["state"] == "running")
      await larder.stop()
      await auth0.stop()
    }
  }
}
