import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Entities that operations have fetched, read again without asking upstream.
  struct EntityTests {
    private func filled() async throws -> RunningLarder {
      let larder = try await RunningLarder.start()
      for target in ["/api/films?limit=20", "/api/films/f1"] {
        #expect(try await larder.get(target).status == 200)
      }
      return larder
    }

    private func json(_ response: RawResponse) throws -> JSONValue {
      try JSONValue(parsing: response.body)
    }

    @Test("An entity is served with its validators")
    func oneEntityWithValidators() async throws {
      let larder = try await filled()
      let requests = larder.demo.report.recent.count
      let answer = try await larder.get("/v1/entities/Film/f1")
      #expect(answer.status == 200)
      #expect(answer["cache-control"] == "public, no-cache")
      #expect(answer["sync-cursor"] != nil)
      let film = try json(answer)
      #expect(film["__typename"]?.string == "Film")
      #expect(film["id"]?.string == "f1")
      #expect(film["director"]?.string != nil)
      #expect(film["_rev"]?.string?.utf8.count == 16)
      let tag = try #require(answer["etag"])
      let again = try await larder.get("/v1/entities/Film/f1", ("If-None-Match", tag))
      #expect(again.status == 304)
      #expect(again.body.isEmpty)
      #expect(try await larder.get("/v1/entities/Film/none").status == 404)
      #expect(try await larder.get("/v1/entities/Nothing/f1").status == 404)
      let post = try await larder.post("/v1/search", "{}")
      #expect(post.status == 405)
      #expect(post["allow"] == "GET, HEAD, OPTIONS")
      #expect(larder.demo.report.recent.count == requests)
      await larder.stop()
    }

    private static func encoded(_ text: String) -> String {
      text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("Filters and orders follow relationships, as the relationships' own paths show them")
    func followsRelationships() async throws {
      let larder = try await filled()
      func page(_ query: String) async throws -> JSONValue {
        let answer = try await larder.get("/v1/entities/Film?limit=100&total=true&\(query)")
        #expect(answer.status == 200, Comment(rawValue: answer.text))
        return try json(answer)
      }
      func ids(_ filter: String) async throws -> [String] {
        let items = try await page("filter=\(Self.encoded(filter))")["items"]?.array ?? []
        return items.compactMap { $0["id"]?.string }
      }
      let director = try json(try await larder.get("/v1/entities/Film/f1/director"))
      let name = try #require(director["name"]?.string)
      let quoted = "'" + name.replacing("'", with: "''") + "'"
      let same = try await ids("director.name = \(quoted)")
      #expect(same.contains("f1"))
      for id in same {
        let other = try json(try await larder.get("/v1/entities/Film/\(id)/director"))
        #expect(other["name"]?.string == name)
      }
      #expect(try await ids("director.name BEGINSWITH[cd] \(quoted.uppercased())").contains("f1"))
      #expect(try await !ids("director.name != \(quoted)").contains("f1"))
      // The cast has arguments, so its list is stored under a name with them.
      let cast = try json(try await larder.get("/v1/entities/Film/f1/cast?total=true"))
      let count = try #require(cast["total"]?.int64)
      let member = try #require(cast["items"]?[0]?["id"]?.string)
      #expect(count > 0)
      #expect(try await ids("cast.count = \(count)") == ["f1"])
      #expect(try await ids("ANY cast.id = '\(member)'") == ["f1"])
      #expect(try await ids("NONE cast.id = '\(member)'").isEmpty)
      let all = try await page("")["total"]?.int64
      let missing = try await page("filter=\(Self.encoded("cast IS MISSING"))")["total"]?.int64
      #expect(missing == all.map { $0 - 1 })
      let ordered = try await page("order=director.name,id&section=director.name")
      let sections = ordered["sections"]?.array?.compactMap { $0["name"]?.string } ?? []
      #expect(sections == sections.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
      #expect(sections.contains(name))
      await larder.stop()
    }

    @Test(
      "A path that cannot be followed is refused with its reason",
      arguments: [
        ("/v1/entities/Film?filter=", "director.age = 1", "Person has no column age"),
        ("/v1/entities/Film?filter=", "cast.name = 'x'", "write ANY or NONE"),
        ("/v1/entities/Film?order=", "cast.name", "leads to many entities"),
        ("/v1/entities/Film?filter=", "year > now()", "now() is a time"),
        ("/v1/changes?types=Film&filter=", "title LIKE now()", "now() cannot be what a text"),
        ("/v1/changes?types=Film&filter=", "director.age = 1", "Person has no column age"),
      ])
    func refusesPaths(target: String, text: String, reason: String) async throws {
      let larder = try await RunningLarder.start()
      let answer = try await larder.get(target + Self.encoded(text))
      #expect(answer.status == 400)
      #expect(answer.text.contains(reason), Comment(rawValue: answer.text))
      await larder.stop()
    }

    @Test("A collection is filtered, ordered and paged")
    func pagesFilterAndOrder() async throws {
      let larder = try await filled()
      var target =
        "/v1/entities/Film?order=-year,title&limit=6&total=true&filter=year%20%3E%3D%20%3Amin&arg.min=1970"
      var seen: [(Int64, String)] = []
      var total: Int64?
      let first = target
      while true {
        let answer = try await larder.get(target)
        #expect(answer.status == 200, Comment(rawValue: answer.text))
        let page = try json(answer)
        for film in page["items"]?.array ?? [] {
          seen.append((film["year"]?.int64 ?? 0, film["title"]?.string ?? ""))
        }
        total = page["total"]?.int64
        guard let next = page["next"]?.string else { break }
        target = "\(first)&after=\(next)"
      }
      #expect(Int64(seen.count) == total)
      #expect(seen.count > 6)
      #expect(seen.allSatisfy { $0.0 >= 1970 })
      #expect(zip(seen, seen.dropFirst()).allSatisfy { ($1.0, $0.1) <= ($0.0, $1.1) })
      let head = try await larder.request("HEAD", first)
      #expect(head["total-count"] == total.map { "\($0)" })
      await larder.stop()
    }

    @Test("All faults of a collection request are reported in one response")
    func reportsAllFaultsAtOnce() async throws {
      let larder = try await filled()
      let answer = try await larder.get(
        "/v1/entities/Film?filter=age%20%3E%203&order=size&limit=5000&after=x&view=y&sorted=1")
      #expect(answer.status == 400)
      let named = try json(answer)["errors"]?.array?.compactMap { $0["parameter"]?.string }
      #expect(
        named.map(Set.init) == ["filter", "order", "limit", "after", "view", "sorted"])
      // A page token belongs to its filter and order.
      let page = try json(try await larder.get("/v1/entities/Film?order=year&limit=1"))
      let next = try #require(page["next"]?.string)
      #expect(try await larder.get("/v1/entities/Film?order=title&after=\(next)").status == 400)
      #expect(try await larder.get("/v1/entities/Film?order=year&after=\(next)").status == 200)
      await larder.stop()
    }

    @Test("Relationships, views and sections of entities can be read")
    func relationshipsViewsAndSections() async throws {
      let larder = try await filled()
      let film = try json(try await larder.get("/v1/entities/Film/f1"))
      let director = try json(try await larder.get("/v1/entities/Film/f1/director"))
      #expect(director["id"] == film["director"])
      let cast = try await larder.get("/v1/entities/Film/f1/cast?total=true")
      let people = try #require(try json(cast)["items"]?.array)
      #expect(!people.isEmpty)
      #expect(people.allSatisfy { $0["__typename"]?.string == "Person" })
      #expect(try await larder.get("/v1/entities/Film/f1/title").status == 404)
      let card = try json(try await larder.get("/v1/entities/Film/f1?view=FilmCard"))
      #expect(card["title"] == film["title"])
      #expect(card["synopsis"] == nil)
      // A view's revision is its own.
      #expect(card["_rev"]?.string != nil)
      #expect(card["_rev"] != film["_rev"])
      let page = try json(
        try await larder.get("/v1/entities/Film?order=year&section=year&limit=1&total=true"))
      let sections = try #require(page["sections"]?.array)
      #expect(sections.compactMap { $0["count"]?.int64 }.reduce(0, +) == page["total"]?.int64)
      #expect(try await larder.get("/v1/entities/Film?order=year&section=title").status == 400)
      let types = try json(try await larder.get("/v1/entities"))["types"]?.array
      let told = try #require(types?.first { $0["name"]?.string == "Film" })
      #expect(told["count"] == page["total"])
      #expect(told["views"]?.array?.contains("FilmCard") == true)
      await larder.stop()
    }

    @Test("A read nests related entities, with a tag that follows them")
    func nestsRelatedEntities() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      let target = "/v1/entities/Film/f1?include=director,cast(limit:%202,%20order:%20name)"
      let response = try await larder.get(target)
      #expect(response.status == 200, "\(response.text)")
      let film = try json(response)
      #expect(film["director"] == (try json(try await larder.get("/v1/entities/Film/f1/director"))))
      let cast = try json(try await larder.get("/v1/entities/Film/f1/cast?limit=2&order=name"))
      #expect(film["cast"] == cast["items"])
      let tag = try #require(response["etag"])
      #expect(try await larder.get(target, ("If-None-Match", tag)).status == 304)
      let refused = try await larder.get("/v1/entities/Film?include=title,cast(limit:0)")
      #expect(refused.status == 400)
      #expect(refused.text.contains("limit of cast"))
      let list = "/v1/entities/Film/diff?include=director&filter=id%20%3D%20%27f1%27"
      let full = try json(try await larder.get(list))
      #expect(full["items"]?[0]?["director"]?["__typename"] == "Person")
      let revision = try #require(full["items"]?[0]?["_rev"]?.string)
      let rows = #"{"have":[["Film/f1","\#(revision)"]]}"#
      let same = try await larder.post(list, rows)
      #expect(try json(same)["kind"] == "diff", "\(same.text)")
      #expect(try json(same)["updates"] == [])
      await larder.stop()
    }

    /// An invented token is forwarded and upstream judges it; where nothing is sent upstream it proves
    /// nothing.
    @Test(
      "Data fetched with the service's credentials is closed to anonymous callers",
      arguments: [
        "/v1/entities", "/v1/entities/Film", "/v1/entities/Film/f1",
        "/v1/entities/Film/f1/cast", "/v1/search?q=a", "/v1/changes", "/v1/changes/stream",
      ])
    func dataFetchedWithServiceCredentialsIsClosed(path: String) async throws {
      let larder = try await RunningLarder.start(service: "x-service: secret")
      #expect(try await larder.get(path).status == 401)
      #expect(try await larder.get(path, ("Authorization", "Bearer made-up")).status == 401)
      let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")
      if !path.hasSuffix("/stream") {
        #expect(try await larder.get(path, admin).status != 401)
      }
      await larder.stop()
    }

    @Test("Search works during an upstream outage")
    func searchGoesOnWhileUpstreamIsDown() async throws {
      let larder = try await RunningLarder.start(
        settings: "types:\n  Film:\n    search: [title, synopsis]")
      #expect(try await larder.get("/api/films?limit=20").status == 200)
      let films = try json(try await larder.get("/v1/entities/Film?limit=20"))["items"]?.array
      let words = (films ?? []).compactMap { $0["title"]?.string }
        .flatMap { $0.split(separator: " ").map(String.init) }
      let query = try #require(words.first { $0.allSatisfy { $0.isASCII && $0.isLetter } })
      try await larder.demo.change { $0.fail = .status(503) }
      let answer = try await larder.get("/v1/search?q=\(query)&types=Film")
      #expect(answer.status == 200)
      let hit = try #require(try json(answer)["items"]?[0])
      #expect(hit["type"]?.string == "Film")
      #expect(hit["entity"]?["id"] == hit["id"])
      #expect(try await larder.get("/v1/search?q=%22open").status == 400)
      #expect(try await larder.get("/v1/search?q=a&types=Person").status == 400)
      await larder.stop()
    }

    @Test("A user's own value of a field is visible to that user alone")
    func userFieldValuesArePrivate() async throws {
      let larder = try await filled()
      let ada = ("Authorization", "Bearer user-ada")
      #expect(try await larder.get("/api/me", ada).status == 200)
      let mine = try json(try await larder.get("/v1/entities/User?total=true", ada))
      #expect(mine["total"]?.int64 == 1)
      let others = try json(
        try await larder.get("/v1/entities/User?total=true", ("Authorization", "Bearer user-bob")))
      #expect(others["total"]?.int64 == 0)
      let anonymous = try await larder.get("/v1/entities/User?total=true")
      #expect(try json(anonymous)["total"]?.int64 == 0)
      await larder.stop()
    }
  }
}
