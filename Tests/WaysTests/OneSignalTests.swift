import LosslessJSON
import OneSignalDouble
import TestSupport
import Testing

extension Ways {
  /// Notifications that are sent through OneSignal.
  struct OneSignalTests {
    private static func settings(
      _ app: FakeOneSignal, _ url: String, key: String? = nil
    ) -> String {
      """
      accounts: {passwordCost: 10}
      push:
        sender: onesignal
        api: \(app.form)
        url: \(url)
        appId: \(FakeOneSignal.appID)
        apiKey: \(key ?? app.key)
      """
    }

    private static func start(
      _ server: OneSignalServer, key: String? = nil
    ) async throws -> RunningLarder {
      try await RunningLarder.start(settings: settings(server.app, server.url, key: key))
    }

    private static func states(_ id: String, _ larder: RunningLarder) async throws -> JSONValue? {
      try await PushTests.settled(id, larder)["states"]
    }

    @Test(
      "A registered user is reached on a device until the registration ends",
      arguments: OneSignalForm.allCases)
    func registeredUserIsReachedUntilSignOut(_ form: OneSignalForm) async throws {
      let server = try await OneSignalServer(FakeOneSignal(form))
      let larder = try await Self.start(server)
      let ada = try await AccountTests.signUp(larder)
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      for token in ["old", "new"] {
        _ = try await larder.request(
          "PATCH", "/v1/devices/me", headers: [device], body: #"{"pushToken":"\#(token)"}"#)
        // The second time there is no request: a registration follows its device's token.
        if token == "old" {
          let put = try await PushTests.registration(larder, "PUT", ada.bearer, device)
          #expect(put.status == 200, "\(put.text)")
        }
        let owners = try await eventually {
          server.app.owners
        } until: {
          $0 == [token: ada.user]
        }
        #expect(owners == [token: ada.user])
      }
      let id = try PushTests.id(
        try await PushTests.send(larder, PushTests.body([ada.user, "nobody"])))
      #expect(try await Self.states(id, larder) == [ada.user: "sent", "nobody": "invalid"])
      #expect(server.app.deliveries.map(\.token) == ["new"])
      #expect(server.app.deliveries.first?.payload["custom"]?["a"]?["chatId"] == "c1")
      let out = try await larder.post(
        "/v1/auth/sign-out", AccountTests.refreshBody(ada.refresh), device)
      #expect(out.status == 204)
      let owners = try await eventually {
        server.app.owners
      } until: {
        $0.isEmpty
      }
      #expect(owners.isEmpty)
      let late = try PushTests.id(
        try await PushTests.send(larder, PushTests.body([ada.user]), key: "late"))
      #expect(try await Self.states(late, larder) == [ada.user: "invalid"])
      #expect(server.app.deliveries.count == 1)
      await larder.stop()
      await server.stop()
    }

    /// Registers a device for the user's notifications.
    private static func phone(
      _ larder: RunningLarder, of session: AccountTests.Session, token: String
    ) async throws -> (String, String) {
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      _ = try await larder.request(
        "PATCH", "/v1/devices/me", headers: [device], body: #"{"pushToken":"\#(token)"}"#)
      let put = try await PushTests.registration(larder, "PUT", session.bearer, device)
      #expect(put.status == 200, "\(put.text)")
      return device
    }

    private static func expect(
      _ app: FakeOneSignal, owners wanted: [String: String]
    ) async throws {
      let owners = try await eventually {
        app.owners
      } until: {
        $0 == wanted
      }
      #expect(owners == wanted)
    }

    @Test(
      "Unregistering or removing a device deletes its OneSignal subscription",
      arguments: OneSignalForm.allCases)
    func removedDeviceIsUnsubscribed(_ form: OneSignalForm) async throws {
      let server = try await OneSignalServer(FakeOneSignal(form))
      let larder = try await Self.start(server)
      let ada = try await AccountTests.signUp(larder)
      let device = try await Self.phone(larder, of: ada, token: "t")
      try await Self.expect(server.app, owners: ["t": ada.user])
      let gone = try await PushTests.registration(larder, "DELETE", ada.bearer, device)
      #expect(gone.status == 204)
      try await Self.expect(server.app, owners: [:])
      let back = try await PushTests.registration(larder, "PUT", ada.bearer, device)
      #expect(back.status == 200, "\(back.text)")
      try await Self.expect(server.app, owners: ["t": ada.user])
      let removed = try await larder.request("DELETE", "/v1/devices/me", headers: [device])
      #expect(removed.status == 204, "\(removed.text)")
      try await Self.expect(server.app, owners: [:])
      await larder.stop()
      await server.stop()
    }

    /// The previous user has not signed out, and is no longer reached on the device.
    @Test(
      "The next user of a device replaces the previous one at OneSignal",
      arguments: OneSignalForm.allCases)
    func nextUserReplacesThePrevious(_ form: OneSignalForm) async throws {
      let server = try await OneSignalServer(FakeOneSignal(form))
      let larder = try await Self.start(server)
      let ada = try await AccountTests.signUp(larder)
      let first = try await Self.phone(larder, of: ada, token: "t")
      try await Self.expect(server.app, owners: ["t": ada.user])
      let bob = try await AccountTests.signUp(larder, "bob")
      _ = try await Self.phone(larder, of: bob, token: "t")
      try await Self.expect(server.app, owners: ["t": bob.user])
      #expect(
        try await PushTests.registration(larder, "GET", ada.bearer, first).status == 404)
      let id = try PushTests.id(
        try await PushTests.send(larder, PushTests.body([ada.user, bob.user])))
      #expect(try await Self.states(id, larder) == [ada.user: "invalid", bob.user: "sent"])
      #expect(server.app.deliveries.map(\.user) == [bob.user])
      await larder.stop()
      await server.stop()
    }

    @Test("Many receivers are sent in batches within OneSignal's limit")
    func manyReceiversAreSentInBatches() async throws {
      let server = try await OneSignalServer(FakeOneSignal(.current))
      server.app.know((0..<5_000).map { "u\($0)" }.filter { $0 != "u4999" })
      let larder = try await Self.start(server)
      // One id is listed twice.
      let ids = (0..<5_000).map { "u\($0)" } + ["u7"]
      let id = try PushTests.id(try await PushTests.send(larder, PushTests.body(ids)))
      let told = try await PushTests.settled(id, larder)
      #expect(told["counts"] == ["queued": 0, "sent": 4_999, "invalid": 1, "failed": 0])
      #expect(told["states"]?["u4999"] == "invalid")
      let sizes = server.app.notifications.values.compactMap {
        $0["include_aliases"]?["external_id"]?.array?.count
      }
      #expect(sizes.sorted() == [1_000, 2_000, 2_000])
      await larder.stop()
      await server.stop()
    }

    @Test("A rule's notification reaches the device", arguments: OneSignalForm.allCases)
    func ruleNotificationReachesTheDevice(_ form: OneSignalForm) async throws {
      let server = try await OneSignalServer(FakeOneSignal(form))
      let larder = try await PushRuleTests.start(
        """
            - {on: Message insert, to: recipientIds, chatId: chat, text: "new: {text}"}
            - {on: Message update, to: recipientIds, chatId: chat, text: "changed: {text}"}
        """, vendor: Self.settings(server.app, server.url))
      let ada = try await AccountTests.signUp(larder)
      let device = try await Self.phone(larder, of: ada, token: "t")
      try await Self.expect(server.app, owners: ["t": ada.user])
      try await PushRuleTests.message(
        larder, device,
        #"{"id":"m1","chat":"c7","text":"one","recipientIds":["\#(ada.user)","nobody"]}"#)
      for (count, text) in [(1, "new: one"), (2, "changed: two")] {
        let told = try #require(try await PushRuleTests.outbox(larder, count: count).last)
        let id = try #require(told["id"]?.string)
        #expect(try await Self.states(id, larder) == [ada.user: "sent", "nobody": "invalid"])
        let payload = try #require(server.app.deliveries.last?.payload)
        #expect(payload["aps"]?["alert"]?["body"]?.string == text)
        #expect(payload["custom"]?["a"] == ["chatId": "c7", "type": "Message", "id": "m1"])
        #expect(server.app.deliveries.count == count)
        if count == 1 {
          try await PushRuleTests.message(larder, device, #"{"text":"two"}"#, changing: "m1")
        }
      }
      await larder.stop()
      await server.stop()
    }

    /// During the outage only a probe is sent; afterwards everything is.
    @Test("The outbox is sent after an outage of OneSignal")
    func outboxIsSentAfterAnOutage() async throws {
      let first = try await OneSignalServer(FakeOneSignal(.current))
      let port = try #require(first.url.split(separator: ":").last.flatMap { UInt16($0) })
      await first.stop()
      let larder = try await RunningLarder.start(settings: Self.settings(first.app, first.url))
      let id = try PushTests.id(try await PushTests.send(larder))
      let waiting = try await eventually {
        try await PushTests.notification(id, larder)
      } until: {
        $0["reasons"] != nil
      }
      #expect(waiting["states"] == ["u1": "queued", "u2": "queued"])
      let reason = waiting["reasons"]?[0]?.string
      #expect(reason?.contains("the connection failed") == true, "\(waiting)")
      first.app.know(["u1", "u2"])
      let second = try await OneSignalServer(first.app, port: port)
      #expect(try await Self.states(id, larder) == ["u1": "sent", "u2": "sent"])
      await larder.stop()
      await second.stop()
    }

    /// The response is lost, the service ends, and the same batch is sent again under its key.
    @Test("A batch whose response was lost is retried and delivered once")
    func retriedBatchIsDeliveredOnce() async throws {
      let server = try await OneSignalServer(FakeOneSignal(.current))
      let larder = try await Self.start(server)
      let ada = try await AccountTests.signUp(larder)
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      _ = try await larder.request(
        "PATCH", "/v1/devices/me", headers: [device], body: #"{"pushToken":"t"}"#)
      _ = try await PushTests.registration(larder, "PUT", ada.bearer, device)
      _ = try await eventually {
        server.app.owners
      } until: {
        !$0.isEmpty
      }
      server.app.isLosingAnswers = true
      let id = try PushTests.id(try await PushTests.send(larder, PushTests.body([ada.user])))
      _ = try await eventually {
        server.app.deliveries.count
      } until: {
        $0 > 0
      }
      await larder.stopService()
      server.app.isLosingAnswers = false
      try await larder.startService()
      #expect(try await Self.states(id, larder) == [ada.user: "sent"])
      #expect(server.app.deliveries.count == 1)
      #expect(server.app.requests.filter { $0 == "POST /notifications" }.count > 1)
      await larder.stop()
      await server.stop()
    }

    @Test("A permanent refusal fails its batch alone; a rate limit is retried")
    func permanentRefusalFailsOneBatch() async throws {
      let server = try await OneSignalServer(FakeOneSignal(.legacy))
      server.app.know(["u1", "u2"])
      let larder = try await Self.start(server)
      server.app.answerNext(400, #"{"errors":["bad"]}"#)
      let bad = try PushTests.id(try await PushTests.send(larder))
      let told = try await PushTests.settled(bad, larder)
      #expect(told["states"] == ["u1": "failed", "u2": "failed"])
      #expect(told["reasons"] == ["status 400: bad"])
      server.app.answerNext(429, retryAfter: "1")
      let busy = try PushTests.id(try await PushTests.send(larder, key: "busy"))
      #expect(try await Self.states(busy, larder) == ["u1": "sent", "u2": "sent"])
      await larder.stop()
      await server.stop()
    }

    /// A mistake of the operator fails no notification.
    @Test("A refused API key fails no notification")
    func refusedAPIKeyFailsNothing() async throws {
      let server = try await OneSignalServer(FakeOneSignal(.current))
      server.app.know(["u1", "u2"])
      let larder = try await Self.start(server, key: "wrong")
      let id = try PushTests.id(try await PushTests.send(larder))
      let waiting = try await eventually {
        try await PushTests.notification(id, larder)
      } until: {
        $0["reasons"] != nil
      }
      #expect(waiting["states"] == ["u1": "queued", "u2": "queued"])
      #expect(!waiting.text.contains("wrong"))
      await larder.stop()
      await server.stop()
    }
  }
}
