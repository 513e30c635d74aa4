import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Queries for one entity that are answered from the store while upstream is away.
  struct LookupTests {
    private static let operations = """
      query Films @route(path: "/films") @cache(maxAge: 60, staleIfError: 86400, scope: PUBLIC) {
        films(limit: 5) { id title year }
      }
      query Film($id: ID!) @route(path: "/films/{id}")
      @cache(maxAge: 60, staleIfError: 86400, scope: PUBLIC, lookup: "Film:$id") {
        film(id: $id) { id title }
      }
      query FilmPage($id: ID!) @route(path: "/pages/{id}")
      @cache(maxAge: 60, staleIfError: 86400, scope: PUBLIC, lookup: "Film:$id") {
        film(id: $id) { id title synopsis }
      }
      """

    @Test(
      "A film that only a list fetched is read while upstream is away, warm and after a restart",
      arguments: [false, true])
    func listedFilmIsRead(restarts: Bool) async throws {
      let larder = try await RunningLarder.start(operations: ["films.graphql": Self.operations])
      let list = try JSONValue(parsing: try await larder.get("/api/films").body)
      let film = try #require(list["data"]?["films"]?[0])
      let id = try #require(film["id"]?.string)
      if restarts { await larder.stopService() }
      try await larder.demo.change { $0.fail = .refuse }
      if restarts { try await larder.startService() }

      let found = try await larder.get("/api/films/\(id)")
      #expect(found.status == 200, "\(found.text)")
      #expect(found.cacheStatus == "hit; detail=lookup")
      #expect(found["cache-control"] == "public, no-cache")
      #expect(found["age"] != nil)
      let read = try JSONValue(parsing: found.body)["data"]?["film"]
      #expect(read?["title"] == film["title"])
      let tag = try #require(found["etag"])
      let unchanged = try await larder.get("/api/films/\(id)", ("If-None-Match", tag))
      #expect(unchanged.status == 304)

      let variables = "variables=%7B%22id%22%3A%22\(id)%22%7D"
      let client = try await larder.get(
        "/v1/graphql?operationName=Film&\(variables)", GraphQLTests.json)
      #expect(client.body == found.body, "\(client.text)")
      #expect(client.cacheStatus == "hit; detail=lookup")
      // A film whose synopsis was never fetched, and one that is not stored.
      #expect(try await larder.get("/api/pages/\(id)").status == 503)
      #expect(try await larder.get("/api/films/none").status == 503)

      try await larder.demo.change { $0.fail = .off }
      let back = try await eventually {
        try await larder.get("/api/films/\(id)")
      } until: {
        $0.cacheStatus?.hasPrefix("fwd=") == true
      }
      #expect(back.status == 200)
      #expect(back["etag"] == tag)
      #expect(back.body == found.body)
      await larder.stop()
    }
  }
}
