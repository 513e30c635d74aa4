import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Local types with keys of their own, unique fields and interfaces, as clients meet them.
  struct LocalKeyTests {
    private static let types = """
      interface Named { name: String  age: Int }
      type Profile implements Named @local @key(fields: "userId") {
        userId: Int64!
        name: String
        age: Int
        email: String @unique
        stamps: [Stamp!]! @inverse(field: "profile", onDelete: CASCADE)
      }
      type Stamp @local @key(fields: "country year") @unique(fields: "profile place") {
        country: String! @length(max: 2)
        year: Int!
        place: Int
        profile: Profile @inverse(field: "stamps")
        keeper: Named
      }
      type Cat implements Named @local { id: ID! name: String age: Int lives: Int }
      fragment NamedCard on Named { name ... on Cat { lives } }
      fragment StampCard on Stamp { year keeper { name } }
      """

    struct World {
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

      func items(_ target: String) async throws -> [JSONValue] {
        try await ask("GET", target).body["items"]?.array ?? []
      }
    }

    private static func start() async throws -> World {
      let larder = try await RunningLarder.start(
        settings: "types: {Profile: {search: [name]}, Cat: {search: [name]}}", localTypes: types)
      return World(
        larder: larder, token: ("Device-Token", try await DeviceTests.register(larder).token))
    }

    private static func pointers(_ body: JSONValue) -> [String] {
      body["errors"]?.array?.compactMap { $0["pointer"]?.string } ?? []
    }

    @Test("An Int64 key is a number in bodies, and its text in paths, in every write and read")
    func numericKeys() async throws {
      let world = try await Self.start()
      let big = "9007199254740993"
      let made = try await world.larder.request(
        "POST", "/v1/entities/Profile", headers: [world.token],
        body: #"{"userId":\#(big),"name":"Ada"}"#)
      #expect(made.status == 201, "\(made.text)")
      #expect(made["location"] == "/v1/entities/Profile/\(big)")
      #expect(made.text.contains("\"userId\":\(big)"))
      #expect(!made.text.contains("\"id\""))
      let again = try await world.ask("POST", "/v1/entities/Profile", #"{"userId":\#(big)}"#)
      #expect(again.status == 409 && again.body["code"] == "entity_exists")
      #expect(try await world.ask("PUT", "/v1/entities/Profile/7", #"{"name":"Bo"}"#).status == 201)
      #expect(
        try await world.ask("PUT", "/v1/entities/Profile/7", #"{"userId":7,"age":3}"#).status == 200
      )
      let patched = try await world.ask("PATCH", "/v1/entities/Profile/7", #"{"name":"Cy"}"#)
      #expect(patched.body["userId"] == 7 && patched.body["age"] == 3, "\(patched)")
      let read = try await world.ask("GET", "/v1/entities/Profile/7")
      #expect(read.status == 200 && read.body == patched.body)
      #expect(try await world.ask("GET", "/v1/entities/Profile/07").status == 404)
      #expect(try await world.ask("GET", "/v1/entities/Profile/x").status == 404)
      for (method, target, body, pointer) in [
        ("POST", "/Profile", "{}", "/userId"), ("POST", "/Profile", #"{"userId":"7"}"#, "/userId"),
        ("POST", "/Profile", #"{"userId":null}"#, "/userId"),
        ("PUT", "/Profile/x", "{}", "/userId"), ("PUT", "/Profile/8", #"{"userId":9}"#, "/userId"),
        ("PATCH", "/Profile/7", #"{"userId":8}"#, "/userId"),
        ("PATCH", "/Profile?all=true", #"{"userId":8}"#, "/userId"),
        ("POST", "/Stamp", #"{"country":"deu"}"#, "/country"),
        ("PUT", "/Stamp/3:deu4:1990", "{}", "/country"),
      ] {
        let refused = try await world.ask(method, "/v1/entities\(target)", body)
        #expect(refused.status == 422, "\(method) \(target) \(refused)")
        #expect(Self.pointers(refused.body).contains(pointer), "\(method) \(target) \(refused)")
      }
      let list = try await world.items("/v1/entities/Profile?order=-userId&limit=1")
      #expect(list.first?["userId"]?.int64 == Int64(big))
      #expect(
        try await world.items("/v1/entities/Profile?filter=userId%20%3C%2010").count == 1)
      let batch = try await world.ask(
        "POST", "/v1/entities",
        """
        [{"op":"updateOrInsert","type":"Profile","data":{"userId":7,"age":4}},
         {"op":"insertOrUpdate","type":"Profile","id":8,"data":{"name":"Di"}},
         {"op":"findOrInsert","type":"Profile","data":{"userId":8,"name":"no"}},
         {"op":"update","type":"Profile","filter":"userId = ?","args":[8],"data":{"age":9}},
         {"op":"delete","type":"Profile","id":"\(big)"}]
        """)
      #expect(batch.status == 200, "\(batch)")
      #expect(batch.body["items"]?[0]?["name"] == "Cy" && batch.body["items"]?[0]?["age"] == 4)
      #expect(batch.body["items"]?[2]?["name"] == "Di" && batch.body["items"]?[2]?["userId"] == 8)
      let changes = try await world.ask("GET", "/v1/changes?types=Profile").body["changes"]?.array
      #expect(Set(changes?.compactMap { $0["id"]?.string } ?? []) == ["7", "8"])
      // A long list: of a short one the diff would be longer than the whole.
      for number in 100..<120 {
        let body = #"{"name":"Profile \#(number)"}"#
        #expect(try await world.ask("PUT", "/v1/entities/Profile/\(number)", body).status == 201)
      }
      let page = try await world.larder.get("/v1/entities/Profile?order=userId", world.token)
      let tag = try #require(page["etag"])
      #expect(try await world.ask("DELETE", "/v1/entities/Profile/7").status == 204)
      let diff = try await world.larder.get(
        "/v1/entities/Profile/diff?order=userId&from=\(tag.filter { $0 != "\"" })", world.token)
      #expect(try JSONValue(parsing: diff.body)["deletes"] == [0], "\(diff.text)")
      await world.larder.stop()
    }

    @Test("Several key fields form an id, which paths, references and nested entities use")
    func compositeKeys() async throws {
      let world = try await Self.start()
      #expect(
        try await world.ask("PUT", "/v1/entities/Profile/7", #"{"name":"Ada"}"#).status == 201)
      let made = try await world.ask(
        "POST", "/v1/entities/Stamp", #"{"year":1990,"country":"de","profile":7}"#)
      #expect(made.status == 201, "\(made)")
      #expect(made.body["profile"] == "7" && made.body["year"] == 1990)
      let path = "/v1/entities/Stamp/2:de4:1990"
      #expect(try await world.ask("GET", path).body["country"] == "de")
      let put = try await world.ask("PUT", "/v1/entities/Stamp/2:fr4:1991", #"{"profile":"7"}"#)
      #expect(
        put.status == 201 && put.body["country"] == "fr" && put.body["year"] == 1991, "\(put)")
      let other = try await world.ask("PATCH", path, #"{"year":1991}"#)
      #expect(other.status == 422 && Self.pointers(other.body) == ["/year"], "\(other)")
      let half = try await world.ask("POST", "/v1/entities/Stamp", #"{"country":"it"}"#)
      #expect(half.status == 422 && Self.pointers(half.body) == ["/year"], "\(half)")
      let stamps = try await world.items("/v1/entities/Profile/7/stamps?order=year")
      #expect(stamps.map { $0["country"]?.string } == ["de", "fr"])
      let nested = try await world.ask(
        "GET", "/v1/entities/Profile/7?include=stamps(order:%20-year)")
      #expect(nested.body["stamps"]?[0]?["year"] == 1991, "\(nested)")
      let path2 = "/v1/entities/Stamp?filter=profile.userId%20%3D%207&order=profile.userId,year"
      #expect(try await world.items(path2).count == 2)
      #expect(try await world.ask("DELETE", "/v1/entities/Profile/7").status == 204)
      #expect(try await world.ask("GET", path).status == 404)
      await world.larder.stop()
    }

    @Test("A value that only one row may have is 409 not_unique with the fields, in every write")
    func uniqueFields() async throws {
      let world = try await Self.start()
      for (id, email) in [(1, "a"), (2, "b")] {
        let made = try await world.ask(
          "PUT", "/v1/entities/Profile/\(id)", #"{"email":"\#(email)"}"#)
        #expect(made.status == 201, "\(made)")
      }
      for (method, target, body) in [
        ("POST", "/Profile", #"{"userId":3,"email":"a"}"#),
        ("PUT", "/Profile/3", #"{"email":"a"}"#),
        ("PUT", "/Profile/2", #"{"email":"a"}"#), ("PATCH", "/Profile/2", #"{"email":"a"}"#),
        ("PATCH", "/Profile?all=true", #"{"email":"a"}"#),
        ("PATCH", "/Profile?filter=userId%20%3D%202", #"{"email":"a"}"#),
      ] {
        let refused = try await world.ask(method, "/v1/entities\(target)", body)
        #expect(
          refused.status == 409 && refused.body["code"] == "not_unique", "\(target) \(refused)")
        #expect(Self.pointers(refused.body) == ["/email"], "\(refused)")
        #expect(refused.body["detail"]?.string?.contains("Profile/1") == true)
      }
      let list = try await world.ask(
        "POST", "/v1/entities",
        """
        [{"op":"insert","type":"Profile","data":{"userId":3,"email":"c"}},
         {"op":"insert","type":"Stamp","data":{"country":"de","year":1,"place":1,"profile":1}},
         {"op":"insert","type":"Stamp","data":{"country":"de","year":2,"place":1,"profile":1}}]
        """)
      #expect(list.status == 409, "\(list)")
      #expect(Self.pointers(list.body) == ["/2/data/profile", "/2/data/place"], "\(list)")
      #expect(try await world.ask("GET", "/v1/entities/Profile/3").status == 404)
      let swap = try await world.ask(
        "POST", "/v1/entities",
        """
        [{"op":"update","type":"Profile","id":"1","data":{"email":"b"}},
         {"op":"update","type":"Profile","id":"2","data":{"email":"a"}}]
        """)
      #expect(swap.status == 200, "\(swap)")
      // Another device has rows of its own.
      let other = World(
        larder: world.larder,
        token: ("Device-Token", try await DeviceTests.register(world.larder).token))
      let made = try await other.ask("POST", "/v1/entities/Profile", #"{"userId":1,"email":"a"}"#)
      #expect(made.status == 201, "\(made)")
      await world.larder.stop()
    }

    @Test("Of requests that want the same value at once, one gets it, also after a restart")
    func concurrentRequests() async throws {
      let world = try await Self.start()
      let (port, token) = (world.larder.port, world.token)
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for id in 1...12 {
          group.addTask {
            try await onOwnThread {
              try RawClient(port: port).request(
                "PUT", "/v1/entities/Profile/\(id)",
                headers: [token, ("Content-Type", "application/json")], body: #"{"email":"a"}"#
              ).status
            }
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.sorted() == [201] + [Int](repeating: 409, count: 11))
      await world.larder.stopService()
      try await world.larder.startService()
      #expect(
        try await world.ask("PUT", "/v1/entities/Profile/20", #"{"email":"a"}"#).status == 409)
      await world.larder.stop()
    }

    @Test("The collection of an interface is one list of its types, with views, diffs and streams")
    func interfaceCollections() async throws {
      let world = try await Self.start()
      for (target, body) in [
        ("Profile/7", #"{"name":"Ada","age":36}"#), ("Profile/8", #"{"name":"Bo","age":2}"#),
        ("Cat/c", #"{"name":"Mo","age":2,"lives":9}"#), ("Cat/d", #"{"name":"Adam"}"#),
      ] {
        #expect(try await world.ask("PUT", "/v1/entities/\(target)", body).status == 201)
      }
      let all = try await world.ask("GET", "/v1/entities/Named?order=age,-name&total=true")
      #expect(all.body["total"] == 4, "\(all)")
      #expect(
        all.body["items"]?.array?.map { $0["name"]?.string } == ["Adam", "Mo", "Bo", "Ada"])
      #expect(
        all.body["items"]?.array?.map { $0["__typename"]?.string }
          == ["Cat", "Cat", "Profile", "Profile"])
      var seen: [String?] = []
      var target = "/v1/entities/Named?order=age,-name&limit=1"
      while true {
        let page = try await world.ask("GET", target).body
        seen += page["items"]?.array?.map { $0["name"]?.string } ?? []
        guard let next = page["next"]?.string, seen.count < 9 else { break }
        target = "/v1/entities/Named?order=age,-name&limit=1&after=\(next)"
      }
      #expect(seen == ["Adam", "Mo", "Bo", "Ada"])
      let filtered = try await world.items("/v1/entities/Named?filter=age%20%3D%202&view=NamedCard")
      #expect(filtered.map { $0["lives"] } == [9, nil], "\(filtered)")
      #expect(
        try await world.larder.request("HEAD", "/v1/entities/Named", headers: [world.token])[
          "total-count"] == "4")
      let unknown = try await world.ask("GET", "/v1/entities/Named?filter=lives%20%3D%209")
      #expect(unknown.status == 400, "\(unknown)")
      let found = try await world.items("/v1/search?q=ada*&types=Named")
      #expect(Set(found.compactMap { $0["id"]?.string }) == ["7", "d"], "\(found)")
      let one = try await world.ask("GET", "/v1/entities/Named/7")
      #expect(one.status == 404 && one.body["detail"]?.string?.contains("Cat, Profile") == true)
      let mixed = try await world.ask("GET", "/v1/entities").body["mixed"]?.array?
        .first { $0["name"] == "Named" }
      #expect(mixed?["types"] == ["Cat", "Profile"] && mixed?["columns"] == ["name", "age"])
      let stranger = try await world.larder.get("/v1/entities/Named")
      #expect(stranger.status == 401)

      for number in 10..<20 {
        let body = #"{"name":"Zoe \#(number)"}"#
        #expect(try await world.ask("PUT", "/v1/entities/Profile/\(number)", body).status == 201)
      }
      let stream = try await EventClient.open(
        port: world.larder.port, "/v1/entities/Named/stream?order=name&limit=14",
        headers: [world.token])
      let first = try #require(try await stream.nextEvent())
      #expect(first.event == "list")
      let plain = try await world.larder.get("/v1/entities/Named?order=name&limit=14", world.token)
      #expect(plain["etag"] == first.id)
      #expect(try await world.ask("PUT", "/v1/entities/Cat/e", #"{"name":"Aa"}"#).status == 201)
      let event = try #require(try await stream.nextEvent())
      #expect(event.event == "diff")
      let diff = try JSONValue(parsing: Array(event.data.utf8))
      #expect(diff["inserts"] == [["index": 0, "id": "Cat/e"]], "\(diff)")
      #expect(diff["deletes"] == [13], "\(diff)")
      await world.larder.stop()
    }

    @Test("A relationship to an interface names the type, and can be nested and followed")
    func interfaceRelationships() async throws {
      let world = try await Self.start()
      _ = try await world.ask("PUT", "/v1/entities/Cat/c", #"{"name":"Mo","lives":9}"#)
      let path = "/v1/entities/Stamp/2:de4:1990"
      let made = try await world.ask("PUT", path, #"{"keeper":{"type":"Cat","id":"c"}}"#)
      #expect(made.status == 201 && made.body["keeper"] == ["type": "Cat", "id": "c"], "\(made)")
      #expect(try await world.ask("GET", "\(path)/keeper").body["lives"] == 9)
      #expect(
        try await world.ask("GET", "\(path)?include=keeper").body["keeper"]?["name"] == "Mo")
      let view = try await world.ask("GET", "\(path)?view=StampCard")
      #expect(
        view.body["keeper"]?["name"] == "Mo" && view.body["keeper"]?["lives"] == nil, "\(view)")
      for wrong in [#""c""#, #"{"type":"Stamp","id":"c"}"#, #"{"type":"Cat","id":"gone"}"#] {
        let refused = try await world.ask("PATCH", path, #"{"keeper":\#(wrong)}"#)
        #expect(refused.status == 422 && Self.pointers(refused.body) == ["/keeper"], "\(refused)")
      }
      await world.larder.stop()
    }

    @Test("A write to an interface is refused with the types that can be written")
    func interfaceWrites() async throws {
      let world = try await Self.start()
      for (method, target) in [
        ("POST", "/Named"), ("PUT", "/Named/7"), ("PATCH", "/Named/7"), ("DELETE", "/Named/7"),
        ("PATCH", "/Named?all=true"), ("DELETE", "/Named?all=true"),
      ] {
        let answer = try await world.larder.request(
          method, "/v1/entities\(target)", headers: [world.token],
          body: method == "DELETE" ? nil : "{}")
        #expect(answer.status == 405, "\(method) \(target) \(answer.text)")
        #expect(answer["allow"]?.contains("GET") == true)
        #expect(answer.text.contains("Cat or Profile"), "\(answer.text)")
      }
      let list = try await world.ask(
        "POST", "/v1/entities", #"[{"op":"insert","type":"Named","data":{"name":"x"}}]"#)
      #expect(list.status == 400 && Self.pointers(list.body) == ["/0/type"], "\(list)")
      #expect(list.body["errors"]?[0]?["detail"]?.string?.contains("Cat or Profile") == true)
      let queued = try await world.larder.request(
        "POST", "/v1/mutations", headers: [world.token, ("Idempotency-Key", "k")],
        body: #"{"write":[{"op":"insert","type":"Named","data":{}}],"mode":"lazy"}"#)
      #expect(queued.status == 422, "\(queued.text)")
      #expect(queued.text.contains("Cat or Profile"), "\(queued.text)")
      await world.larder.stop()
    }

    @Test("Queued writes take keys of any type, and a broken unique rule rejects them")
    func queuedWrites() async throws {
      let world = try await Self.start()
      func submit(_ operations: String, key: String) async throws -> JSONValue {
        let answer = try await world.larder.request(
          "POST", "/v1/mutations", headers: [world.token, ("Idempotency-Key", key)],
          body: #"{"write":[\#(operations)],"mode":"force"}"#)
        return try JSONValue(parsing: answer.body)
      }
      let temporary = "~0190163d-8694-7999-8f5e-3f4a3b2c1d0e"
      let written = try await submit(
        """
        {"op":"insert","type":"Cat","id":"\(temporary)","data":{"name":"Mo"}},
        {"op":"insert","type":"Profile","data":{"userId":7,"email":"a"}},
        {"op":"insert","type":"Stamp","data":{"country":"de","year":1990,"profile":7,
          "keeper":{"type":"Cat","id":"\(temporary)"}}}
        """, key: "k1")
      #expect(written["state"] == "applied", "\(written)")
      #expect(written["response"]?["items"]?[1]?["userId"] == 7)
      let cat = try #require(try await world.items("/v1/entities/Cat").first?["id"]?.string)
      #expect(cat != temporary)
      let stamp = try await world.ask("GET", "/v1/entities/Stamp/2:de4:1990").body
      #expect(stamp["keeper"] == ["type": "Cat", "id": .string(cat)], "\(stamp)")
      let refused = try await submit(
        #"{"op":"insert","type":"Profile","data":{"userId":8,"email":"a"}}"#, key: "k2")
      #expect(refused["code"] == "not_unique", "\(refused)")
      await world.larder.stop()
    }
  }
}
