import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// The reads and observers of the on-device toolkits.
  struct ToolkitReadTests {
    private static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")

    private static func filled(_ settings: String = "") async throws -> RunningLarder {
      let larder = try await RunningLarder.start(settings: settings)
      for film in ["f1", "f2", "f3"] {
        #expect(try await larder.get("/api/films/\(film)").status == 200)
      }
      return larder
    }

    private static func encoded(_ text: String) -> String {
      text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func quoted(_ text: String) -> String {
      "'" + text.replacing("'", with: "''") + "'"
    }

    private static func json(_ larder: RunningLarder, _ target: String) async throws -> JSONValue {
      let answer = try await larder.get(target)
      #expect(answer.status == 200, "\(target): \(answer.text)")
      return try JSONValue(parsing: answer.body)
    }

    /// The ids that a filter finds.
    private static func ids(
      _ larder: RunningLarder, _ filter: String
    ) async throws -> Set<String> {
      let page = try await json(larder, "/v1/entities/Film?limit=100&filter=\(encoded(filter))")
      return Set(page["items"]?.array?.compactMap { $0["id"]?.string } ?? [])
    }

    @Test("A predicate follows a key path to another entity's field")
    func keyPaths() async throws {
      let larder = try await Self.filled()
      let director = try await Self.json(larder, "/v1/entities/Film/f1/director")
      let name = try #require(director["name"]?.string)
      let found = try await Self.ids(larder, "director.name = \(Self.quoted(name))")
      #expect(found.contains("f1"))
      var expected: Set<String> = []
      for film in ["f1", "f2", "f3"] {
        let other = try await larder.get("/v1/entities/Film/\(film)/director")
        let isSame = (try? JSONValue(parsing: other.body))?["name"]?.string == name
        if isSame { expected.insert(film) }
      }
      #expect(found == expected)
      await larder.stop()
    }

    @Test("CONTAINS[cd], BEGINSWITH, ANY, functions and counts are parts of the language")
    func functions() async throws {
      let larder = try await Self.filled()
      let film = try await Self.json(larder, "/v1/entities/Film/f1")
      let title = try #require(film["title"]?.string)
      let genres = film["genres"]?.array?.compactMap(\.string) ?? []
      let genre = try #require(genres.first)
      for filter in [
        "title CONTAINS[cd] \(Self.quoted(title.uppercased()))",
        "title BEGINSWITH \(Self.quoted(String(title.prefix(2))))",
        "title ENDSWITH[c] \(Self.quoted(title.lowercased()))",
        "lower(title) = \(Self.quoted(title.lowercased()))",
        "length(title) = \(title.unicodeScalars.count)", "ANY genres = \(Self.quoted(genre))",
        "genres.count = \(genres.count)", "NONE genres = 'NO_SUCH_GENRE'",
      ] {
        #expect(try await Self.ids(larder, filter).contains("f1"), "\(filter)")
        #expect(try await !Self.ids(larder, "NOT (\(filter))").contains("f1"), "\(filter)")
      }
      await larder.stop()
    }

    @Test("An observer with a key path follows changes of the related entity")
    func observersFollowKeyPaths() async throws {
      let larder = try await Self.filled()
      let person = try await Self.json(larder, "/v1/entities/Film/f1/director")
      let id = try #require(person["id"]?.string)
      let filter = "director.name BEGINSWITH 'Renamed'"
      let query = "/v1/changes?types=Film&filter=\(Self.encoded(filter))"
      let snapshot = try await Self.json(larder, query)
      #expect(snapshot["changes"]?.array?.isEmpty == true)
      var cursor = try #require(snapshot["cursor"]?.string)
      let events = try await EventClient.open(
        port: larder.port,
        "/v1/changes/stream?types=Film&filter=\(Self.encoded(filter))&since=now")
      _ = try await events.nextEvent()
      let originalName = try #require(person["name"]?.string)
      var held: Set<String> = []
      for (name, op) in [("Renamed", "put"), ("Renamed again", "put"), (originalName, "del")] {
        let body: JSONValue = ["name": .string(name)]
        let patched = try await larder.request(
          "PATCH", "/v1/entities/Person/\(id)", headers: [Self.admin], body: body.text)
        #expect(patched.status == 200, "\(patched.text)")
        let page = try await Self.json(larder, "\(query)&since=\(cursor)")
        cursor = try #require(page["cursor"]?.string)
        #expect(page["complete"] == true)
        let changes = page["changes"]?.array ?? []
        #expect(!changes.isEmpty)
        for change in changes {
          let film = try #require(change["id"]?.string)
          #expect(change["op"]?.string == op && change["type"] == "Film", "\(change)")
          if op == "put" {
            #expect(change["new"]?.bool == !held.contains(film))
            held.insert(film)
          } else {
            #expect(change["reason"] == "hidden")
            held.remove(film)
          }
          let event = try #require(try await events.nextEvent())
          #expect(try JSONValue(parsing: Array(event.data.utf8))["op"]?.string == op)
        }
        #expect(try await Self.ids(larder, filter) == held)
      }
      await larder.stop()
    }

    @Test("Search results nest relationships with include, as collections do")
    func searchesInclude() async throws {
      let larder = try await Self.filled("types: {Film: {search: [title]}}")
      let film = try await Self.json(larder, "/v1/entities/Film/f1?include=director")
      let title = try #require(film["title"]?.string)
      #expect(film["director"]?["name"] != nil)
      let words = Self.encoded("\"\(title)\"")
      let found = try await Self.json(larder, "/v1/search?q=\(words)&include=director")
      let hit = found["items"]?.array?.first { $0["id"] == "f1" }
      #expect(hit?["entity"] == film)
      let plain = try await Self.json(larder, "/v1/search?q=\(words)")
      let flat = plain["items"]?.array?.first { $0["id"] == "f1" }
      #expect(flat?["entity"]?["director"]?.string != nil)
      for include in ["boss", "director(limit: 3)"] {
        let refused = try await larder.get("/v1/search?q=\(words)&include=\(Self.encoded(include))")
        #expect(refused.status == 400, "\(refused.text)")
        #expect(refused.text.contains("include"))
      }
      await larder.stop()
    }
  }
}
