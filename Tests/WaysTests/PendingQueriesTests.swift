import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Filters, orders, sections, counts, search, relationships and views with optimistic updates.
  struct PendingQueriesTests {
    private static let words = "zzqx%20quince"

    @Test("Search finds optimistic text and not the text that it replaces")
    func searchUsesOptimisticText() async throws {
      let world = try await PendingWorld.start()
      let film = try await world.json("/v1/entities/Film/f1", as: .anonymous)
      let words = try #require(film["title"]?.string).utf8.map { byte in
        "%" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
      }
      let title = words.joined()
      let old = "/v1/search?q=%22\(title)%22&types=Film"
      let new = "/v1/search?q=\(Self.words)&types=Film"
      #expect(try await world.ids(old, as: .mine).contains("f1"))
      let change = try await world.enqueueTitle("Zzqx the Quince", of: "f1")
      _ = try await world.enqueueCreation(PendingWorld.temporary, titled: "Zzqx and Quince")
      let found = try await world.items(new, as: .mine)
      #expect(
        Set(found.compactMap { $0["id"]?.string }) == ["f1", PendingWorld.temporary], "\(found)")
      let hit = try #require(found.first { $0["id"] == "f1" })
      #expect(hit["entity"]?["title"] == "Zzqx the Quince")
      #expect(hit["entity"]?["_pending"] == [.string(change)])
      #expect(hit["snippet"]?.string?.lowercased().contains("quince") == true, "\(hit)")
      #expect(try await !world.ids(old, as: .mine).contains("f1"))
      for reader in [PendingWorld.Reader.other, .anonymous] {
        #expect(try await world.ids(new, as: reader) == [])
        #expect(try await world.ids(old, as: reader).contains("f1"))
      }
      let deletion = try await world.enqueueDeletion(of: "f1")
      #expect(try await world.ids(new, as: .mine) == [PendingWorld.temporary])
      try await world.takeBack(deletion)
      try await world.takeBack(change)
      #expect(try await world.ids(old, as: .mine).contains("f1"))
      await world.stop()
    }

    @Test("Collections, counts, sections and orders use optimistic values")
    func collectionsUseOptimisticValues() async throws {
      let world = try await PendingWorld.start()
      let count = try await world.json("/v1/entities/Film?total=true", as: .anonymous)["total"]?
        .int64
      let total = try #require(count)
      _ = try await world.enqueueUpdate("f1", #"{"year":1066}"#, patch: #"{"year":1066}"#)
      _ = try await world.enqueueDeletion(of: "f2")
      _ = try await world.enqueueCreation(PendingWorld.temporary, titled: "Draft")
      let page = try await world.json(
        "/v1/entities/Film?order=year&section=year&total=true&limit=2", as: .mine)
      #expect(page["total"]?.int64 == total)
      #expect(page["items"]?[0]?["id"] == "f1")
      #expect(page["sections"]?[0]?["name"] == "1066", "\(page["sections"] ?? .null)")
      #expect(page["sections"]?[0]?["count"]?.int64 == 1)
      let sections = try #require(page["sections"]?.array)
      #expect(sections.compactMap { $0["count"]?.int64 }.reduce(0, +) == total)
      let head = try await world.larder.request(
        "HEAD", "/v1/entities/Film?filter=year%20%3D%201066", headers: world.headers(of: .mine))
      #expect(head["total-count"] == "1")
      let types = try #require(try await world.json("/v1/entities", as: .mine)["types"]?.array)
      #expect(
        types.first { $0["type"] == "Film" || $0["name"] == "Film" }?["count"]?.int64 == total)
      for reader in [PendingWorld.Reader.other, .anonymous] {
        let others = try await world.json(
          "/v1/entities/Film?filter=year%20%3D%201066&total=true", as: reader)
        #expect(others["total"]?.int64 == 0)
        #expect(try await world.ids("/v1/entities/Film?limit=100", as: reader).contains("f2"))
      }
      #expect(try await !world.ids("/v1/entities/Film?limit=100", as: .mine).contains("f2"))
      let gone = try await world.get("/v1/entities/Film/f2", as: .mine)
      #expect(gone.status == 404)
      #expect(try JSONValue(parsing: gone.body)["code"] == "deleted")
      await world.stop()
    }

    @Test("Relationships lead to their optimistic targets")
    func relationshipsUseOptimisticTargets() async throws {
      let world = try await PendingWorld.start()
      let cast = try await world.ids("/v1/entities/Film/f1/cast", as: .mine)
      let before = try await world.json("/v1/entities/Film/f1/director", as: .mine)
      let person = try #require(cast.last)
      #expect(before["id"]?.string != person)
      let kept = cast.prefix(2).reversed().map { "\"\($0)\"" }.joined(separator: ",")
      let id = try await world.enqueueUpdate(
        "f1", #"{"director":"\#(person)","cast":[\#(kept)]}"#,
        patch: #"{"directorId":"\#(person)"}"#)
      let film = try await world.json("/v1/entities/Film/f1", as: .mine)
      #expect(film["director"]?.string == person)
      let director = try await world.json("/v1/entities/Film/f1/director", as: .mine)
      #expect(director["id"]?.string == person)
      let members = try await world.ids("/v1/entities/Film/f1/cast", as: .mine)
      #expect(members == cast.prefix(2).reversed())
      for reader in [PendingWorld.Reader.other, .anonymous] {
        #expect(try await world.ids("/v1/entities/Film/f1/cast", as: reader) == cast)
        #expect(try await world.json("/v1/entities/Film/f1/director", as: reader) == before)
      }
      try await world.takeBack(id)
      #expect(try await world.ids("/v1/entities/Film/f1/cast", as: .mine) == cast)
      await world.stop()
    }

    @Test("Views show optimistic values")
    func viewsShowOptimisticValues() async throws {
      let world = try await PendingWorld.start()
      let id = try await world.enqueueTitle("Mine", of: "f1")
      let view = try await world.json("/v1/entities/Film/f1?view=FilmCard", as: .mine)
      #expect(view["title"] == "Mine")
      #expect(view["_pending"] == [.string(id)])
      let items = try await world.items(
        "/v1/entities/Film?view=FilmCard&filter=title%20%3D%20%27Mine%27", as: .mine)
      #expect(items.map { $0["_pending"] } == [[.string(id)]])
      let others = try await world.json("/v1/entities/Film/f1?view=FilmCard", as: .other)
      #expect(others["title"] != "Mine")
      #expect(others["_pending"] == nil)
      await world.stop()
    }

    // MARK: List diffs

    private static func from(_ tag: String?) throws -> String {
      "&from=%22\(try #require(tag).dropFirst().dropLast())%22"
    }

    /// From the base list to the optimistic list, and back.
    @Test(
      "A diff leads from the base list to the optimistic list and back",
      arguments: [
        ("/api/films?limit=5", "/v1/operations/Films/diff?limit=5"),
        ("/v1/entities/Film?limit=5&order=id", "/v1/entities/Film/diff?limit=5&order=id"),
      ])
    func diffAppliesAndRevertsTheOverlay(list: String, diff: String) async throws {
      let world = try await PendingWorld.start()
      let before = try await world.get(list, as: .mine)
      let first = try #require(
        (try JSONValue(parsing: before.body)["items"]
          ?? JSONValue(parsing: before.body)["data"]?["films"])?[0]?["id"]?.string)
      let deletion = try await world.enqueueDeletion(of: first)
      let there = try await world.get(diff + Self.from(before["etag"]), as: .mine)
      #expect(there.status == 200, "\(there.text)")
      let forth = try JSONValue(parsing: there.body)
      #expect(forth["kind"] == "diff", "\(there.text)")
      #expect(forth["deletes"]?.canonicalText == "[0]")
      let others = try await world.get(diff + Self.from(before["etag"]), as: .other)
      #expect(!others.text.contains("\"deletes\":[0]"))
      // Another caller's tag has the same effect as an invented one.
      let stolen = try await world.get(diff + Self.from(there["etag"]), as: .anonymous)
      #expect(try JSONValue(parsing: stolen.body)["kind"] == "full", "\(stolen.text)")
      #expect(try await world.get(diff + Self.from(there["etag"]), as: .mine).status == 304)

      let change = try await world.enqueueTitle("Mine", of: first == "f1" ? "f2" : "f1")
      try await world.takeBack(deletion)
      try await world.takeBack(change)
      let back = try await world.get(diff + Self.from(there["etag"]), as: .mine)
      let undone = try JSONValue(parsing: back.body)
      #expect(undone["kind"] == "diff", "\(back.text)")
      #expect(undone["inserts"]?[0]?["index"]?.int64 == 0)
      #expect(undone["inserts"]?[0]?["id"]?.string == "Film/\(first)")
      #expect(undone["updates"]?.canonicalText == "[]")
      await world.stop()
    }

    @Test("A submitted list is compared with the device's optimistic list")
    func submittedListIsComparedWithTheOverlay() async throws {
      let world = try await PendingWorld.start()
      let target = "/v1/operations/Films/diff?limit=5"
      let full = try await world.json(target, as: .mine)
      let items = try #require(full["items"]?.array)
      let have: JSONValue = [
        "have": .array(
          items.map { [.string("Film/\($0["id"]?.string ?? "")"), $0["_rev"] ?? .null] })
      ]
      let changed = try #require(items.dropFirst().first?["id"]?.string)
      let id = try await world.enqueueTitle("Mine", of: changed)
      func diff(as reader: PendingWorld.Reader) async throws -> RawResponse {
        try await world.larder.request(
          "POST", target, headers: world.headers(of: reader),
          body: String(decoding: have.bytes, as: UTF8.self))
      }
      let mine = try JSONValue(parsing: try await diff(as: .mine).body)
      #expect(mine["updates"]?[0]?["id"]?.string == "Film/\(changed)", "\(mine)")
      #expect(mine["entities"]?["Film/\(changed)"]?["_pending"] == [.string(id)])
      let others = try JSONValue(parsing: try await diff(as: .other).body)
      #expect(others["updates"]?.canonicalText == "[]")
      await world.stop()
    }
  }
}
