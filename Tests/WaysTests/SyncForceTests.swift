import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// The responses to forced mutations.
  struct SyncForceTests {
    private static let forced = SyncWorld.rating("f1", stars: 5, mode: "force")

    /// The keys of the operations that reached upstream, in order.
    private static func sent(_ world: SyncWorld) -> [String] {
      world.larder.demo.report.recent.compactMap { $0["idempotency-key"] }
    }

    // MARK: Order

    @Test("A forced mutation goes after the queued ones that conflict with it, in order")
    func goesAfterItsConflictsInOrder() async throws {
      let world = try await SyncWorld.start()
      try await world.pause()
      let first = try await world.enqueue(
        SyncWorld.renaming("f1", "One", mode: "steady"), key: "1")
      let other = try await world.enqueue(SyncWorld.renaming("f2"), key: "2")
      let second = try await world.enqueue(
        SyncWorld.renaming("f1", "Two", mode: "steady"), key: "3")
      let answer = try await world.submit(Self.forced, key: "4")
      #expect(answer.status == 200, "\(answer.body)")
      #expect(answer.body["state"] == "applied")
      #expect(answer.body["response"]?["data"]?["rateFilm"]?["myStars"] == 5)
      #expect(answer.body["promoted"] == [.string(first), .string(second)])
      #expect(Self.sent(world) == [first, second, answer.id])
      // The pause still holds for the mutation that does not conflict.
      #expect(try await world.mutation(other)["state"] == "queued")
      await world.stop()
    }

    @Test("A forced mutation is not sent if its dependency was rejected")
    func isNotSentIfItsDependencyWasRejected() async throws {
      let world = try await SyncWorld.start()
      try await world.larder.demo.change {
        $0.fail = .graphQLErrors
        $0.operations = ["UpdateFilm"]
      }
      try await world.pause()
      let before = try await world.enqueue(SyncWorld.renaming("f1"), key: "1")
      let answer = try await world.submit(Self.forced, key: "2")
      #expect(answer.status == 424, "\(answer.body)")
      #expect(answer.code == "dependency_rejected")
      #expect(answer.body["retry"] == "new-key")
      #expect(try await world.mutation(before)["state"] == "rejected")
      #expect(world.larder.demo.report["RateFilm"].requests == 0)
      // The same request again gets the same response.
      #expect(try await world.submit(Self.forced, key: "2").status == 424)
      await world.stop()
    }

    /// As without a device: upstream's errors come with its data in the response.
    @Test("A forced operation returns upstream's data and errors")
    func upstreamErrorsAndDataAreReturned() async throws {
      let world = try await SyncWorld.start()
      for device in [[world.device], []] {
        let answer = try await world.larder.request(
          "POST", "/v1/operations/RateFilm", headers: device + [SyncWorld.ada],
          body: #"{"id":"f3","stars":55}"#)
        #expect(answer.status == 200)
        let body = try JSONValue(parsing: answer.body)
        #expect(body["data"] == ["rateFilm": .null], "\(body)")
        #expect(body["errors"]?.array?.count == 1)
      }
      try await world.larder.demo.change { $0.fail = .graphQLErrors }
      for device in [[world.device], []] {
        let refused = try await world.larder.request(
          "POST", "/v1/operations/RateFilm", headers: device + [SyncWorld.ada],
          body: #"{"id":"f3","stars":5}"#)
        #expect(refused.status == 200)
        let body = try JSONValue(parsing: refused.body)
        #expect(body["data"]?.isNull == true)
        #expect(body["errors"]?.array?.count == 1)
      }
      await world.stop()
    }

    @Test("A forced mutation with ahead: all is sent before the queue")
    func aheadOfAllGoesFirst() async throws {
      let world = try await SyncWorld.start()
      try await world.pause()
      let met = try await world.enqueue(SyncWorld.renaming("f1"), key: "1")
      let answer = try await world.submit(
        #"{"operation":"AddToWatchlist","mode":"force","ahead":"all","variables":{"filmId":"f1"}}"#,
        key: "2")
      #expect(answer.status == 200, "\(answer.body)")
      #expect(answer.body["state"] == "applied")
      #expect(answer.body["promoted"] == [])
      #expect(try await world.mutation(met)["state"] == "queued")
      #expect(Self.sent(world) == [answer.id])
      // Without `ahead` the mutations that it conflicts with are sent first.
      let other = try await world.submit(
        #"{"operation":"AddToWatchlist","mode":"force","variables":{"filmId":"f1"}}"#, key: "3")
      #expect(other.body["promoted"] == [.string(met)], "\(other.body)")
      await world.stop()
    }

    // MARK: Unknown outcomes

    @Test(
      "A forced mutation without an upstream response has an unknown outcome",
      arguments: [true, false])
    func isUnknownWithoutAResponse(isRepeatable: Bool) async throws {
      let world = try await SyncWorld.start(
        settings: "queue: {forceDeadline: 1s}", upstreamTimeout: "500ms")
      let body =
        isRepeatable
        ? Self.forced
        : #"{"operation":"CreateList","mode":"force","variables":{"input":{"name":"Later"}}}"#
      let operation = isRepeatable ? "RateFilm" : "CreateList"
      try await world.larder.demo.change { $0.fail = .hang }
      let answer = try await world.submit(body, key: "1")
      #expect(answer.status == 504, "\(answer.body)")
      #expect(answer.code == "outcome_unknown")
      #expect(answer.body["retry"] == "same-key")
      try await world.larder.demo.change { $0.fail = .off }
      // On a busy machine an attempt that hangs can outlast the second's deadline.
      let again = try await eventually {
        try await world.submit(body, key: "1")
      } until: {
        !isRepeatable || $0.status == 200
      }
      if isRepeatable {
        #expect(again.status == 200, "\(again.body)")
        #expect(world.larder.demo.report[operation].executed == 1)
      } else {
        // It is parked: the client decides.
        #expect(again.code == "outcome_unknown", "\(again.body)")
        #expect(try await world.queue()["parked"] == 1)
        #expect(world.larder.demo.report[operation].requests == 1)
      }
      await world.stop()
    }

    // MARK: The same key

    @Test("A retry with the same key joins the running mutation")
    func sameKeyJoinsARunningOne() async throws {
      let world = try await SyncWorld.start()
      let demo = world.larder.demo
      try await demo.change {
        $0.fail = .hang
        $0.takesEffect = true
      }
      let client = world.client
      async let first = client.submit(Self.forced, key: "1")
      let requests = try await eventually {
        demo.report["RateFilm"].requests
      } until: {
        $0 == 1
      }
      #expect(requests == 1)
      async let second = client.submit(Self.forced, key: "1")
      async let third = client.submit(Self.forced, key: "1")
      // Another payload does not join.
      let other = try await world.submit(
        SyncWorld.rating("f1", stars: 1, mode: "force"), key: "1")
      #expect(other.status == 422)
      #expect(other.code == "idempotency_key_reused")
      try await demo.change { $0.fail = .off }
      let answers = try await [first, second, third]
      #expect(answers.allSatisfy { $0.status == 200 }, "\(answers.map(\.body))")
      #expect(Set(answers.map(\.id)).count == 1)
      #expect(answers.filter { !$0.isReplay }.count == 1)
      // The hung request ended with 503 and was sent again under the same key.
      #expect(Set(Self.sent(world)).count == 1)
      #expect(demo.report["RateFilm"].executed == 1)
      await world.stop()
    }

    @Test("A forced mutation continues when its caller disconnects")
    func continuesWithoutItsCaller() async throws {
      let world = try await SyncWorld.start()
      let demo = world.larder.demo
      let port = world.larder.port
      try await demo.change { $0.fail = .hang }
      let fields = [
        world.device, SyncWorld.ada, ("Idempotency-Key", "1"), ("Content-Type", "application/json"),
      ].map { "\($0): \($1)\r\n" }.joined()
      let body = Self.forced
      // The client disconnects once upstream has the request.
      try await onOwnThread {
        let client = try RawClient(port: port)
        try client.send(
          "POST /v1/mutations HTTP/1.1\r\nHost: localhost\r\n\(fields)"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        let deadline = ContinuousClock.now + .seconds(10)
        while demo.report["RateFilm"].requests == 0, ContinuousClock.now < deadline {}
      }
      try await demo.change { $0.fail = .off }
      let list = try await eventually {
        try JSONValue(
          parsing: try await world.larder.get("/v1/mutations", world.device).body)
      } until: {
        $0["items"]?.array?.first?["state"] == "applied"
      }
      #expect(list["items"]?.array?.first?["state"] == "applied", "\(list)")
      #expect(demo.report["RateFilm"].executed == 1)
      let answer = try await world.submit(body, key: "1")
      #expect(answer.status == 200)
      #expect(answer.isReplay)
      #expect(answer.body["response"]?["data"]?["rateFilm"]?["myStars"] == 5)
      await world.stop()
    }

    @Test("A retry with the same key sends an expired forced mutation")
    func sameKeyRetriesAnExpiredOne() async throws {
      let world = try await SyncWorld.start(settings: "queue: {forceDeadline: 1s, probe: 1s}")
      let demo = world.larder.demo
      try await demo.change { $0.fail = .refuse }
      let late = try await world.submit(Self.forced, key: "1")
      #expect(late.status == 503, "\(late.body)")
      #expect(late.code == "not_sent")
      try await demo.change { $0.fail = .off }
      let list = try JSONValue(
        parsing: try await world.larder.get("/v1/mutations", world.device).body)
      let expired = try #require(list["items"]?.array?.first)
      #expect(expired["state"] == "expired")
      #expect(expired["reason"] == "not_sent")
      let id = try #require(expired["id"]?.string)
      // Mutations queued since then are sent; the expired one is not.
      let other = try await world.enqueue(SyncWorld.rating("f2"), key: "2")
      #expect(try await world.mutation(other, wait: 10)["state"] == "applied")
      #expect(Self.sent(world) == [other])
      let answer = try await world.submit(Self.forced, key: "1")
      #expect(answer.status == 200, "\(answer.body)")
      #expect(answer.id == id)
      #expect(Self.sent(world) == [other, id])
      await world.stop()
    }
  }
}
