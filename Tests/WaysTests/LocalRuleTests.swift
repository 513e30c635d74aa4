import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// The rules that local types declare for their values and relationships, as clients meet them.
  struct LocalRuleTests {
    private static let types = """
      enum Colour { RED GREEN }
      type Shelf @local {
        id: ID!
        code: String @pattern(regex: "[A-Z]{2}[0-9]+")
        level: Int @default(value: 3)
        books: [Book!]! @inverse(field: "shelf", onDelete: DENY)
      }
      type Book @local {
        id: ID!
        shelf: Shelf @inverse(field: "books")
        tiny: Int8
        small: Int16
        whole: Int32
        big: Int64
        single: Float
        double: Double
        flag: Boolean
        bytes: Data
        colour: Colour
      }
      """

    private struct World {
      let larder: RunningLarder
      let token: (String, String)

      func ask(
        _ method: String, _ target: String, _ body: String? = nil
      ) async throws -> (status: Int, body: JSONValue) {
        let answer = try await larder.request(method, target, headers: [token], body: body)
        return (
          answer.status, answer.body.isEmpty ? .null : try JSONValue(parsing: answer.body)
        )
      }

      func ids(_ query: String) async throws -> [String] {
        try await ask("GET", "/v1/entities/Book?\(query)").body["items"]?.array?
          .compactMap { $0["id"]?.string } ?? []
      }
    }

    private static func start() async throws -> World {
      let larder = try await RunningLarder.start(localTypes: types)
      return World(
        larder: larder, token: ("Device-Token", try await DeviceTests.register(larder).token))
    }

    private static func faults(_ body: JSONValue) -> [String] {
      body["errors"]?.array?.compactMap { $0["pointer"]?.string } ?? []
    }

    @Test("Every scalar of a local type is written and read back unchanged")
    func everyScalarRoundTrips() async throws {
      let world = try await Self.start()
      let text = """
        {"tiny":-128,"small":32767,"whole":-2147483648,"big":9223372036854775807,"single":0.10,\
        "double":1.50e10,"flag":true,"bytes":"AAA=","colour":"GREEN"}
        """
      let sent = try JSONValue(parsing: text)
      let put = try await world.ask("PUT", "/v1/entities/Book/b1", text)
      #expect(put.status == 201)
      _ = try await world.ask("PUT", "/v1/entities/Book/b2", #"{"big":9223372036854775806}"#)
      let read = try await world.ask("GET", "/v1/entities/Book/b1").body
      for member in sent.members ?? [] {
        #expect(read[member.name]?.text == member.value.text, "\(member.name)")
      }
      #expect(try await world.ids("filter=big%20%3D%20%3F&arg=9223372036854775806") == ["b2"])
      #expect(try await world.ids("filter=flag%20AND%20colour%20%3D%20'GREEN'") == ["b1"])
      #expect(try await world.ids("filter=bytes%20%3D%20%3Ab&arg.b=AAA%3D") == ["b1"])
      #expect(try await world.ids("order=-big") == ["b1", "b2"])
      let faulty = try await world.ask(
        "POST", "/v1/entities/Book",
        """
        {"tiny":128,"small":-32769,"whole":2147483648,"big":9223372036854775808,"single":1e400,
         "double":"1","flag":1,"bytes":"A","colour":"BLUE"}
        """)
      #expect(faulty.status == 422)
      #expect(Self.faults(faulty.body) == (sent.members ?? []).map { "/\($0.name)" })
      await world.larder.stop()
    }

    @Test("An entity that a deny relationship refers to cannot be deleted")
    func denyRuleKeepsReferencedEntities() async throws {
      let world = try await Self.start()
      _ = try await world.ask("PUT", "/v1/entities/Shelf/s1", "{}")
      _ = try await world.ask("PUT", "/v1/entities/Book/b1", #"{"shelf":"s1"}"#)
      let refused = try await world.ask("DELETE", "/v1/entities/Shelf/s1")
      #expect(refused.status == 409)
      #expect(refused.body["code"] == "still_referenced")
      let list = try await world.ask(
        "POST", "/v1/entities",
        #"[{"op":"delete","type":"Shelf","id":"s1"},{"op":"delete","type":"Book","id":"b1"}]"#)
      #expect(list.status == 409)
      #expect(Self.faults(list.body) == ["/0/data"])
      #expect(try await world.ask("GET", "/v1/entities/Shelf/s1").status == 200)
      #expect(try await world.ask("DELETE", "/v1/entities/Book/b1").status == 204)
      #expect(try await world.ask("DELETE", "/v1/entities/Shelf/s1").status == 204)
      await world.larder.stop()
    }

    @Test("A field's pattern is enforced for each text")
    func patternsAreEnforced() async throws {
      let world = try await Self.start()
      let made = try await world.ask("PUT", "/v1/entities/Shelf/s1", #"{"code":"AB12"}"#)
      #expect(made.status == 201)
      for code in ["ab12", "AB12x", "", "AB"] {
        let refused = try await world.ask("PATCH", "/v1/entities/Shelf/s1", #"{"code":"\#(code)"}"#)
        #expect(refused.status == 422, "\(code)")
        #expect(
          refused.body["errors"] == [
            ["pointer": "/code", "detail": "does not match [A-Z]{2}[0-9]+"]
          ], "\(code)")
      }
      #expect(try await world.ask("GET", "/v1/entities/Shelf/s1").body["code"] == "AB12")
      await world.larder.stop()
    }

    @Test("updateOrInsert updates the existing entity or inserts a new one")
    func updateOrInsert() async throws {
      let world = try await Self.start()
      _ = try await world.ask("PUT", "/v1/entities/Shelf/s1", #"{"code":"AB1","level":9}"#)
      let list = try await world.ask(
        "POST", "/v1/entities",
        """
        [{"op":"updateOrInsert","type":"Shelf","id":"s1","data":{"code":"CD2"}},
         {"op":"updateOrInsert","type":"Shelf","id":"s2","data":{"code":"EF3"}}]
        """)
      #expect(list.status == 200)
      let items = list.body["items"]
      #expect(items?[0]?["code"] == "CD2")
      #expect(items?[0]?["level"] == 9)
      #expect(items?[1]?["code"] == "EF3")
      #expect(items?[1]?["level"] == 3)
      await world.larder.stop()
    }
  }
}
