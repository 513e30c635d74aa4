import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Optimistic updates that an operation file declares.
  struct DeclaredOptimisticTests {
    private static let operations = [
      "films": """
      query Film($id: ID!) @route(path: "/films/{id}") @cache(maxAge: 600, scope: PUBLIC) {
        film(id: $id) { id title year myStars }
      }
      mutation RateFilm($id: ID!, $stars: Int!) @sync(
        object: "Film:$id", repeatable: true, optimistic: "merge Film:$id {myStars: $stars}"
      ) { rateFilm(id: $id, stars: $stars) { id myStars } }
      mutation UpdateFilm($id: ID!, $patch: FilmPatch!) @sync(
        object: "Film:$id", repeatable: true,
        optimistic: ["merge Film:$id {title: $patch.title, year: $patch.year}"]
      ) { updateFilm(id: $id, patch: $patch) { id title year } }
      mutation DeleteFilm($id: ID!) @sync(object: "Film:$id", optimistic: "delete Film:$id") {
        deleteFilm(id: $id)
      }
      """
    ]

    private static func film(_ world: SyncWorld, _ id: String) async throws -> JSONValue {
      try JSONValue(
        parsing: try await world.larder.get("/v1/entities/Film/\(id)", world.device).body)
    }

    @Test("A declared update shows until its mutation ends, without being in the request")
    func declaredUpdateShows() async throws {
      let world = try await SyncWorld.start(operations: Self.operations)
      for id in ["f1", "f2", "f3"] { _ = try await world.larder.get("/api/films/\(id)") }
      let before = try await Self.film(world, "f1")
      _ = try await world.larder.request("POST", "/v1/queue/pause", headers: [world.device])
      let rating = try await world.enqueue(SyncWorld.rating("f1", stars: 4), key: "k1")
      let shown = try await Self.film(world, "f1")
      #expect(shown["myStars"] == 4, "\(shown)")
      #expect(shown["_pending"] == [.string(rating)])
      // A variable that is not given leaves its field alone.
      _ = try await world.enqueue(SyncWorld.renaming("f2", "Mine"), key: "k2")
      let renamed = try await Self.film(world, "f2")
      #expect(renamed["title"] == "Mine" && renamed["year"] != nil && renamed["year"] != .null)
      _ = try await world.enqueue(
        #"{"operation":"DeleteFilm","mode":"lazy","variables":{"id":"f3"}}"#, key: "k3")
      #expect(try await world.larder.get("/v1/entities/Film/f3", world.device).status == 404)
      #expect(try await world.larder.get("/v1/entities/Film/f3").status == 200)
      let cancelled = try await world.larder.request(
        "DELETE", "/v1/mutations/\(rating)", headers: [world.device])
      #expect(cancelled.status == 200, "\(cancelled.text)")
      let after = try await Self.film(world, "f1")
      #expect(after["myStars"] == before["myStars"] && after["_pending"] == nil)
      await world.stop()
    }

    @Test("A request's own update takes the declared one's place, an empty one too")
    func requestOverridesDeclaration() async throws {
      let world = try await SyncWorld.start(operations: Self.operations)
      for id in ["f1", "f2"] { _ = try await world.larder.get("/api/films/\(id)") }
      let before = try await Self.film(world, "f1")
      _ = try await world.larder.request("POST", "/v1/queue/pause", headers: [world.device])
      _ = try await world.enqueue(
        SyncWorld.rating("f1", more: #","optimistic":[]"#), key: "k1")
      let unchanged = try await Self.film(world, "f1")
      #expect(unchanged["myStars"] == before["myStars"] && unchanged["_pending"] == nil)
      let own = #","optimistic":[{"op":"merge","type":"Film","id":"f2","fields":{"title":"Own"}}]"#
      _ = try await world.enqueue(SyncWorld.rating("f2", more: own), key: "k2")
      let film = try await Self.film(world, "f2")
      #expect(film["title"] == "Own" && film["myStars"] != 4)
      await world.stop()
    }
  }
}
