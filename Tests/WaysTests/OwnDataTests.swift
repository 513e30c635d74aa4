import Composition
import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Data that a device wrote: it has every kind of entity read, and only the device can change it.
  struct OwnDataTests {
    private static let types = """
      type Place { name: String! since: Date }
      type Trip @local {
        id: ID!
        title: String!
        notes: String
        days: Int @default(value: 1)
        start: Date
        stops: [Date!]
        place: Place
        film: Film
        legs: [Leg!]! @inverse(field: "trip", onDelete: CASCADE)
      }
      type Leg @local { id: ID! name: String! trip: Trip! @inverse(field: "legs") }
      fragment TripCard on Trip { id headline: title film { id } }
      """

    private static let settings = """
      types:
        Trip:
          search: [title, notes]
          index: [days]
          dates: seconds
      """

    private static let rows = """
      [{"op":"insert","type":"Trip","id":"t1","data":{"title":"To the coast","days":3,
        "start":1700000000,"stops":[1700000000.5],"place":{"name":"Harbour","since":0},"film":"f1"}},
       {"op":"insert","type":"Trip","id":"t2","data":{"title":"Mountains","notes":"no coast here",
        "days":9,"start":1600000000}},
       {"op":"insert","type":"Trip","id":"t3","data":{"title":"Garden"}},
       {"op":"insert","type":"Leg","id":"l1","data":{"name":"train","trip":"t1"}},
       {"op":"insert","type":"Leg","id":"l2","data":{"name":"boat","trip":"t1"}}]
      """

    private struct World {
      let larder: RunningLarder
      let token: (String, String)

      func ask(
        _ method: String, _ target: String, _ body: String? = nil, _ headers: (String, String)...
      ) async throws -> RawResponse {
        try await larder.request(method, target, headers: [token] + headers, body: body)
      }

      func json(_ target: String) async throws -> JSONValue {
        let answer = try await ask("GET", target)
        #expect(answer.status == 200, "\(target): \(answer.text)")
        return try JSONValue(parsing: answer.body)
      }

      func ids(_ target: String) async throws -> [String] {
        try await json(target)["items"]?.array?.compactMap { $0["id"]?.string } ?? []
      }
    }

    private static func start(service: String? = nil) async throws -> World {
      let larder = try await RunningLarder.start(
        settings: "devices: {register: open}\n\(settings)", service: service, localTypes: types)
      let world = World(
        larder: larder, token: ("Device-Token", try await DeviceTests.register(larder).token))
      let made = try await world.ask("POST", "/v1/entities", rows)
      #expect(made.status == 200, "\(made.text)")
      return world
    }

    // MARK: Reading

    @Test("A device's own data has every kind of read")
    func ownDataHasEveryKindOfRead() async throws {
      let world = try await Self.start()
      let types = try await world.json("/v1/entities")["types"]?.array
      let trip = try #require(types?.first { $0["name"] == "Trip" })
      #expect(trip["local"] == true)
      #expect(trip["count"] == 3)
      #expect(trip["views"] == ["TripCard"])
      #expect(
        trip["relationships"]?.array?.compactMap { $0["name"]?.string } == ["film", "legs"])
      let start = trip["columns"]?.array?.first { $0["name"] == "start" }
      #expect(start?["kind"] == "date")
      #expect(start?["format"] == "seconds")
      #expect(trip["columns"]?.array?.first { $0["name"] == "days" }?["indexed"] == true)

      #expect(try await world.ids("/v1/entities/Trip?order=-days&limit=2") == ["t2", "t1"])
      #expect(
        try await world.ids(
          "/v1/entities/Trip?filter=days%20%3E%20%3F%20AND%20title%20LIKE%20%3Aname&arg=2&arg.name=To%25"
        ) == ["t1"])
      #expect(try await world.ids("/v1/entities/Trip/t1/legs?order=name") == ["l2", "l1"])
      let card = try await world.json("/v1/entities/Trip/t1?view=TripCard")
      #expect(card["headline"] == "To the coast")
      // The film is not stored, so only its key is known.
      #expect(card["film"]?["id"] == "f1")
      #expect(card["_missing"] == ["film"])
      #expect(card["days"] == nil)
      let found = try await world.json("/v1/search?q=coast")["items"]?.array
      #expect(found?.compactMap { $0["id"]?.string } == ["t1", "t2"])
      let changes = try await world.json("/v1/changes?types=Trip")["changes"]?.array
      #expect(changes?.count == 3)
      #expect(changes?.first { $0["id"] == "t1" }?["data"]?["start"] == 1_700_000_000)

      // Another device sees none of this.
      let other = ("Device-Token", try await DeviceTests.register(world.larder).token)
      for target in ["/v1/entities/Trip?total=true", "/v1/search?q=coast"] {
        let answer = try await world.larder.request("GET", target, headers: [other])
        #expect(try JSONValue(parsing: answer.body)["items"] == [])
      }
      #expect(try await world.larder.get("/v1/entities/Trip").status == 401)
      #expect(try await world.larder.get("/v1/entities/Trip/t1").status == 401)
      await world.larder.stop()
    }

    @Test("Dates use the format of their type")
    func datesUseTheFormatOfTheirType() async throws {
      let world = try await Self.start()
      let trip = try await world.json("/v1/entities/Trip/t1")
      #expect(trip["start"] == 1_700_000_000)
      #expect(trip["stops"]?[0]?.number?.digits == "1700000000.5")
      #expect(trip["place"]?["since"] == 0)
      #expect(
        try await world.ids("/v1/entities/Trip?filter=start%20%3C%20%3Aend&arg.end=1650000000")
          == ["t2"])
      // Nulls first, then by time.
      #expect(try await world.ids("/v1/entities/Trip?order=start") == ["t3", "t2", "t1"])
      let sections = try await world.json("/v1/entities/Trip?order=start&section=start")
      #expect(
        sections["sections"]?.array?.map { $0["name"] ?? .null } == [
          .null, "1600000000", "1700000000",
        ])
      let text = try await world.ask("PATCH", "/v1/entities/Trip/t3", #"{"start":"2024-01-01"}"#)
      #expect(text.status == 422)
      #expect(text.text.contains("/start"))
      // Members that a patch of an embedded object omits stay as they are.
      let patch = try await world.ask(
        "PATCH", "/v1/entities/Trip/t1", #"{"place":{"name":"Pier"}}"#)
      #expect(patch.status == 200, "\(patch.text)")
      let place = try JSONValue(parsing: patch.body)["place"]
      #expect(place?["since"] == 0)
      #expect(place?["name"] == "Pier")
      await world.larder.stop()
    }

    /// Data fetched with the service's credentials is closed to a device; its own data is not.
    @Test("A device reads its own data where data of service credentials is closed")
    func ownDataIsOpenWhereUpstreamDataIsClosed() async throws {
      let world = try await Self.start(service: "x-service: secret")
      #expect(try await world.ids("/v1/entities/Trip").count == 3)
      #expect(try await world.ids("/v1/entities/Trip/t1/legs").count == 2)
      let types = try await world.json("/v1/entities")["types"]?.array
      #expect(types?.compactMap { $0["name"]?.string } == ["Leg", "Trip"])
      #expect(try await world.json("/v1/search?q=garden")["items"]?.array?.count == 1)
      let changes = try await world.json("/v1/changes?types=Trip")["changes"]?.array
      #expect(changes?.count == 3)
      for target in ["/v1/changes", "/v1/changes?types=Trip,Film", "/v1/changes/stream"] {
        #expect(try await world.ask("GET", target).status == 401)
      }
      #expect(try await world.ask("GET", "/v1/entities/Film").status == 401)
      #expect(try await world.ask("GET", "/v1/entities/Trip/t1/film").status == 401)
      await world.larder.stop()
    }

    // MARK: Writing

    @Test("A filter updates or deletes many entities")
    func filterWritesManyEntities() async throws {
      let world = try await Self.start()
      let changed = try await world.ask(
        "PATCH", "/v1/entities/Trip?filter=days%20%3E%20%3F&arg=2", #"{"notes":"long"}"#)
      #expect(changed.status == 200, "\(changed.text)")
      #expect(changed.text == #"{"matched":2}"#)
      #expect(
        try await world.ids("/v1/entities/Trip?filter=notes%20%3D%20'long'") == ["t1", "t2"])
      let gone = try await world.ask("DELETE", "/v1/entities/Trip?filter=notes%20%3D%20'long'")
      #expect(gone.text == #"{"matched":2}"#)
      #expect(try await world.ids("/v1/entities/Trip") == ["t3"])
      // The legs were deleted with it.
      #expect(try await world.ids("/v1/entities/Leg").isEmpty)
      let none = try await world.ask("DELETE", "/v1/entities/Trip?filter=days%20%3E%20100")
      #expect(none.text == #"{"matched":0}"#)
      await world.larder.stop()
    }

    @Test(
      "A write to a whole type without a filter is refused",
      arguments: [
        ("DELETE", "/v1/entities/Trip", nil), ("DELETE", "/v1/entities/Trip?filter=", nil),
        ("PATCH", "/v1/entities/Trip", #"{"days":1}"#),
        ("DELETE", "/v1/entities/Trip?limit=1&filter=days%20%3E%200", nil),
        ("DELETE", "/v1/entities/Trip?filter=size%20%3E%200", nil),
        ("DELETE", "/v1/entities/Trip?filter=days%20%3E%20%3F", nil),
        ("DELETE", "/v1/entities/Trip?arg=1", nil),
        ("DELETE", "/v1/entities/Trip/t1?filter=days%20%3E%20100", nil),
        ("POST", "/v1/entities", #"[{"op":"delete","type":"Trip","filter":""}]"#),
        ("POST", "/v1/entities", #"[{"op":"insert","type":"Trip","filter":"days > 0"}]"#),
        ("POST", "/v1/entities", #"[{"op":"delete","type":"Trip","args":[1]}]"#),
      ] as [(String, String, String?)])
    func writesNeedAFilter(
      method: String, target: String, body: String?
    ) async throws {
      let world = try await Self.start()
      let answer = try await world.ask(method, target, body)
      #expect(answer.status == 400, "\(answer.text)")
      let errors = try JSONValue(parsing: answer.body)["errors"]?.array
      #expect(errors?.isEmpty == false)
      #expect(try await world.ids("/v1/entities/Trip").count == 3)
      await world.larder.stop()
    }

    @Test("A batch mixes keys and filters and is atomic")
    func batchIsAtomic() async throws {
      let world = try await Self.start()
      let list = try await world.ask(
        "POST", "/v1/entities",
        """
        [{"op":"findOrInsert","type":"Trip","id":"t3","data":{"title":"Other"}},
         {"op":"findOrInsert","type":"Trip","id":"t4","data":{"title":"New","days":20}},
         {"op":"update","type":"Trip","filter":"days > :least","args":{"least":8},
          "data":{"notes":"far"}},
         {"op":"delete","type":"Leg","filter":"name = ?","args":["boat"]}]
        """)
      #expect(list.status == 200, "\(list.text)")
      let items = try #require(try JSONValue(parsing: list.body)["items"]?.array)
      #expect(items[0]["title"] == "Garden")
      #expect(items[1]["notes"] == "far")
      #expect(items[2] == ["matched": 2])
      #expect(items[3] == ["matched": 1])
      let undone = try await world.ask(
        "POST", "/v1/entities",
        """
        [{"op":"delete","type":"Trip","filter":"days > 0"},
         {"op":"update","type":"Trip","id":"t1","data":{"days":2}}]
        """)
      #expect(undone.status == 404)
      #expect(try await world.ids("/v1/entities/Trip").count == 4)
      await world.larder.stop()
    }

    @Test("A PUT with If-None-Match: * creates but never replaces")
    func putIfNoneMatchStar() async throws {
      let world = try await Self.start()
      let body = #"{"title":"Mine"}"#
      let refused = try await world.ask(
        "PUT", "/v1/entities/Trip/t1", body, ("If-None-Match", "*"))
      #expect(refused.status == 412)
      let made = try await world.ask("PUT", "/v1/entities/Trip/t9", body, ("If-None-Match", "*"))
      #expect(made.status == 201)
      await world.larder.stop()
    }

    @Test("A purge of local types is refused")
    func purgeRefusesLocalTypes() async throws {
      let world = try await Self.start()
      let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")
      for body in [
        #"{"type":"Trip"}"#, #"{"type":["Film","Trip"]}"#, #"{"type":"Trip","id":"t1"}"#,
      ] {
        let purge = try await world.larder.post("/v1/admin/purge", body, admin)
        #expect(purge.status == 400, "\(purge.text)")
        #expect(purge.text.contains("Trip"))
      }
      #expect(try await world.ids("/v1/entities/Trip").count == 3)
      await world.larder.stop()
    }

    // MARK: Settings

    @Test(
      "Settings that search or index an unusable field are refused by its name",
      arguments: [
        ("types: {Film: {search: [title, year]}}", "types.Film.search", "year is not a text field"),
        ("types: {Film: {search: [titel]}}", "types.Film.search", "Did you mean \"title\"?"),
        ("types: {Film: {index: [cast]}}", "types.Film.index", "cast"),
        ("types: {Film: {dates: seconds}}", "types.Film.dates", "Film is a type of upstream"),
      ])
    func unsearchableFieldIsNamed(
      settings: String, setting: String, words: String
    ) async throws {
      do {
        let larder = try await RunningLarder.start(settings: settings)
        await larder.stop()
        Issue.record("started")
      } catch let failure as StartFailure {
        #expect(failure.kind == .faultySettings)
        #expect(failure.description.contains(setting))
        #expect(failure.description.contains(words), "\(failure.description)")
      }
    }
  }
}
