import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// List diffs of operations, for collection views that keep a copy.
  struct ListDiffTests {
    private static let target = "/v1/operations/Films/diff?limit=5"

    private static func object(_ answer: RawResponse) throws -> JSONValue {
      #expect(answer.status == 200, "\(answer.text)")
      return try JSONValue(parsing: answer.body)
    }

    @Test("A diff turns the earlier list into the current one")
    func diffsTwoLists() async throws {
      let larder = try await RunningLarder.start()
      let first = try await larder.get(Self.target)
      let full = try Self.object(first)
      #expect(full["kind"] == "full")
      #expect(full["count"]?.canonicalText == "5")
      #expect(first["cache-control"] == "no-store")
      let tag = try #require(first["etag"])
      #expect(full["etag"]?.string == tag)
      let from = "&from=%22\(tag.dropFirst().dropLast())%22"
      #expect(try await larder.get(Self.target + from).status == 304)

      let film = try #require(full["items"]?.array?[2]["id"]?.string)
      let renamed = try await larder.post(
        "/v1/operations/UpdateFilm", #"{"id":"\#(film)","patch":{"synopsis":"Other"}}"#)
      #expect(renamed.status == 200, "\(renamed.text)")
      let updated = try await larder.post(
        "/v1/operations/UpdateFilm", #"{"id":"\#(film)","patch":{"title":"Renamed"}}"#)
      #expect(updated.status == 200, "\(updated.text)")
      let diff = try Self.object(
        try await larder.get(Self.target + from, ("Cache-Control", "max-stale")))
      #expect(diff["kind"] == "diff")
      #expect(diff["from"]?.string == tag)
      #expect(diff["updates"]?.array?.count == 1)
      #expect(diff["updates"]?.array?.first?["id"]?.string == "Film/\(film)")
      #expect(diff["updates"]?.array?.first?["old"]?.canonicalText == "2")
      #expect(diff["entities"]?["Film/\(film)"]?["title"] == "Renamed")
      await larder.stop()
    }

    @Test("A list that the client submits needs no stored base")
    func submittedListNeedsNoMemory() async throws {
      let larder = try await RunningLarder.start()
      let full = try Self.object(try await larder.get(Self.target))
      let items = try #require(full["items"]?.array)
      var have = items.map { item -> JSONValue in
        [.string("Film/\(item["id"]?.string ?? "")"), item["_rev"] ?? .null]
      }
      have.removeLast()
      have.insert(["Film/gone", "r"], at: 0)
      let body: JSONValue = ["have": .array(have)]
      let diff = try Self.object(
        try await larder.post(Self.target, String(decoding: body.bytes, as: UTF8.self)))
      #expect(diff["kind"] == "diff")
      #expect(diff["deletes"]?.canonicalText == "[0]")
      #expect(diff["inserts"]?.array?.first?["index"]?.canonicalText == "4")
      #expect(diff["updates"]?.canonicalText == "[]")
      #expect(try await larder.post(Self.target, #"{"have":[1]}"#).status == 400)
      await larder.stop()
    }

    @Test("An unknown base gets the whole list")
    func anUnknownBaseGetsTheWholeList() async throws {
      let larder = try await RunningLarder.start()
      let answer = try Self.object(try await larder.get(Self.target + "&from=%22unknown%22"))
      #expect(answer["kind"] == "full")
      #expect(try await larder.get("/v1/operations/Film/diff?id=f1").status != 500)
      #expect(try await larder.get("/v1/operations/UpdateFilm/diff").status == 400)
      await larder.stop()
    }

    private static let operations = [
      "films": """
      query Cached @cache(maxAge: 60, scope: PUBLIC) { films(limit: 5) { id title } }
      query Plain @cache(scope: PUBLIC) { films(limit: 5) { id title } }
      mutation Rename($id: ID!, $patch: FilmPatch!) { updateFilm(id: $id, patch: $patch) { id title } }
      """
    ]

    private static func opaque(_ tag: String) -> String { String(tag.dropFirst().dropLast()) }

    /// First with nothing changed, then with one change.
    @Test(
      "The entity tag of a response is a base, however the response was made",
      arguments: ["Cached", "Plain"], ["miss", "hit", "gzip", "stream"])
    func everyResponseTagIsABase(operation: String, way: String) async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      let target = "/v1/operations/\(operation)"
      if way == "hit" { _ = try await larder.get(target, device) }
      let tag: String
      if way == "stream" {
        let events = try await EventClient.open(
          port: larder.port, "\(target)/stream", headers: [device])
        tag = try #require(try await events.nextEvent()?.id)
      } else {
        let coding = ("Accept-Encoding", way == "gzip" ? "gzip" : "identity")
        tag = Self.opaque(try #require(try await larder.get(target, device, coding)["etag"]))
      }
      let from = "\(target)/diff?from=%22\(tag)%22"
      let same = try await larder.get(from, device)
      #expect(same.status == 304, "\(same.text)")
      let film = try #require(
        try JSONValue(parsing: try await larder.get(target, device).body)["data"]?["films"]?[2]?[
          "id"]?.string)
      let renamed = try await larder.post(
        "/v1/operations/Rename", #"{"id":"\#(film)","patch":{"title":"Other"}}"#)
      #expect(renamed.status == 200, "\(renamed.text)")
      let diff = try Self.object(try await larder.get(from, device))
      #expect(diff["kind"] == "diff", "\(diff)")
      #expect(diff["updates"]?.array?.count == 1)
      await larder.stop()
    }

    /// For callers without a device no earlier list is kept; the current one needs none.
    @Test("The tag of the current list needs no stored base")
    func currentTagNeedsNoMemory() async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      let tag = Self.opaque(
        try #require(try await larder.get("/v1/operations/Cached")["etag"]))
      let same = try await larder.get("/v1/operations/Cached/diff?from=%22\(tag)%22")
      #expect(same.status == 304, "\(same.text)")
      await larder.stop()
    }
  }
}
