import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Key paths through an interface, changes of an interface, and `now()` in their filters.
  struct MixedPathTests {
    private static let types = """
      interface Named { name: String }
      type Cat implements Named @local {
        id: ID! name: String lives: Int walks: [Walk!]! @inverse(field: "who")
      }
      type Dog implements Named @local {
        id: ID! name: String walks: [Walk!]! @inverse(field: "who")
      }
      type Walk @local {
        id: ID! due: Date who: Named @inverse(field: "walks") seen: [Named!]!
      }
      """

    private struct World {
      let larder: RunningLarder
      let token: (String, String)

      func json(
        _ method: String, _ target: String, _ body: String? = nil
      ) async throws -> (status: Int, body: JSONValue) {
        let answer = try await larder.request(method, target, headers: [token], body: body)
        return (
          answer.status, answer.body.isEmpty ? .null : try JSONValue(parsing: answer.body)
        )
      }

      func write(_ method: String, _ target: String, _ body: String) async throws {
        let answer = try await json(method, "/v1/entities/\(target)", body)
        #expect((200...201).contains(answer.status), "\(target): \(answer)")
      }

      func walks(_ filter: String, _ rest: String = "") async throws -> [String] {
        let answer = try await json("GET", "/v1/entities/Walk?filter=\(encoded(filter))\(rest)")
        #expect(answer.status == 200, "\(filter): \(answer)")
        return answer.body["items"]?.array?.compactMap { $0["id"]?.string } ?? []
      }

      func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
      }

      /// Reads changes to their end.
      ///
      /// - Returns: each as `put Cat/1`, and the cursor.
      func changes(
        _ parameters: String, since cursor: String? = nil
      ) async throws -> (said: [String], cursor: String) {
        var said: [String] = []
        var cursor = cursor
        while true {
          let page = try await json(
            "GET", "/v1/changes?\(parameters)\(cursor.map { "&since=\($0)" } ?? "")")
          #expect(page.status == 200, "\(page)")
          for change in page.body["changes"]?.array ?? [] {
            let parts = ["op", "type", "id"].map { change[$0]?.string ?? "" }
            said.append("\(parts[0]) \(parts[1])/\(parts[2])")
          }
          let next = try #require(page.body["cursor"]?.string)
          cursor = next
          if page.body["complete"] != false { return (said, next) }
        }
      }
    }

    private static func start() async throws -> World {
      let larder = try await RunningLarder.start(
        settings: "types: {Walk: {index: [who.name, due]}}", localTypes: types)
      let world = World(
        larder: larder, token: ("Device-Token", try await DeviceTests.register(larder).token))
      try await world.write("PUT", "Cat/1", #"{"name":"Mia","lives":9}"#)
      try await world.write("PUT", "Dog/1", #"{"name":"Rex"}"#)
      try await world.write(
        "PUT", "Walk/c",
        #"{"who":{"type":"Cat","id":"1"},"seen":[{"type":"Dog","id":"1"},{"type":"Cat","id":"1"}]}"#
      )
      try await world.write(
        "PUT", "Walk/d", #"{"who":{"type":"Dog","id":"1"},"seen":[{"type":"Dog","id":"1"}]}"#)
      try await world.write("PUT", "Walk/n", #"{"who":null}"#)
      return world
    }

    @Test(
      "Filters, counts and orders follow a relationship to an interface by the type of each entity")
    func pathsThroughAnInterface() async throws {
      let world = try await Self.start()
      let cases: [(String, [String])] = [
        ("who.name = 'Mia'", ["c"]), ("who.name = 'Rex'", ["d"]), ("NOT who.name = 'Mia'", ["d"]),
        ("who.lives = 9", ["c"]), ("NOT who.lives = 9", []), ("who.lives IS MISSING", ["d"]),
        ("who.name IS NULL", ["n"]), ("who.walks.count = 1", ["c", "d"]),
        ("ANY seen.name = 'Mia'", ["c"]), ("NONE seen.lives = 9", ["d", "n"]),
        ("seen.count = 2", ["c"]), ("ANY seen.name BEGINSWITH[c] 'r'", ["c", "d"]),
      ]
      for (filter, expected) in cases {
        #expect(try await world.walks(filter) == expected, "\(filter)")
      }
      #expect(try await world.walks("who.name > 'A'", "&order=-who.name") == ["d", "c"])
      #expect(try await world.walks("who.name > 'A'", "&order=who.name&limit=1") == ["c"])
      let refused = try await world.json(
        "GET", "/v1/entities/Walk?filter=\(world.encoded("who.bone = 1"))")
      #expect(refused.status == 400, "\(refused)")
      #expect(
        refused.body["errors"]?[0]?["detail"]?.string?.contains("leads to Cat, Dog") == true,
        "\(refused)")
      let many = try await world.json(
        "GET", "/v1/entities/Named?filter=\(world.encoded("walks.count = 1"))&total=true")
      #expect(many.body["total"] == 2, "\(many)")
      await world.larder.stop()
    }

    @Test("Changes of an interface are those of its types, and follow what its paths lead to")
    func changesOfAnInterface() async throws {
      let world = try await Self.start()
      let first = try await world.changes("types=Named")
      #expect(Set(first.said) == ["put Cat/1", "put Dog/1"])
      let filter = "types=Walk&filter=\(world.encoded("who.name = 'Mia'"))"
      let walks = try await world.changes(filter)
      #expect(walks.said == ["put Walk/c"])
      try await world.write("PATCH", "Dog/1", #"{"name":"Mia"}"#)
      #expect(try await world.changes("types=Named", since: first.cursor).said == ["put Dog/1"])
      let later = try await world.changes(filter, since: walks.cursor)
      #expect(later.said == ["put Walk/d"])
      try await world.write("PATCH", "Cat/1", #"{"name":"Tom"}"#)
      #expect(try await world.changes(filter, since: later.cursor).said == ["del Walk/c"])
      for types in ["Nobody", "Named,Nobody"] {
        let refused = try await world.json("GET", "/v1/changes?types=\(types)")
        #expect(refused.status == 400, "\(refused)")
        #expect(
          refused.body["errors"]?[0]?["detail"] == "has unknown entity types: Nobody",
          "\(refused)")
      }
      await world.larder.stop()
    }

    @Test("With now() in the filter of changes, time alone lets rows in and out")
    func changesByTime() async throws {
      let world = try await Self.start()
      let due = Date().addingTimeInterval(2).ISO8601Format()
      try await world.write("PATCH", "Walk/c", #"{"due":"\#(due)"}"#)
      let filter = "types=Walk&filter=\(world.encoded("due > now()"))"
      let first = try await world.changes(filter)
      #expect(first.said == ["put Walk/c"] || first.said.isEmpty, "a second can have passed")
      let deadline = ContinuousClock.now + .seconds(30)
      var said = first.said
      var cursor = first.cursor
      while said.last != "del Walk/c", !first.said.isEmpty, ContinuousClock.now < deadline {
        let next = try await world.changes(filter, since: cursor)
        said += next.said
        cursor = next.cursor
      }
      #expect(first.said.isEmpty || said == ["put Walk/c", "del Walk/c"])
      #expect(try await world.walks("due > now()").isEmpty)
      let head = try await world.larder.request("GET", "/v1/entities/Walk", headers: [world.token])
      let other = try #require(head["sync-cursor"])
      let refused = try await world.json("GET", "/v1/changes?\(filter)&since=\(other)")
      #expect(refused.status == 400, "\(refused)")
      await world.larder.stop()
    }
  }
}
