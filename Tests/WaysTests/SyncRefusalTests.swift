import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Mutations that the queue refuses, and the reasons it returns.
  struct SyncRefusalTests {
    private static func post(
      _ larder: RunningLarder, _ body: String, key: String, _ device: (String, String)
    ) async throws -> (status: Int, body: JSONValue, retryAfter: String?) {
      let answer = try await larder.post(
        "/v1/mutations", body, device, SyncSendingTests.ada, ("Idempotency-Key", key))
      return (answer.status, try JSONValue(parsing: answer.body), answer["retry-after"])
    }

    @Test("A lazy change of an object with a pending deletion is refused")
    func changeAfterADeletionIsRefused() async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      _ = try await larder.request("POST", "/v1/queue/pause", headers: [device])
      let deletion = try await Self.post(
        larder, #"{"operation":"DeleteFilm","mode":"lazy","variables":{"id":"f1"}}"#, key: "a",
        device)
      #expect(deletion.status == 202, "\(deletion.body)")
      let refused = try await Self.post(
        larder, SyncSendingTests.rating("f1"), key: "b", device)
      #expect(refused.status == 409, "\(refused.body)")
      #expect(refused.body["code"] == "object_deleted")
      // A change of another object is accepted, and so is one in a mode that sends every change.
      #expect(
        try await Self.post(larder, SyncSendingTests.rating("f2"), key: "c", device).status == 202)
      #expect(
        try await Self.post(
          larder, SyncSendingTests.rating("f1", mode: "steady"), key: "d", device
        ).status == 202)
      await larder.stop()
    }

    @Test("A full queue refuses new mutations, but not replays and replacements")
    func fullQueueRefusesNewMutations() async throws {
      let larder = try await RunningLarder.start(settings: "queue: {items: 2}")
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      _ = try await larder.request("POST", "/v1/queue/pause", headers: [device])
      for film in ["f1", "f2"] {
        #expect(
          try await Self.post(larder, SyncSendingTests.rating(film), key: film, device).status
            == 202)
      }
      let refused = try await Self.post(
        larder, SyncSendingTests.rating("f3"), key: "f3", device)
      #expect(refused.status == 429, "\(refused.body)")
      #expect(refused.body["code"] == "queue_full")
      #expect(refused.retryAfter != nil)
      // Replays, and mutations that replace another, need no room.
      #expect(
        try await Self.post(larder, SyncSendingTests.rating("f2"), key: "f2", device).status == 202)
      let newer = try await Self.post(
        larder, SyncSendingTests.rating("f2", stars: 5), key: "newer", device)
      #expect(newer.status == 202)
      #expect(newer.body["supersedes"]?.string != nil)
      let list = try await larder.get("/v1/mutations?state=queued", device)
      #expect(try JSONValue(parsing: list.body)["items"]?.array?.count == 2)
      await larder.stop()
    }

    @Test("All faults of a mutation are reported in one response")
    func reportsAllFaultsAtOnce() async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      let refused = try await Self.post(
        larder,
        """
        [{"operation":"RateFlim","mode":"lazy"},
         {"operation":"RateFilm","mode":"slow","variables":{"id":"f1"},"more":1,
          "optimistic":[{"op":"create","type":"Film","id":"~1","fields":{}},
                        {"op":"merge","type":"Film","id":"f1","fields":{"year":"abc"}}]},
         {"operation":"RateFilm","mode":"force","variables":7}, 7]
        """, key: "a", device)
      #expect(refused.status == 422)
      let pointers = (refused.body["errors"]?.array ?? []).compactMap { $0["pointer"]?.string }
      #expect(
        pointers == [
          "/0/operation", "/1/more", "/1/mode", "/1/variables/stars", "/1/optimistic/0/id",
          "/1/optimistic/1/fields/year", "/2/mode", "/2/variables", "/3",
        ])
      let list = try await larder.get("/v1/mutations", device)
      #expect(try JSONValue(parsing: list.body)["items"]?.array == [])
      await larder.stop()
    }

    @Test("A mutation without a mode is lazy, and null is not a mode")
    func modeIsLazyByDefault() async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      let accepted = try await Self.post(
        larder, #"{"operation":"RateFilm","variables":{"id":"f1","stars":4}}"#, key: "a", device)
      #expect(accepted.status == 202, "\(accepted.body)")
      #expect(accepted.body["mode"] == "lazy", "\(accepted.body)")
      let refused = try await Self.post(
        larder, #"{"operation":"RateFilm","mode":null,"variables":{"id":"f1","stars":4}}"#,
        key: "b", device)
      #expect(refused.status == 422, "\(refused.body)")
      #expect(refused.body["errors"]?.array?.compactMap { $0["pointer"] } == ["/mode"])
      await larder.stop()
    }

    @Test("An unknown operation is refused and the nearest name suggested")
    func unknownOperationSuggestsTheNearest() async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      let refused = try await Self.post(
        larder, #"{"operation":"RateFlim","mode":"lazy","variables":{}}"#, key: "a", device)
      #expect(refused.status == 422)
      let fault = refused.body["errors"]?.array?.first
      #expect(fault?["pointer"] == "/operation")
      #expect(fault?["detail"]?.string?.contains("RateFilm") == true, "\(refused.body)")
      await larder.stop()
    }
  }
}
