import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  struct LocalTypeTests {
    private static let types = """
      type Favourites @local {
        id: ID!
        title: String! @length(min: 1, max: 40)
        films: [Favourite!]! @inverse(field: "list", onDelete: CASCADE)
      }
      type Favourite @local {
        id: ID!
        stars: Int @range(min: 1, max: 5) @default(value: 3)
        film: Film
        list: Favourites! @inverse(field: "films")
      }
      type Visit @local { id: ID!  at: Date  place: String }
      fragment VisitCard on Visit { id place }
      """

    private static func start() async throws -> (larder: RunningLarder, token: (String, String)) {
      let larder = try await RunningLarder.start(localTypes: types)
      return (larder, ("Device-Token", try await DeviceTests.register(larder).token))
    }

    private static let json = ("Content-Type", "application/json")

    @Test("Entities are created and changed, and a delete cascades to their parts")
    func deletesCascade() async throws {
      let (larder, token) = try await Self.start()
      let made = try await larder.request(
        "POST", "/v1/entities/Favourites", headers: [token, Self.json], body: #"{"title":"Best"}"#)
      #expect(made.status == 201, "\(made.text)")
      let list = try JSONValue(parsing: made.body)
      let id = try #require(list["id"]?.string)
      #expect(made["location"] == "/v1/entities/Favourites/\(id)")
      let again = try await larder.request(
        "POST", "/v1/entities/Favourites", headers: [token, Self.json],
        body: #"{"id":"\#(id)","title":"Best"}"#)
      #expect(again.status == 409)
      let many = try await larder.request(
        "POST", "/v1/entities", headers: [token, Self.json],
        body: """
          [{"op":"insert","type":"Favourite","id":"a","data":{"film":"9","list":"\(id)"}},
           {"op":"insertOrUpdate","type":"Favourite","id":"b","data":{"stars":5,"list":"\(id)"}}]
          """)
      #expect(many.status == 200, "\(many.text)")
      let first = try JSONValue(parsing: many.body)["items"]?[0]
      #expect(first?["stars"] == 3)
      #expect(first?["film"] == "9")
      let revision = try #require(first?["_rev"]?.string)
      let patch = try await larder.request(
        "PATCH", "/v1/entities/Favourite/a",
        headers: [
          token, ("Content-Type", "application/merge-patch+json"), ("If-Match", "\"\(revision)\""),
        ], body: #"{"stars":1}"#)
      #expect(patch.status == 200, "\(patch.text)")
      let late = try await larder.request(
        "DELETE", "/v1/entities/Favourite/a", headers: [token, ("If-Match", "\"\(revision)\"")])
      #expect(late.status == 412)
      let gone = try await larder.request(
        "DELETE", "/v1/entities/Favourites/\(id)", headers: [token])
      #expect(gone.status == 204)
      let missing = try await larder.request(
        "PATCH", "/v1/entities/Favourite/a", headers: [token, Self.json], body: #"{"stars":2}"#)
      #expect(missing.status == 404)
      await larder.stop()
    }

    @Test("All faults of a write are reported at once, and other callers are refused")
    func reportsAllFaultsAndRefusesStrangers() async throws {
      let (larder, token) = try await Self.start()
      let faulty = try await larder.request(
        "POST", "/v1/entities/Favourite", headers: [token, Self.json],
        body: #"{"stars":9,"film":[],"other":1}"#)
      #expect(faulty.status == 422, "\(faulty.text)")
      let faults = try JSONValue(parsing: faulty.body)["errors"]?.array ?? []
      #expect(
        faults.compactMap { $0["pointer"]?.string } == ["/stars", "/film", "/other"])
      // A member with an invalid value is not reported as missing as well.
      let empty = try await larder.request(
        "POST", "/v1/entities/Favourites", headers: [token, Self.json], body: #"{"title":""}"#)
      #expect(empty.status == 422)
      #expect(
        try JSONValue(parsing: empty.body)["errors"]
          == [["pointer": "/title", "detail": "has 0 characters, the minimum is 1"]])
      let null = try await larder.request(
        "POST", "/v1/entities/Favourites", headers: [token, Self.json], body: #"{"title":null}"#)
      #expect(
        try JSONValue(parsing: null.body)["errors"]
          == [["pointer": "/title", "detail": "must not be null"]])
      let list = try await larder.request(
        "POST", "/v1/entities", headers: [token, Self.json],
        body: """
          [{"op":"insert","type":"Favourites","data":{"title":""}},
           {"op":"upsert","type":"Favourites","data":{}},
           {"op":"delete","type":"Favourite","filter":"size > 1"},
           {"op":"insert","type":"Favourite","data":{"stars":0}}]
          """)
      #expect(list.status == 400, "\(list.text)")
      #expect(
        try JSONValue(parsing: list.body)["errors"]?.array?.compactMap { $0["pointer"]?.string }
          == ["/1/op", "/2/filter", "/0/data/title", "/3/data/stars"])
      let form = try await larder.request(
        "POST", "/v1/entities/Favourites",
        headers: [token, ("Content-Type", "text/plain")], body: #"{"title":"Best"}"#)
      #expect(form.status == 415)
      let stranger = try await larder.request(
        "POST", "/v1/entities/Favourites", headers: [Self.json], body: #"{"title":"Best"}"#)
      #expect(stranger.status == 401)
      let upstreams = try await larder.request(
        "PUT", "/v1/entities/Film/9", headers: [token, Self.json], body: #"{"title":"Mine"}"#)
      #expect(upstreams.status == 405)
      await larder.stop()
    }

    /// The loop of RFC 9110, section 13.1.1: read, change with the tag that was read, use the tag of the
    /// response.
    @Test(
      "The entity tag of a read is a valid If-Match of a write",
      arguments: ["", "?view=VisitCard"], ["identity", "gzip"])
    func readTagIsAWriteCondition(view: String, coding: String) async throws {
      let (larder, token) = try await Self.start()
      let target = "/v1/entities/Visit/v"
      let long = String(repeating: "a", count: 400)
      let made = try await larder.request(
        "PUT", target, headers: [token, Self.json],
        body: #"{"at":"2026-01-01T00:00:00Z","place":"\#(long)"}"#)
      #expect(made.status == 201, "\(made.text)")
      #expect(made["etag"] == (try await larder.get(target, token))["etag"])
      var tag = try #require(
        try await larder.get(target + view, token, ("Accept-Encoding", coding))["etag"])
      for number in 0..<3 {
        let patched = try await larder.request(
          "PATCH", target, headers: [token, Self.json, ("If-Match", tag)],
          body: #"{"place":"\#(number)"}"#)
        #expect(patched.status == 200, "\(patched.text)")
        let stale = try await larder.request(
          "PATCH", target, headers: [token, Self.json, ("If-Match", "\(tag), \"other\"")],
          body: #"{"place":"lost"}"#)
        #expect(stale.status == 412)
        tag = try #require(patched["etag"])
      }
      let revision = try #require(
        try JSONValue(parsing: try await larder.get(target, token).body)["_rev"]?.string)
      for condition in [tag, revision] {
        let listed = try await larder.request(
          "POST", "/v1/entities", headers: [token, Self.json],
          body: JSONValue.array([
            [
              "op": "update", "type": "Visit", "id": "v", "data": [:],
              "ifMatch": .string(condition),
            ]
          ]).text)
        #expect(listed.status == 200, "\(condition): \(listed.text)")
      }
      let gone = try await larder.request(
        "DELETE", target, headers: [token, ("If-Match", "W/\(tag)")])
      #expect(gone.status == 412)
      #expect(
        try await larder.request("DELETE", target, headers: [token, ("If-Match", tag)]).status
          == 204)
      await larder.stop()
    }

    @Test("Dates have three fraction digits in every read")
    func datesHaveMilliseconds() async throws {
      let (larder, token) = try await Self.start()
      let cursor = try #require(
        try JSONValue(
          parsing: try await larder.get("/v1/changes?since=now&types=Visit", token).body)[
            "cursor"]?.string)
      for (id, written, told) in [
        ("a", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"),
        ("b", "2026-01-01T00:00:00.1+00:00", "2026-01-01T00:00:00.100Z"),
        ("c", "2026-01-01T00:00:00.123456Z", "2026-01-01T00:00:00.123456Z"),
        ("d", "2026-01-01", "2026-01-01"),
      ] {
        let made = try await larder.request(
          "POST", "/v1/entities/Visit", headers: [token, Self.json],
          body: #"{"id":"\#(id)","at":"\#(written)"}"#)
        #expect(try JSONValue(parsing: made.body)["at"]?.string == told, "\(made.text)")
        let read = try await larder.get("/v1/entities/Visit/\(id)", token)
        #expect(try JSONValue(parsing: read.body)["at"]?.string == told)
        // A date that is returned can be used in a filter and written back.
        let filter = "/v1/entities/Visit?filter=at%20%3D%20:at&arg.at=\(told)"
        let found = try JSONValue(parsing: try await larder.get(filter, token).body)["items"]
        #expect(found?.array?.map { $0["id"]?.string } == [id], "\(told)")
        let again = try await larder.request(
          "PATCH", "/v1/entities/Visit/\(id)", headers: [token, Self.json],
          body: #"{"at":"\#(told)"}"#)
        #expect(again["etag"] == read["etag"], "\(again.text)")
      }
      let changes = try JSONValue(
        parsing: try await larder.get("/v1/changes?types=Visit&since=\(cursor)", token).body)
      #expect(
        changes["changes"]?.array?.compactMap { $0["data"]?["at"]?.string }.sorted() == [
          "2026-01-01", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.100Z",
          "2026-01-01T00:00:00.123456Z",
        ])
      await larder.stop()
    }
  }
}
