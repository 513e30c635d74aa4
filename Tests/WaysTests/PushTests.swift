import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Notifications that go to the outbox only.
  struct PushTests {
    static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")

    static func body(
      _ userIDs: [String] = ["u1", "u2"], text: String = "Hello", extra: String = ""
    ) -> String {
      let ids = userIDs.map { "\"\($0)\"" }.joined(separator: ",")
      return #"{"chatId":"c1","userIds":[\#(ids)],"text":"\#(text)"\#(extra)}"#
    }

    static func send(
      _ larder: RunningLarder, _ body: String = body(), key: String = "k",
      as caller: (String, String) = admin
    ) async throws -> RawResponse {
      try await larder.post(
        "/v1/push/notifications", body, caller, ("Idempotency-Key", key))
    }

    static func id(_ answer: RawResponse) throws -> String {
      #expect(answer.status == 202, "\(answer.text)")
      let id = try #require(try JSONValue(parsing: answer.body)["id"]?.string)
      #expect(answer["location"] == "/v1/push/notifications/\(id)")
      return id
    }

    static func notification(
      _ id: String, _ larder: RunningLarder, as caller: (String, String) = admin
    ) async throws -> JSONValue {
      try JSONValue(parsing: try await larder.get("/v1/push/notifications/\(id)", caller).body)
    }

    /// Waits until no delivery of the notification is pending.
    static func settled(
      _ id: String, _ larder: RunningLarder
    ) async throws -> JSONValue {
      try await eventually {
        try await notification(id, larder)
      } until: {
        $0["settledAt"] != nil
      }
    }

    @Test("A sent notification is visible in the outbox")
    func sentNotificationIsInTheOutbox() async throws {
      let larder = try await RunningLarder.start()
      let answer = try await Self.send(
        larder, Self.body(extra: #","heading":"Ada","data":{"kind":"greeting"}"#))
      let id = try Self.id(answer)
      let told = try await Self.settled(id, larder)
      #expect(told["states"] == ["u1": "sent", "u2": "sent"], "\(told)")
      #expect(told["counts"] == ["queued": 0, "sent": 2, "invalid": 0, "failed": 0])
      #expect(told["data"] == ["chatId": "c1", "kind": "greeting"])
      #expect(told["heading"] == "Ada")
      #expect(told["origin"] == "operator")
      let list = try JSONValue(
        parsing: try await larder.get("/v1/admin/push/notifications", Self.admin).body)
      #expect(list["items"]?[0]?["id"]?.string == id)
      #expect(list["items"]?[0]?["states"] == nil)
      #expect(try await larder.get("/v1/push/notifications/n_?", Self.admin).status == 404)
      await larder.stop()
    }

    @Test("An idempotency key stands for one notification")
    func oneKeyIsOneNotification() async throws {
      let larder = try await RunningLarder.start()
      let first = try await Self.send(larder)
      // The same content, written differently.
      let second = try await Self.send(
        larder, #"{"text":"Hello", "userIds":["u1","u2"], "chatId":"c1"}"#)
      #expect(first["idempotency-replayed"] == nil)
      #expect(second["idempotency-replayed"] == "true")
      #expect(try Self.id(first) == Self.id(second))
      let other = try await Self.send(larder, Self.body(text: "Bye"))
      #expect(other.status == 422)
      #expect(try JSONValue(parsing: other.body)["code"] == "idempotency_key_reused")
      let none = try await larder.post("/v1/push/notifications", Self.body(), Self.admin)
      #expect(try JSONValue(parsing: none.body)["code"] == "idempotency_key_missing")
      await larder.stop()
    }

    @Test("All faults of a notification are reported in one response")
    func reportsAllFaultsAtOnce() async throws {
      let larder = try await RunningLarder.start()
      let answer = try await Self.send(
        larder,
        """
        {"userIds":["u1",7,""],"text":" ","heading":3,"data":{"chatId":"x",\
        "long":"\(String(repeating: "x", count: 2_100))"},"more":1}
        """)
      #expect(answer.status == 422)
      let problem = try JSONValue(parsing: answer.body)
      #expect(problem["code"] == "invalid_notification")
      #expect(
        problem["errors"]?.array?.compactMap { $0["pointer"]?.string }
          == [
            "/more", "/chatId", "/userIds/1", "/userIds/2", "/text", "/heading", "/data/chatId",
            "/data",
          ], "\(problem)")
      let list = try await larder.get("/v1/admin/push/notifications", Self.admin)
      #expect(try JSONValue(parsing: list.body)["items"] == [])
      await larder.stop()
    }

    @Test("By default only the operator can send notifications")
    func onlyTheOperatorSendsByDefault() async throws {
      let larder = try await AccountTests.start()
      let ada = try await AccountTests.signUp(larder).bearer
      let anonymous = try await larder.post(
        "/v1/push/notifications", Self.body(), ("Idempotency-Key", "k"))
      #expect(anonymous.status == 401)
      let user = try await Self.send(larder, as: ada)
      #expect(user.status == 403)
      #expect(try await larder.get("/v1/admin/push/notifications", ada).status == 401)
      await larder.stop()
    }

    @Test("Users can send if settings allow it, and see only their own")
    func usersSendIfSettingsAllow() async throws {
      let larder = try await AccountTests.start(settings: "push: {send: users}\n")
      let ada = try await AccountTests.signUp(larder).bearer
      let bob = try await AccountTests.signUp(larder, "bob").bearer
      let id = try Self.id(try await Self.send(larder, as: ada))
      _ = try await Self.settled(id, larder)
      #expect(try await larder.get("/v1/push/notifications/\(id)", ada).status == 200)
      #expect(try await larder.get("/v1/push/notifications/\(id)", bob).status == 404)
      // The same key of another caller is another key.
      #expect(try Self.id(try await Self.send(larder, as: bob)) != id)
      let opaque = try await Self.send(larder, as: ("Authorization", "Bearer opaque"))
      #expect(opaque.status == 401)
      #expect(try JSONValue(parsing: opaque.body)["code"] == "sign_in_required")
      await larder.stop()
    }

    @Test("A user who sends too often gets 429 with Retry-After")
    func sendingTooOftenIs429() async throws {
      let larder = try await AccountTests.start(settings: "push: {send: users, rate: 2}\n")
      let ada = try await AccountTests.signUp(larder).bearer
      for key in ["k1", "k1", "k2"] {
        _ = try Self.id(try await Self.send(larder, key: key, as: ada))
      }
      let refused = try await Self.send(larder, key: "k3", as: ada)
      #expect(refused.status == 429)
      #expect(refused["retry-after"].flatMap { Int($0) }.map { (1...30).contains($0) } == true)
      let problem = try JSONValue(parsing: refused.body)
      #expect(problem["code"] == "rate_limited")
      #expect(problem["retry"] == "same-key")
      let bob = try await AccountTests.signUp(larder, "bob").bearer
      _ = try Self.id(try await Self.send(larder, as: bob))
      for key in ["a", "b", "c"] { _ = try Self.id(try await Self.send(larder, key: key)) }
      await larder.stop()
    }

    @Test("An accepted notification survives a restart")
    func acceptedNotificationSurvivesARestart() async throws {
      let larder = try await RunningLarder.start()
      let id = try Self.id(try await Self.send(larder))
      await larder.stopService()
      try await larder.startService()
      #expect(try await Self.settled(id, larder)["states"] == ["u1": "sent", "u2": "sent"])
      let again = try await Self.send(larder)
      #expect(try Self.id(again) == id)
      await larder.stop()
    }

    // MARK: Registration

    static func registration(
      _ larder: RunningLarder, _ method: String, _ headers: (String, String)...
    ) async throws -> RawResponse {
      try await larder.request(method, "/v1/push/registration", headers: headers)
    }

    @Test("A user's registration on a device ends with the sign-out")
    func registrationEndsWithSignOut() async throws {
      let larder = try await AccountTests.start()
      let session = try await AccountTests.signUp(larder)
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      let early = try await Self.registration(larder, "PUT", session.bearer, device)
      #expect(early.status == 409)
      #expect(try JSONValue(parsing: early.body)["code"] == "push_token_missing")
      _ = try await larder.request(
        "PATCH", "/v1/devices/me", headers: [device], body: #"{"pushToken":"token-1"}"#)
      #expect(try await Self.registration(larder, "PUT", device).status == 401)
      #expect(try await Self.registration(larder, "PUT", session.bearer).status == 401)
      #expect(try await Self.registration(larder, "GET", session.bearer, device).status == 404)
      let put = try await Self.registration(larder, "PUT", session.bearer, device)
      #expect(put.status == 200, "\(put.text)")
      let told = try await eventually {
        try JSONValue(
          parsing: try await Self.registration(larder, "GET", session.bearer, device).body)
      } until: {
        $0["state"] == "registered"
      }
      #expect(told == ["userId": .string(session.user), "state": "registered"])
      let gone = try await Self.registration(larder, "DELETE", session.bearer, device)
      #expect(gone.status == 204)
      #expect(try await Self.registration(larder, "GET", session.bearer, device).status == 404)
      #expect(try await Self.registration(larder, "PUT", session.bearer, device).status == 200)
      let out = try await larder.post(
        "/v1/auth/sign-out", AccountTests.refreshBody(session.refresh), device)
      #expect(out.status == 204)
      #expect(try await Self.registration(larder, "GET", session.bearer, device).status == 404)
      await larder.stop()
    }
  }
}
