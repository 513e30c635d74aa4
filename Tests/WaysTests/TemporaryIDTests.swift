import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Temporary ids: once upstream has created the entity, every read that takes an id resolves the temporary
  /// one, for that device only.
  struct TemporaryIDTests {
    private static let temporary = PendingWorld.temporary

    /// A film created under a temporary id, and its real id.
    private static func created() async throws -> (world: PendingWorld, id: String) {
      let world = try await PendingWorld.start()
      let mutation = try await world.enqueueCreation(temporary, titled: "Draft")
      #expect(try await world.settled(mutation) == "applied")
      let film = try await world.json("/v1/entities/Film/\(temporary)", as: .mine)
      let id = try #require(film["id"]?.string)
      #expect(id != temporary)
      return (world, id)
    }

    /// The content of a response, without what differs from one read to the next.
    private static func content(_ answer: RawResponse) throws -> String {
      let body = try JSONValue(parsing: answer.body)
      return (body["data"] ?? body["items"] ?? body["changes"] ?? body).canonicalText
    }

    @Test("Every read resolves the temporary id")
    func everyReadResolvesTheTemporaryID() async throws {
      let (world, id) = try await Self.created()
      for target in [
        "/v1/entities/Film/ID",
        "/v1/entities/Film/ID?view=FilmCard",
        "/v1/entities/Film?filter=id%20%3D%20%3F&arg=ID",
        "/v1/entities/Film?filter=id%20%3D%20%3Afilm&arg.film=ID",
        "/v1/entities/Film?filter=id%20%3D%20%27ID%27&section=title&order=title",
        "/v1/entities/Film?filter=id%20IN%20(%3F,%3F)&arg=f1&arg=ID",
        "/v1/entities/Film?filter=id%20BETWEEN%20%3Aa%20AND%20%3Aa&arg.a=ID",
        "/v1/entities/Film?filter=NOT%20(id%20%3C%3E%20%3F)%20AND%20year%20%3E%201900&arg=ID",
        "/v1/entities/Film/diff?filter=id%20%3D%20%3F&arg=ID",
        "/v1/changes?types=Film&filter=id%20%3D%20%3F&arg=ID",
        "/api/films/ID",
        "/v1/operations/Film?id=ID",
        "/v1/operations/MyFilm?id=ID",
      ] {
        func read(_ id: String, as reader: PendingWorld.Reader) async throws -> RawResponse {
          try await world.get(target.replacing("ID", with: id), as: reader)
        }
        let expected = try await read(id, as: .mine)
        #expect(expected.status == 200, "\(target): \(expected.text)")
        let found = try await read(Self.temporary, as: .mine)
        #expect(found.status == 200, "\(target): \(found.text)")
        #expect(try Self.content(found) == Self.content(expected), "\(target)")
        #expect(found.text.contains(id), "\(target): \(found.text)")
        let others = try await read(Self.temporary, as: .other)
        #expect(!others.text.contains("Draft"), "\(target): \(others.text)")
      }
      await world.stop()
    }

    @Test("Request bodies and counts resolve the temporary id")
    func bodiesAndCountsResolveTheTemporaryID() async throws {
      let (world, id) = try await Self.created()
      let asked = try await world.larder.request(
        "POST", "/v1/operations/Film",
        headers: world.headers(of: .mine) + [("Content-Type", "application/json")],
        body: #"{"id":"\#(Self.temporary)"}"#)
      #expect(try JSONValue(parsing: asked.body)["data"]?["film"]?["id"]?.string == id)
      for (reader, count) in [(PendingWorld.Reader.mine, "1"), (.other, "0")] {
        let head = try await world.larder.request(
          "HEAD", "/v1/entities/Film?filter=id%20%3D%20%3F&arg=\(Self.temporary)",
          headers: world.headers(of: reader))
        #expect(head["total-count"] == count)
      }
      let all = try await world.json("/v1/entities/Film?total=true", as: .mine)["total"]?.int64
      let rest = try await world.json(
        "/v1/entities/Film?total=true&filter=id%20%3C%3E%20%3F&arg=\(Self.temporary)", as: .mine)
      #expect(rest["total"]?.int64 == all.map { $0 - 1 })
      await world.stop()
    }

    @Test("Streams resolve the temporary id")
    func streamsResolveTheTemporaryID() async throws {
      let (world, id) = try await Self.created()
      let live = try await world.events(
        "/v1/operations/Film/stream?id=\(Self.temporary)", as: .mine)
      #expect(try #require(try await live.nextEvent()).data.contains("\"\(id)\""))
      let changes = try await world.events(
        "/v1/changes/stream?types=Film&filter=id%20%3D%20%3F&arg=\(Self.temporary)", as: .mine)
      let change = try #require(try await changes.nextEvent())
      #expect(try JSONValue(parsing: Array(change.data.utf8))["id"]?.string == id)
      await world.stop()
    }

    /// The observer asked before there was a real id, and gets the entity's changes under it.
    @Test("An observer by temporary id continues once the real id is known")
    func observerContinuesOnceTheIDIsKnown() async throws {
      let world = try await PendingWorld.start()
      let target = "/v1/changes?types=Film&filter=id%20%3D%20%3F&arg=\(Self.temporary)"
      let head = try await world.json(target + "&since=now", as: .mine)
      let stream = try await world.events(
        "/v1/changes/stream?since=now&types=Film&filter=id%20%3D%20%3F&arg=\(Self.temporary)",
        as: .mine)
      let mutation = try await world.enqueueCreation(Self.temporary, titled: "Draft")
      let cursor = try #require(head["cursor"]?.string)
      let first = try await world.json(target + "&since=\(cursor)", as: .mine)
      #expect(first["changes"]?[0]?["id"]?.string == Self.temporary, "\(first)")
      #expect(try await world.settled(mutation) == "applied")
      let next = try #require(first["cursor"]?.string)
      let second = try await world.json(target + "&since=\(next)", as: .mine)
      let changes = try #require(second["changes"]?.array)
      let real = try #require(changes.first { $0["op"] == "put" }?["id"]?.string, "\(second)")
      #expect(real != Self.temporary)
      let gone = changes.first { $0["op"] == "del" }
      #expect(gone?["id"]?.string == Self.temporary, "\(second)")
      var heard: Set<String> = []
      while !heard.isSuperset(of: [Self.temporary, real]) {
        let event = try #require(try await stream.nextEvent())
        guard event.event == "change" else { continue }
        if let id = try JSONValue(parsing: Array(event.data.utf8))["id"]?.string {
          heard.insert(id)
        }
      }
      #expect(heard == [Self.temporary, real])
      await world.stop()
    }
  }
}
