import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// The queue as a phone uses it: enqueue mutations and disconnect.
  struct SyncQueueTests {
    private static let ada = ("Authorization", "Bearer user-ada")

    private static func lazyRating(_ film: String = "f1", stars: Int = 4) -> String {
      #"{"operation":"RateFilm","mode":"lazy","variables":{"id":"\#(film)","stars":\#(stars)}}"#
    }

    private static func state(
      of answer: RawResponse, _ larder: RunningLarder, _ device: (String, String)
    ) async throws -> JSONValue {
      let id = try #require(try JSONValue(parsing: answer.body)["id"]?.string)
      return try JSONValue(
        parsing: try await larder.get("/v1/mutations/\(id)?wait=10", device, ada).body)
    }

    @Test("A queued mutation reaches upstream without further requests")
    func queuedMutationReachesUpstream() async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      let answer = try await larder.post(
        "/v1/mutations", Self.lazyRating(), device, Self.ada, ("Idempotency-Key", "k1"))
      #expect(answer.status == 202, "\(answer.text)")
      let body = try JSONValue(parsing: answer.body)
      #expect(body["mode"] == "lazy")
      #expect(body["cursor"]?.string != nil)
      let told = try await Self.state(of: answer, larder, device)
      #expect(told["state"] == "applied", "\(told)")
      #expect(told["response"]?["data"]?["rateFilm"]?["myStars"] == 4)
      let sent = larder.demo.report.recent.filter { $0.operationName == "RateFilm" }
      #expect(sent.count == 1)
      #expect(sent.first?["idempotency-key"] == body["id"]?.string)
      #expect(sent.first?["authorization"] == "Bearer user-ada")
      await larder.stop()
    }

    @Test("An accepted mutation is sent once after a restart")
    func acceptedMutationIsSentOnceAfterARestart() async throws {
      let larder = try await RunningLarder.start(settings: "queue: {probe: 1s}")
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      try await larder.demo.change { $0.fail = .status(503) }
      let answer = try await larder.post(
        "/v1/mutations", Self.lazyRating(), device, Self.ada, ("Idempotency-Key", "k1"))
      #expect(answer.status == 202, "\(answer.text)")
      await larder.stopService()
      try await larder.demo.change { $0.fail = .off }
      try await larder.startService()
      let told = try await Self.state(of: answer, larder, device)
      #expect(told["state"] == "applied", "\(told)")
      #expect(larder.demo.report["RateFilm"].executed == 1)
      await larder.stop()
    }

    @Test("The same key is the same mutation")
    func sameKeyIsTheSameMutation() async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      let key = ("Idempotency-Key", "\"k1\"")
      let first = try await larder.post(
        "/v1/mutations", Self.lazyRating(), device, Self.ada, key)
      let second = try await larder.post(
        "/v1/mutations", Self.lazyRating(), device, Self.ada, key)
      #expect(second.status == 202)
      #expect(second["idempotency-replayed"] == "true")
      #expect(first["idempotency-replayed"] == nil)
      #expect(
        try JSONValue(parsing: first.body)["id"] == JSONValue(parsing: second.body)["id"])
      let other = try await larder.post(
        "/v1/mutations", Self.lazyRating(stars: 1), device, Self.ada, key)
      #expect(other.status == 422)
      #expect(try JSONValue(parsing: other.body)["code"] == "idempotency_key_reused")
      await larder.stop()
    }

    @Test(
      arguments: [
        (nil, lazyRating(), 400, "idempotency_key_missing"),
        ("a b", lazyRating(), 400, "idempotency_key_malformed"),
        ("k", "{", 400, "malformed_request"),
        ("k", #"{"operation":"RateFilm"}"#, 422, "invalid_mutation"),
        (
          "k", #"{"operation":"Film","mode":"lazy","variables":{"id":"1"}}"#, 422,
          "invalid_mutation"
        ),
        (
          "k", #"{"operation":"RateFilm","mode":"lazy","variables":{"id":"f1"}}"#, 422,
          "invalid_mutation"
        ),
        (
          "k",
          #"{"operation":"RateFilm","mode":"lazy","variables":{"id":"f1","stars":1},"optimistic":[{"op":"merge","type":"Film","id":"f1","fields":{"nonsense":1}}]}"#,
          422, "invalid_mutation"
        ),
        (
          "k",
          #"{"operation":"RateFilm","mode":"force","ahead":"all","variables":{"id":"f1","stars":1}}"#,
          422, "invalid_mutation"
        ),
        (
          "k",
          #"{"operation":"RateFilm","mode":"lazy","variables":{"id":"\#(String(repeating: "x", count: 270_000))","stars":1}}"#,
          413, "mutation_too_large"
        ),
      ] as [(String?, String, Int, String)])
    func badInputIsStoredNowhere(
      key: String?, body: String, status: Int, code: String
    ) async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      let headers = [device, Self.ada] + (key.map { [("Idempotency-Key", $0)] } ?? [])
      let answer = try await larder.request(
        "POST", "/v1/mutations", headers: headers, body: body)
      #expect(answer.status == status, "\(answer.text)")
      #expect(try JSONValue(parsing: answer.body)["code"]?.string == code)
      let list = try JSONValue(parsing: try await larder.get("/v1/mutations", device).body)
      #expect(list["items"] == [])
      await larder.stop()
    }

    @Test("All faults of a list of mutations are reported by index")
    func listFaultsAreReportedByIndex() async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      let refused = try await larder.post(
        "/v1/mutations", #"[\#(Self.lazyRating()),{"operation":"Nope","mode":"lazy"}]"#, device,
        Self.ada, ("Idempotency-Key", "k"))
      #expect(refused.status == 422)
      let faults = try JSONValue(parsing: refused.body)["errors"]?.array ?? []
      #expect(faults.compactMap { $0["pointer"]?.string } == ["/1/operation"])
      let taken = try await larder.post(
        "/v1/mutations", "[\(Self.lazyRating()),\(Self.lazyRating("f2"))]", device, Self.ada,
        ("Idempotency-Key", "k"))
      #expect(taken.status == 202, "\(taken.text)")
      #expect(try JSONValue(parsing: taken.body).array?.count == 2)
      await larder.stop()
    }

    @Test("The queue belongs to a device")
    func queueBelongsToADevice() async throws {
      let larder = try await RunningLarder.start()
      let none = try await larder.post(
        "/v1/mutations", Self.lazyRating(), ("Idempotency-Key", "k"))
      #expect(none.status == 401)
      let one = ("Device-Token", try await DeviceTests.register(larder).token)
      let other = ("Device-Token", try await DeviceTests.register(larder).token)
      let answer = try await larder.post(
        "/v1/mutations", Self.lazyRating(), one, Self.ada, ("Idempotency-Key", "k"))
      let id = try #require(try JSONValue(parsing: answer.body)["id"]?.string)
      let foreign = try await larder.get("/v1/mutations/\(id)", other)
      #expect(foreign.status == 404)
      #expect(try JSONValue(parsing: foreign.body)["code"] == "mutation_not_found")
      let discard = try await larder.request(
        "POST", "/v1/mutations/\(id)/discard", headers: [other])
      #expect(discard.status == 404)
      await larder.stop()
    }

    @Test("A paused queue waits, and a mutation that was never sent can be withdrawn")
    func pausedQueueWaits() async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      let paused = try await larder.request("POST", "/v1/queue/pause", headers: [device])
      #expect(try JSONValue(parsing: paused.body)["state"] == "paused")
      let answer = try await larder.post(
        "/v1/mutations", Self.lazyRating(), device, Self.ada, ("Idempotency-Key", "k"))
      let id = try #require(try JSONValue(parsing: answer.body)["id"]?.string)
      let queue = try JSONValue(parsing: try await larder.get("/v1/queue", device).body)
      #expect(queue == ["pending": 1, "parked": 0, "state": "paused"])
      let cancelled = try await larder.request("DELETE", "/v1/mutations/\(id)", headers: [device])
      #expect(cancelled.status == 200, "\(cancelled.text)")
      #expect(try JSONValue(parsing: cancelled.body)["state"] == "cancelled")
      let again = try await larder.request("DELETE", "/v1/mutations/\(id)", headers: [device])
      #expect(again.status == 409)
      let second = try await larder.post(
        "/v1/mutations", Self.lazyRating("f2"), device, Self.ada, ("Idempotency-Key", "k2"))
      #expect(larder.demo.report["RateFilm"].requests == 0)
      _ = try await larder.request("POST", "/v1/queue/resume", headers: [device])
      #expect(try await Self.state(of: second, larder, device)["state"] == "applied")
      await larder.stop()
    }

    @Test("A forced mutation returns upstream's response")
    func forcedMutationReturnsUpstreamsResponse() async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      let forced = try await larder.post(
        "/v1/mutations",
        #"{"operation":"RateFilm","mode":"force","variables":{"id":"f1","stars":5}}"#, device,
        Self.ada, ("Idempotency-Key", "k"))
      #expect(forced.status == 200, "\(forced.text)")
      let body = try JSONValue(parsing: forced.body)
      #expect(body["state"] == "applied")
      #expect(body["promoted"] == [])
      #expect(body["response"]?["data"]?["rateFilm"]?["myStars"] == 5)
      let named = try await larder.post(
        "/v1/operations/RateFilm", #"{"id":"f1","stars":3}"#, device, Self.ada)
      #expect(named.status == 200, "\(named.text)")
      #expect(
        try JSONValue(parsing: named.body)["data"]?["rateFilm"]?["myStars"] == 3)
      await larder.stop()
    }

    @Test("A forced mutation that cannot be sent in time expires")
    func unsentForcedMutationExpires() async throws {
      let larder = try await RunningLarder.start(settings: "queue: {forceDeadline: 1s}")
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      await larder.demo.stop()
      let forced = try await larder.post(
        "/v1/mutations",
        #"{"operation":"RateFilm","mode":"force","variables":{"id":"f1","stars":5}}"#, device,
        Self.ada, ("Idempotency-Key", "k"))
      #expect(forced.status == 503, "\(forced.text)")
      let body = try JSONValue(parsing: forced.body)
      #expect(body["code"] == "not_sent")
      #expect(body["retry"] == "same-key")
      await larder.stopService()
    }

    @Test("Refused mutations are reported in the change log")
    func refusedMutationsAreInTheChangeLog() async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      let start = try JSONValue(
        parsing: try await larder.get("/v1/changes?since=now", device, Self.ada).body)
      let cursor = try #require(start["cursor"]?.string)
      #expect(start["queue"] == ["pending": 0, "parked": 0, "state": "running"])
      try await larder.demo.change { $0.fail = .graphQLErrors }
      let answer = try await larder.post(
        "/v1/mutations", Self.lazyRating(), device, Self.ada, ("Idempotency-Key", "k"))
      #expect(try await Self.state(of: answer, larder, device)["state"] == "rejected")
      let page = try JSONValue(
        parsing: try await larder.get("/v1/changes?since=\(cursor)", device, Self.ada).body)
      let outcome = page["changes"]?.array?.first { $0["type"] == "$mutation" }
      #expect(outcome?["data"]?["state"] == "rejected", "\(page)")
      #expect(outcome?["data"]?["problem"]?["code"] == "upstream_rejected")
      await larder.stop()
    }

    @Test("An optimistic update shows to its device at once")
    func optimisticUpdateShowsAtOnce() async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      _ = try await larder.get("/api/films/f1")
      let before = try JSONValue(parsing: try await larder.get("/v1/entities/Film/f1").body)
      _ = try await larder.request("POST", "/v1/queue/pause", headers: [device])
      let answer = try await larder.post(
        "/v1/mutations",
        """
        {"operation":"UpdateFilm","mode":"lazy","variables":{"id":"f1","patch":{"title":"Mine"}},\
        "optimistic":[{"op":"merge","type":"Film","id":"f1","fields":{"title":"Mine"}}]}
        """, device, Self.ada, ("Idempotency-Key", "k"))
      #expect(answer.status == 202, "\(answer.text)")
      let id = try #require(try JSONValue(parsing: answer.body)["id"])
      let seen = try JSONValue(
        parsing: try await larder.get("/v1/entities/Film/f1", device, Self.ada).body)
      #expect(seen["title"] == "Mine", "\(seen)")
      #expect(seen["_pending"] == .array([id]))
      let others = try JSONValue(parsing: try await larder.get("/v1/entities/Film/f1").body)
      #expect(others == before)
      let filtered = try JSONValue(
        parsing: try await larder.get(
          "/v1/entities/Film?filter=title%20=%20:t&arg.t=Mine&total=true", device, Self.ada
        ).body)
      #expect(filtered["total"] == 1)
      _ = try await larder.request(
        "DELETE", "/v1/mutations/\(id.string ?? "")", headers: [device])
      let after = try JSONValue(
        parsing: try await larder.get("/v1/entities/Film/f1", device, Self.ada).body)
      #expect(after["title"] == before["title"])
      #expect(after["_pending"] == nil)
      await larder.stop()
    }
  }
}
