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
      """

    private static func start() async throws -> (larder: RunningLarder, token: (String, String)) {
      let file = FileManager.default.temporaryDirectory
        .appending(path: "larder-local-\(UUID().uuidString).graphql").path
      try Data(types.utf8).write(to: URL(filePath: file))
      let larder = try await RunningLarder.start(settings: "local: \(file)")
      return (larder, ("Device-Token", try await DeviceTests.register(larder).token))
    }

    private static let json = ("Content-Type", "application/json")

    @Test func aListIsMadeChangedAndDeletedWithWhatIsInIt() async throws {
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

    @Test func everyFaultIsToldAtOnceAndStrangersAreRefused() async throws {
      let (larder, token) = try await Self.start()
      let faulty = try await larder.request(
        "POST", "/v1/entities/Favourite", headers: [token, Self.json],
        body: #"{"stars":9,"film":[],"other":1}"#)
      #expect(faulty.status == 422, "\(faulty.text)")
      let faults = try JSONValue(parsing: faulty.body)["errors"]?.array ?? []
      #expect(
        faults.compactMap { $0["pointer"]?.string } == ["/stars", "/film", "/other"])
      // What is there in a wrong way is not said to be lacking as well.
      let empty = try await larder.request(
        "POST", "/v1/entities/Favourites", headers: [token, Self.json], body: #"{"title":""}"#)
      #expect(empty.status == 422)
      #expect(
        try JSONValue(parsing: empty.body)["errors"]
          == [["pointer": "/title", "detail": "has 0 characters, at least 1"]])
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
      #expect(upstreams.status == 403)
      await larder.stop()
    }
  }
}
