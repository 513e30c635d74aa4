import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// List diffs of collections and relationships, and bases that a device has read before.
  struct CollectionDiffTests {
    private static let target = "/v1/entities/Film/diff?order=title&limit=6"
    private static let plain = "/v1/entities/Film?order=title&limit=6"

    private static func filled() async throws -> RunningLarder {
      let larder = try await RunningLarder.start()
      #expect(try await larder.get("/api/films?limit=20").status == 200)
      #expect(try await larder.get("/api/films/f1").status == 200)
      return larder
    }

    private static func object(_ answer: RawResponse) throws -> JSONValue {
      #expect(answer.status == 200, "\(answer.text)")
      return try JSONValue(parsing: answer.body)
    }

    private static func from(_ answer: RawResponse) throws -> String {
      let tag = try #require(answer["etag"])
      return "&from=%22\(tag.dropFirst().dropLast())%22"
    }

    private static func rename(
      _ larder: RunningLarder, _ film: String, to title: String
    ) async throws {
      let answer = try await larder.post(
        "/v1/operations/UpdateFilm", #"{"id":"\#(film)","patch":{"title":"\#(title)"}}"#)
      #expect(answer.status == 200, "\(answer.text)")
    }

    @Test("A diff turns the earlier page into the current one")
    func diffsTwoPages() async throws {
      let larder = try await Self.filled()
      let first = try await larder.get(Self.target)
      let full = try Self.object(first)
      #expect(full["kind"] == "full")
      #expect(full["count"]?.int64 == 6)
      #expect(full["next"]?.string != nil)
      #expect(full["cursor"]?.string != nil)
      // The tag is the page's own, the same as in a plain read.
      #expect(try await larder.get(Self.plain)["etag"] == first["etag"])
      let again = try await larder.get(Self.target + Self.from(first))
      #expect(again.status == 304)
      #expect(again["etag"] == first["etag"])

      let last = try #require(full["items"]?.array?.last?["id"]?.string)
      try await Self.rename(larder, last, to: "  First of all")
      let diff = try Self.object(try await larder.get(Self.target + Self.from(first)))
      #expect(diff["kind"] == "diff")
      #expect(diff["from"]?.string == first["etag"])
      #expect(diff["oldCount"]?.int64 == 6)
      #expect(diff["deletes"]?.canonicalText == "[]")
      #expect(diff["moves"]?.array?.count == 1)
      #expect(diff["moves"]?[0]?["from"]?.int64 == 5)
      #expect(diff["moves"]?[0]?["to"]?.int64 == 0)
      #expect(diff["updates"]?.array?.map { $0["id"]?.string } == ["Film/\(last)"])
      #expect(diff["entities"]?["Film/\(last)"]?["title"] == "  First of all")
      await larder.stop()
    }

    @Test("The revisions that a client submits are a base for a diff")
    func clientRevisionsAreABase() async throws {
      let larder = try await Self.filled()
      let items = try #require(try Self.object(try await larder.get(Self.plain))["items"]?.array)
      var have = items.map { item -> JSONValue in
        [.string("Film/\(item["id"]?.string ?? "")"), item["_rev"] ?? .null]
      }
      have[1] = [have[1][0] ?? .null, "unknown"]
      let changed = try #require(items[3]["id"]?.string)
      try await Self.rename(larder, changed, to: try #require(items[3]["title"]?.string) + "!")
      let body: JSONValue = ["have": .array(have)]
      let diff = try Self.object(
        try await larder.post(Self.target, String(decoding: body.bytes, as: UTF8.self)))
      #expect(diff["kind"] == "diff")
      #expect(diff["from"] == nil)
      let updated = diff["updates"]?.array?.compactMap { $0["id"]?.string } ?? []
      #expect(
        Set(updated) == ["Film/\(changed)", "Film/\(items[1]["id"]?.string ?? "")"])
      #expect(diff["inserts"]?.canonicalText == "[]")
      #expect(try await larder.post(Self.target, #"{"have":1}"#).status == 400)
      let refused = try await larder.post(
        Self.target, #"{"have":[["Film/f1","r"],1,["Film/f2","r"],["Film/f3"]]}"#)
      #expect(
        try JSONValue(parsing: refused.body)["errors"]?.array?.map { $0["pointer"] }
          == ["/have/1", "/have/3"], "\(refused.text)")
      #expect(try await larder.post(Self.target + "&order=size", #"{"have":[]}"#).status == 400)
      await larder.stop()
    }

    @Test("Diffs work with parameters, views and relationships")
    func parametersViewsAndRelationships() async throws {
      let larder = try await Self.filled()
      let query = "filter=year%20%3E%20%3Ay&arg.y=1900&total=true&view=FilmCard&limit=3"
      let first = try await larder.get("/v1/entities/Film/diff?\(query)")
      let page = try Self.object(try await larder.get("/v1/entities/Film?\(query)"))
      let full = try Self.object(first)
      #expect(full["total"] == page["total"])
      #expect(full["items"] == page["items"])
      // The same page with other fields is another representation.
      let other = "/v1/entities/Film/diff?\(query)".replacing("&view=FilmCard", with: "")
      #expect(try await larder.get(other + Self.from(first)).status == 200)

      let cast = try await larder.get("/v1/entities/Film/f1/cast/diff?limit=2")
      #expect(try Self.object(cast)["kind"] == "full")
      let sameCast = "/v1/entities/Film/f1/cast/diff?limit=2\(try Self.from(cast))"
      #expect(try await larder.get(sameCast).status == 304)
      #expect(try await larder.get("/v1/entities/Film/f1/director/diff").status == 400)
      #expect(try await larder.get("/v1/entities/Nothing/diff").status == 404)
      #expect(try await larder.get("/v1/entities/Film/diff?order=size").status == 400)
      await larder.stop()
    }

    @Test("A view shows exactly its fields, and its diffs name entities whose key it does not show")
    func viewsWithoutKey() async throws {
      let larder = try await RunningLarder.start(operations: [
        "films": """
        fragment FilmTitle on Film { title }
        query Films @route(path: "/films") @cache(maxAge: 3600, scope: PUBLIC) {
          films(limit: 20) { ...FilmTitle year }
        }
        mutation Change($id: ID!, $patch: FilmPatch!) {
          updateFilm(id: $id, patch: $patch) { id title year }
        }
        """
      ])
      #expect(try await larder.get("/api/films").status == 200)
      let plain = "/v1/entities/Film?order=title&limit=20"
      let target = "/v1/entities/Film/diff?order=title&limit=20&view=FilmTitle"
      let first = try await larder.get(target)
      let items = try #require(try Self.object(first)["items"]?.array)
      try #require(items.count == 20)
      for item in items {
        #expect(item.members?.map(\.name) == ["__typename", "title", "_missing", "_rev"])
      }
      let film = try #require(try Self.object(try await larder.get(plain))["items"]?[3])
      let id = try #require(film["id"]?.string)
      let title = try #require(film["title"]?.string)
      #expect(items[3]["title"] == film["title"])
      func change(_ patch: JSONValue) async throws {
        let body: JSONValue = ["id": .string(id), "patch": patch]
        let answer = try await larder.post("/v1/operations/Change", body.text)
        #expect(answer.status == 200, "\(answer.text)")
      }
      // What the view does not show changes nothing in it.
      try await change(["year": 1901])
      #expect(try await larder.get(target + Self.from(first)).status == 304)
      try await change(["title": .string(title + "!")])
      let diff = try Self.object(try await larder.get(target + Self.from(first)))
      #expect(diff["kind"] == "diff", "\(diff.canonicalText)")
      let update = try #require(diff["updates"]?[0])
      #expect(diff["updates"]?.array?.count == 1)
      #expect(update["id"]?.string == "Film/\(id)")
      #expect(update["old"] == 3)
      let now = try Self.object(try await larder.get("\(plain)&view=FilmTitle"))
      let place = try #require(update["new"]?.int64)
      #expect(diff["entities"]?["Film/\(id)"] == now["items"]?[Int(place)])
      #expect(diff["entities"]?["Film/\(id)"]?["title"]?.string == title + "!")
      await larder.stop()
    }

    @Test("A diff shows nested entities with key and revision, and their changes as updates")
    func nestedChangesUpdateTheirRows() async throws {
      let types = """
        extend type Film { mark: String @local }
        fragment FilmLine on Film { title director { name } }
        """
      let larder = try await RunningLarder.start(localTypes: types)
      #expect(try await larder.get("/api/films?limit=20").status == 200)
      #expect(try await larder.get("/api/films/f1").status == 200)
      let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")
      for (round, query) in ["view=FilmLine", "include=director"].enumerated() {
        let target = "/v1/entities/Film/diff?order=title&limit=50&\(query)"
        let first = try await larder.get(target)
        let rows = try Self.object(first)["items"]?.array ?? []
        let film = try #require(rows.first { $0["director"]?["name"] != nil }, "\(query)")
        let director = try #require(film["director"])
        #expect(director["__typename"] == "Person" && director["_rev"] != nil, "\(director)")
        let person = try #require(director["id"]?.string)
        let renamed = try await larder.request(
          "PATCH", "/v1/entities/Person/\(person)", headers: [admin],
          body: #"{"name":"Renamed \#(round)"}"#)
        #expect(renamed.status == 200, "\(renamed.text)")
        let diff = try Self.object(try await larder.get(target + Self.from(first)))
        #expect(diff["kind"] == "diff", "\(diff)")
        let updated = diff["updates"]?.array?.compactMap { $0["id"]?.string } ?? []
        #expect(!updated.isEmpty && updated.count < rows.count)
        for id in updated {
          let nested = diff["entities"]?[id]?["director"]
          #expect(nested?["name"]?.string == "Renamed \(round)" && nested?["id"] == director["id"])
          #expect(nested?["_rev"] != nil && nested?["_rev"] != director["_rev"])
        }
      }
      await larder.stop()
    }

    @Test("An operation's diff and changes refuse include, and name what shows nested entities")
    func otherDiffsRefuseInclude() async throws {
      let larder = try await Self.filled()
      for target in [
        "/api/films/diff?limit=5&include=director", "/api/films?limit=5&include=director",
        "/api/films/diff?limit=5&view=FilmCard", "/v1/changes?include=director",
        "/v1/changes/stream?view=FilmCard",
      ] {
        let answer = try await larder.get(target)
        #expect(answer.status == 400, "\(target): \(answer.text)")
        let errors = try JSONValue(parsing: answer.body)["errors"]?.array ?? []
        #expect(errors.count == 1, "\(target): \(answer.text)")
        #expect(
          errors.first?["detail"]?.string?.contains("/v1/entities/{Type}") == true,
          "\(target): \(answer.text)")
      }
      await larder.stop()
    }

    /// A device can use the tag of a plain read as a base; a caller without a device cannot.
    @Test("A list that a device has read is a base for a diff")
    func listsReadByADeviceAreBases() async throws {
      let larder = try await Self.filled()
      let mine = ("Device-Token", try await DeviceTests.register(larder).token)
      let operation = "/api/films?limit=5"
      let known = [try await larder.get(Self.plain, mine), try await larder.get(operation, mine)]
      let unknown = [
        try await larder.get("/v1/entities/Film?order=title&limit=4"),
        try await larder.get("/api/films?limit=4"),
      ]
      let film = try #require(
        try Self.object(known[0])["items"]?[0]?["id"]?.string)
      let routed = try #require(try Self.object(known[1])["data"]?["films"]?[0]?["id"]?.string)
      let same = "/api/films/diff?limit=5\(try Self.from(known[1]))"
      #expect(try await larder.get(same, mine, ("Cache-Control", "max-stale")).status == 304)
      for (id, title) in [(film, "Aa"), (routed, "Bb")] {
        try await Self.rename(larder, id, to: title)
      }
      let diffs = [
        try await larder.get(Self.target + Self.from(known[0]), mine),
        try await larder.get(same, mine, ("Cache-Control", "max-stale")),
      ]
      for diff in diffs { #expect(try Self.object(diff)["kind"] == "diff", "\(diff.text)") }
      let fulls = [
        try await larder.get(
          "/v1/entities/Film/diff?order=title&limit=4\(try Self.from(unknown[0]))"),
        try await larder.get("/api/films/diff?limit=4\(try Self.from(unknown[1]))"),
      ]
      for full in fulls { #expect(try Self.object(full)["kind"] == "full", "\(full.text)") }
      await larder.stop()
    }

    @Test("Operations with a route have a diff and a stream below it")
    func routedOperationsHaveDiffAndStream() async throws {
      let larder = try await Self.filled()
      let full = try await larder.get("/api/films/diff?limit=3")
      #expect(try Self.object(full)["count"]?.int64 == 3)
      let have = try await larder.post("/api/films/diff?limit=3", #"{"have":[]}"#)
      #expect(try Self.object(have)["count"]?.int64 == 3)
      let events = try await EventClient.open(port: larder.port, "/api/films/f1/stream")
      #expect(events.status == 200)
      #expect(try await events.nextEvent() != nil)
      try await Self.rename(larder, "f1", to: "Renamed")
      #expect(try await events.nextEvent()?.data.contains("Renamed") == true)
      #expect(try await larder.get("/api/films/f1/diff").status < 500)
      await larder.stop()
    }
  }
}

extension Ways {
  /// A property: after any writes, every diff of a collection turns the client's list into the current one,
  /// by the rules of a batch update, with nested entities as without.
  struct CollectionDiffPropertyTests {
    private static let steps = 40
    private static let books = 4
    private static let types = """
      type Note @local { id: ID! text: String rank: Int book: Book @inverse(field: "notes") }
      type Book @local { id: ID! name: String notes: [Note!]! @inverse(field: "book") }
      """

    @Test(
      "Every diff, applied to the client's list, gives the current page",
      arguments: [11, 12, 13] as [UInt64], ["", "&include=book", "&include=book.notes(limit:3)"])
    func everyDiffAppliedGivesTheNewPage(seed: UInt64, include: String) async throws {
      let page = "order=rank,text&limit=25\(include)"
      let larder = try await RunningLarder.start(localTypes: Self.types)
      let token = ("Device-Token", try await DeviceTests.register(larder).token)
      var random = SeededGenerator(seed: seed)
      var copy = ListCopy()
      var present: Set<Int> = []
      var diffs = 0
      for step in 0..<Self.steps {
        let written = try await larder.request(
          "POST", "/v1/entities", headers: [token],
          body: String(decoding: Self.writes(step, &present, &random).bytes, as: UTF8.self))
        #expect(written.status == 200, "\(written.text), seed \(seed)")
        let answer: RawResponse
        if step % 3 == 2 {
          answer = try await larder.request(
            "POST", "/v1/entities/Note/diff?\(page)", headers: [token],
            body: String(decoding: copy.have.bytes, as: UTF8.self))
        } else {
          let tag = copy.tag.map { "&from=%22\($0.dropFirst().dropLast())%22" } ?? ""
          answer = try await larder.get("/v1/entities/Note/diff?\(page)\(tag)", token)
        }
        if answer.status != 304 {
          let body = try JSONValue(parsing: answer.body)
          if body["kind"] == "diff" { diffs += 1 }
          #expect(throws: Never.self, "seed \(seed), step \(step): \(answer.text)") {
            try copy.apply(body)
          }
        }
        let plain = try await larder.get("/v1/entities/Note?\(page)", token)
        let items = try JSONValue(parsing: plain.body)["items"]?.array
        #expect(copy.items == items, "seed \(seed), step \(step)")
        #expect(copy.tag == plain["etag"], "seed \(seed), step \(step)")
      }
      #expect(diffs > 5, "seed \(seed) proves nothing")
      await larder.stop()
    }

    /// Draws the writes of a batch, each of another entity. Nested books are renamed, and lose and get notes.
    private static func writes(
      _ step: Int, _ present: inout Set<Int>, _ random: inout SeededGenerator
    ) -> JSONValue {
      let count = step == 0 ? 30 : Int.random(in: 1...4, using: &random)
      let ids = (0..<40).shuffled(using: &random).prefix(count)
      let renamed = step == 0 ? Array(0..<books) : [Int.random(in: 0..<books * 2, using: &random)]
      let bookWrites = renamed.filter { $0 < books }.map { book -> JSONValue in
        [
          "op": "insertOrUpdate", "type": "Book", "id": .string("b\(book)"),
          "data": ["name": .string("Book \(book), \(step / 3)")],
        ]
      }
      return .array(
        bookWrites
          + ids.map { id -> JSONValue in
            if Int.random(in: 0..<4, using: &random) == 0, present.remove(id) != nil {
              return ["op": "delete", "type": "Note", "id": .string("n\(id)")]
            }
            present.insert(id)
            let rank = Int64.random(in: 0..<12, using: &random)
            let filler = String(repeating: "text ", count: 20)
            return [
              "op": "insertOrUpdate", "type": "Note", "id": .string("n\(id)"),
              "data": [
                "rank": .number(JSONNumber(rank)),
                "text": .string("\(filler)\(Int.random(in: 0..<3, using: &random))"),
                "book": .string("b\(Int.random(in: 0..<books, using: &random))"),
              ],
            ]
          })
    }
  }
}
