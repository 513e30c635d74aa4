import Auth0Double
import DemoUpstream
import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// How a queue continues after an obstacle, without a request from the client.
  struct SyncSendingTests {
    static let ada = ("Authorization", "Bearer user-ada")
    private static let renewed = ("Authorization", "Bearer user-ada-2")

    static func rating(_ film: String, stars: Int = 4, mode: String = "lazy") -> String {
      #"{"operation":"RateFilm","mode":"\#(mode)","variables":{"id":"\#(film)","stars":\#(stars)}}"#
    }

    /// - Returns: the mutation's id.
    @discardableResult
    private static func enqueue(
      _ film: String, _ larder: RunningLarder, _ headers: (String, String)..., mode: String = "lazy"
    ) async throws -> String {
      let answer = try await larder.request(
        "POST", "/v1/mutations", headers: headers + [("Idempotency-Key", film)],
        body: rating(film, mode: mode))
      #expect(answer.status == 202, "\(answer.text)")
      return try #require(try JSONValue(parsing: answer.body)["id"]?.string)
    }

    private static func queue(
      _ larder: RunningLarder, _ device: (String, String)
    ) async throws -> JSONValue {
      try JSONValue(parsing: try await larder.get("/v1/queue", device).body)
    }

    private static func mutation(
      _ id: String, _ larder: RunningLarder, _ device: (String, String), wait: Int = 0
    ) async throws -> JSONValue {
      try JSONValue(parsing: try await larder.get("/v1/mutations/\(id)?wait=\(wait)", device).body)
    }

    // MARK: Credentials

    @Test("A refused token holds the queue until another one arrives", arguments: [false, true])
    func refusedTokenHoldsTheQueue(restarts: Bool) async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      try await larder.demo.change { $0.fail = .status(401) }
      let first = try await Self.enqueue("f1", larder, device, Self.ada, mode: "steady")
      let second = try await Self.enqueue("f2", larder, device, Self.ada, mode: "steady")
      let waiting = try await eventually {
        try await Self.queue(larder, device)
      } until: {
        $0["state"] == "auth_required"
      }
      #expect(waiting == ["pending": 2, "parked": 0, "state": "auth_required"])
      if restarts {
        await larder.stopService()
        try await larder.startService()
        // The service does not know yet that this token was refused: it sends the mutation once more.
        _ = try await eventually {
          try await larder.get("/v1/queue", device, Self.ada)
        } until: { _ in
          larder.demo.report["RateFilm"].requests == 2
        }
        _ = try await eventually {
          try await Self.queue(larder, device)
        } until: {
          $0["state"] == "auth_required"
        }
      }
      try await larder.demo.change { $0.fail = .off }
      let asked = larder.demo.report["RateFilm"].requests
      for _ in 0..<3 { _ = try await larder.get("/v1/queue", device, Self.ada) }
      #expect(try await Self.queue(larder, device)["state"] == "auth_required")
      #expect(larder.demo.report["RateFilm"].requests == asked)
      _ = try await larder.get("/v1/queue", device, Self.renewed)
      for id in [first, second] {
        let told = try await Self.mutation(id, larder, device, wait: 10)
        #expect(told["state"] == "applied", "\(told)")
        #expect(told["attempts"] == 1)
      }
      let sent = larder.demo.report.recent.suffix(2).map { $0["authorization"] }
      #expect(sent == ["Bearer user-ada-2", "Bearer user-ada-2"])
      await larder.stop()
    }

    @Test(
      "A sign-out discards or parks the queue as settings say",
      arguments: [
        ("drop", "discarded", "signed_out"), ("park", "parked", "signed_out"),
        ("drain", "queued", nil),
      ] as [(String, String, String?)])
    func signOutFollowsSettings(
      policy: String, state: String, reason: String?
    ) async throws {
      let larder = try await AccountTests.start(settings: "queue: {onLogout: \(policy)}")
      let session = try await AccountTests.signUp(larder)
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      _ = try await larder.request(
        "POST", "/v1/queue/pause", headers: [device, session.bearer])
      let id = try await Self.enqueue("f1", larder, device, session.bearer)
      let out = try await larder.post(
        "/v1/auth/sign-out", AccountTests.refreshBody(session.refresh), device)
      #expect(out.status == 204, "\(out.text)")
      let told = try await Self.mutation(id, larder, device)
      #expect(told["state"]?.string == state, "\(told)")
      #expect(told["reason"]?.string == reason)
      _ = try await larder.request("POST", "/v1/queue/resume", headers: [device])
      if policy == "drain" {
        let told = try await Self.mutation(id, larder, device, wait: 10)
        #expect(told["state"] == "applied", "\(told)")
      } else {
        let pending = try await Self.queue(larder, device)["pending"]
        #expect(pending == 0)
        #expect(larder.demo.report["RateFilm"].requests == 0)
      }
      await larder.stop()
    }

    /// The request ends before its `wait` does.
    @Test("A request that waits for a mutation ends when its device token is rotated")
    func waitingRequestEndsWithItsToken() async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      _ = try await larder.request("POST", "/v1/queue/pause", headers: [device])
      let id = try await Self.enqueue("f1", larder, device, Self.ada)
      let port = larder.port
      async let held = onOwnThread {
        try RawClient(port: port).request("GET", "/v1/mutations/\(id)?wait=8", headers: [device])
      }
      let rotated = try await larder.request("POST", "/v1/devices/me/rotate", headers: [device])
      #expect(rotated.status == 200)
      #expect(try await held.status == 401)
      await larder.stop()
    }

    // MARK: Upstream unavailable

    @Test("Five hundred mutations wait for upstream and are then sent in order")
    func queueDrainsInOrderAfterAnOutage() async throws {
      let larder = try await RunningLarder.start(
        settings: "queue: {probe: 1s}", recentMax: 1_000)
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      try await larder.demo.change { $0.fail = .refuse }
      for part in 0..<5 {
        let films = (part * 100 + 1)...(part * 100 + 100)
        let body = films.map { Self.rating("f\($0)", mode: "steady") }.joined(separator: ",")
        let answer = try await larder.post(
          "/v1/mutations", "[\(body)]", device, Self.ada, ("Idempotency-Key", "k\(part)"))
        #expect(answer.status == 202, "\(answer.text)")
      }
      // After some probes no attempt has been counted.
      let ready = try await eventually {
        try await larder.get("/readyz")
      } until: {
        $0.text.contains("failing")
      }
      #expect(ready.text.contains("failing"))
      #expect(
        try await Self.queue(larder, device) == ["pending": 500, "parked": 0, "state": "running"])
      try await larder.demo.change { $0.fail = .off }
      // A busy machine needs time for so many.
      var executed = 0
      for _ in 0..<6 where executed < 500 {
        executed = try await eventually {
          larder.demo.report["RateFilm"].executed
        } until: {
          $0 == 500
        }
      }
      #expect(executed == 500)
      let order = larder.demo.report.recent.map { $0.variables["id"]?.string }
      #expect(order == (1...500).map { "f\($0)" })
      #expect(larder.demo.report.concurrencyMax == 1)
      let status = try await eventually {
        try await Self.queue(larder, device)
      } until: {
        $0["pending"] == 0
      }
      #expect(status == ["pending": 0, "parked": 0, "state": "running"])
      let list = try JSONValue(
        parsing: try await larder.get("/v1/mutations?limit=200", device).body)
      #expect(list["items"]?.array?.allSatisfy { $0["attempts"] == 1 } == true)
      await larder.stop()
    }

    /// The next probe is due minutes later.
    @Test("A read that upstream serves resumes the queue before the next probe")
    func successfulReadResumesTheQueue() async throws {
      let larder = try await RunningLarder.start(settings: "queue: {probe: 300s}")
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      try await larder.demo.change { $0.fail = .refuse }
      let id = try await Self.enqueue("f1", larder, device, Self.ada)
      let ready = try await eventually {
        try await larder.get("/readyz")
      } until: {
        $0.text.contains("failing")
      }
      #expect(ready.text.contains("failing"))
      // The failed attempt is recorded: only then does the queue wait for upstream.
      _ = try await eventually {
        try await Self.mutation(id, larder, device)
      } until: {
        $0["state"] == "queued"
      }
      try await larder.demo.change { $0.fail = .off }
      #expect(larder.demo.report["RateFilm"].requests == 0)
      let read = try await eventually {
        try await larder.get("/api/films/f2", ("Cache-Control", "no-cache"))
      } until: {
        $0.status == 200
      }
      #expect(read.status == 200)
      let told = try await Self.mutation(id, larder, device, wait: 8)
      #expect(told["state"] == "applied", "\(told)")
      await larder.stop()
    }

    /// Upstream's deadline is later than the time that a process manager waits for a process to end.
    @Test("An attempt without a response does not block the shutdown")
    func hangingAttemptDoesNotBlockShutdown() async throws {
      let larder = try await RunningLarder.start(upstreamTimeout: "60s")
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      try await larder.demo.change { $0.fail = .hang }
      try await Self.enqueue("f1", larder, device, Self.ada)
      let isUnderWay = try await eventually {
        larder.demo.report["RateFilm"].requests
      } until: {
        $0 == 1
      }
      #expect(isUnderWay == 1)
      let began = ContinuousClock.now
      await larder.stopService()
      #expect(ContinuousClock.now - began < .seconds(20))
      try await larder.demo.change { $0.fail = .off }
      try await larder.startService()
      let executed = try await eventually {
        larder.demo.report["RateFilm"].executed
      } until: {
        $0 == 1
      }
      #expect(executed == 1)
      await larder.stop()
    }
  }
}

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
