import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Local fields on upstream's films: favourites and notes that only their owner sees.
  struct LocalFieldTests {
    private static let types = """
      extend type Film {
        favourite: Boolean @local @default(value: false)
        stars: Int @local @range(min: 1, max: 5)
        tags: [String!] @local
        note: String @local(scope: USER) @length(max: 200)
        lists: [MyList!] @local @inverse(field: "films")
      }
      type MyList @local { id: ID! title: String! films: [Film!]! @inverse(field: "lists") }
      fragment MyFilm on Film { id title favourite stars }
      """

    struct World {
      let larder: RunningLarder
      let mine: (String, String)
      let other: (String, String)
      let user: AccountTests.Session

      func ask(
        _ method: String, _ target: String, _ body: String? = nil, _ headers: (String, String)...
      ) async throws -> RawResponse {
        try await larder.request(method, target, headers: headers, body: body)
      }

      func json(_ target: String, _ headers: (String, String)...) async throws -> JSONValue {
        let answer = try await larder.request("GET", target, headers: headers)
        #expect(answer.status == 200, "\(target): \(answer.text)")
        return try JSONValue(parsing: answer.body)
      }

      func ids(_ target: String, _ headers: (String, String)...) async throws -> [String] {
        let answer = try await larder.request("GET", target, headers: headers)
        #expect(answer.status == 200, "\(target): \(answer.text)")
        let items = try JSONValue(parsing: answer.body)["items"]?.array
        return items?.compactMap { $0["id"]?.string } ?? []
      }

      /// Writes local fields of the film f1.
      func write(_ body: String, _ headers: (String, String)...) async throws {
        let answer = try await larder.request(
          "PATCH", "/v1/entities/Film/f1", headers: headers, body: body)
        #expect(answer.status == 200, "\(answer.text)")
      }
    }

    static func start(settings: String = "") async throws -> World {
      let larder = try await RunningLarder.start(
        settings: """
          accounts: {passwordCost: 10, signUp: open}
          types:
            Film:
              search: [title, note]
              index: [favourite]
          \(settings)
          """, localTypes: types)
      #expect(try await larder.get("/api/films?limit=20").status == 200)
      #expect(try await larder.get("/api/films/f1").status == 200)
      return World(
        larder: larder,
        mine: ("Device-Token", try await DeviceTests.register(larder).token),
        other: ("Device-Token", try await DeviceTests.register(larder).token),
        user: try await AccountTests.signUp(larder))
    }

    @Test("A favourite is written by its owner and shown in the owner's reads alone")
    func ownerAloneSeesAFavourite() async throws {
      let world = try await Self.start()
      let target = "/v1/entities/Film/f1"
      let before = try await world.ask("GET", target, nil, world.other)
      let anonymous = try await world.ask("GET", target)
      let list = try await world.ask("GET", "/v1/entities/Film?limit=5")
      let operation = try await world.ask("GET", "/api/films/f1")
      #expect(try JSONValue(parsing: before.body)["favourite"] == false)
      #expect(try JSONValue(parsing: anonymous.body)["favourite"] == nil)
      let written = try await world.ask(
        "PATCH", target, #"{"favourite":true,"stars":4}"#, world.mine)
      #expect(written.status == 200, "\(written.text)")
      let read = try await world.ask("GET", target, nil, world.mine)
      #expect(read.body == written.body && read["etag"] == written["etag"])
      let film = try JSONValue(parsing: read.body)
      #expect(film["favourite"] == true && film["stars"] == 4 && film["title"] != nil)
      #expect(read["etag"] != before["etag"])
      for (target, earlier, headers) in [
        (target, before, [world.other]), (target, anonymous, []),
        ("/v1/entities/Film?limit=5", list, []), ("/api/films/f1", operation, []),
      ] as [(String, RawResponse, [(String, String)])] {
        let now = try await world.larder.request("GET", target, headers: headers)
        #expect(now.body == earlier.body && now["etag"] == earlier["etag"], "\(target)")
      }
      // The tag of a read is a condition of the next write.
      let tag = try #require(read["etag"])
      let second = try await world.ask(
        "PATCH", target, #"{"stars":5}"#, world.mine, ("If-Match", tag))
      #expect(second.status == 200, "\(second.text)")
      let late = try await world.ask(
        "PATCH", target, #"{"stars":1}"#, world.mine, ("If-Match", tag))
      #expect(late.status == 412)
      await world.larder.stop()
    }

    @Test("No read of another caller changes when local fields are written")
    func noReadOfOthersChanges() async throws {
      let world = try await Self.start()
      let second = try await AccountTests.signUp(world.larder, "grace")
      let targets = [
        "/v1/entities", "/v1/entities/Film/f1", "/v1/entities/Film/f1?view=MyFilm",
        "/v1/entities/Film?limit=30", "/v1/entities/Film?order=-stars&limit=30",
        "/v1/entities/Film?filter=favourite&total=true", "/v1/entities/Film?view=MyFilm",
        "/v1/entities/Film?filter=stars%20IS%20NULL&section=favourite&order=favourite",
        "/v1/search?q=zeppelins&types=Film", "/v1/entities/Film/f1/cast",
        "/v1/entities/Film?filter=note%20%3D%20%27zeppelins%27", "/api/films/f1",
        "/api/films?limit=20",
      ]
      let callers = [[world.other], [second.bearer], [world.other, second.bearer], []]
      func read() async throws -> [String] {
        var seen: [String] = []
        for target in targets {
          // Upstream does not know the tokens of this service.
          for headers in callers
          where target.hasPrefix("/v1") || headers.allSatisfy({ $0.0 != "Authorization" }) {
            let answer = try await world.larder.request("GET", target, headers: headers)
            seen.append("\(target) \(answer.status) \(answer["etag"] ?? "") \(answer.text)")
          }
        }
        return seen
      }
      let before = try await read()
      try await world.write(#"{"favourite":true,"stars":5}"#, world.mine)
      try await world.write(#"{"note":"zeppelins"}"#, world.mine, world.user.bearer)
      let made = try await world.ask(
        "POST", "/v1/entities/MyList", #"{"id":"l","title":"Best","films":["f1"]}"#, world.mine)
      #expect(made.status == 201, "\(made.text)")
      for (earlier, now) in zip(before, try await read()) { #expect(earlier == now) }
      await world.larder.stop()
    }

    @Test("A key that a user's write used is not answered to another caller of the device")
    func keysAreOfOneReader() async throws {
      let world = try await Self.start()
      let key = ("Idempotency-Key", "one")
      try await world.write(#"{"note":"zeppelins"}"#, world.mine, world.user.bearer)
      func write(_ headers: (String, String)...) async throws -> RawResponse {
        try await world.larder.request(
          "PATCH", "/v1/entities/Film/f1", headers: headers, body: #"{"stars":4}"#)
      }
      let first = try await write(world.mine, world.user.bearer, key)
      #expect(first.status == 200 && first.text.contains("zeppelins"), "\(first.text)")
      let again = try await write(world.mine, world.user.bearer, key)
      #expect(again.status == 200 && again["idempotency-replayed"] == "true", "\(again.text)")
      let other = try await write(world.mine, key)
      #expect(other.status == 422 && !other.text.contains("zeppelins"), "\(other.text)")
      await world.larder.stop()
    }

    @Test("A note belongs to a user on every device of theirs")
    func noteBelongsToAUser() async throws {
      let world = try await Self.start()
      try await world.write(#"{"note":"again"}"#, world.user.bearer)
      let target = "/v1/entities/Film/f1"
      #expect(try await world.json(target, world.user.bearer)["note"] == "again")
      #expect(try await world.json(target, world.user.bearer, world.other)["note"] == "again")
      let second = try await AccountTests.signUp(world.larder, "grace")
      #expect(try await world.json(target, second.bearer)["note"] == .null)
      #expect(try await world.json(target, world.mine)["note"] == nil)
      await world.larder.stop()
    }

    @Test("A body that names upstream's fields too is refused, with each of them")
    func mixedBodiesAreRefused() async throws {
      let world = try await Self.start()
      let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")
      for headers in [[world.mine], [world.mine, admin]] {
        let answer = try await world.larder.request(
          "PATCH", "/v1/entities/Film/f1", headers: headers,
          body: #"{"favourite":true,"title":"Mine","year":1,"stars":9}"#)
        #expect(answer.status == 422, "\(answer.text)")
        let faults = try JSONValue(parsing: answer.body)["errors"]?.array ?? []
        #expect(
          Set(faults.compactMap { $0["pointer"]?.string }) == ["/title", "/year", "/stars"],
          "\(answer.text)")
      }
      let upstream = try await world.ask(
        "PATCH", "/v1/entities/Film/f1", #"{"title":"Mine"}"#, world.mine)
      #expect(upstream.status == 403)
      let stranger = try await world.ask("PATCH", "/v1/entities/Film/f1", #"{"favourite":true}"#)
      #expect(stranger.status == 401)
      let unsigned = try await world.ask(
        "PATCH", "/v1/entities/Film/f1", #"{"note":"a"}"#, world.mine)
      #expect(unsigned.status == 401, "\(unsigned.text)")
      let unknown = try await world.ask(
        "PATCH", "/v1/entities/Film/nowhere", #"{"favourite":true}"#, world.mine)
      #expect(unknown.status == 404)
      let whole = try await world.ask(
        "POST", "/v1/entities/Film", #"{"id":"x","favourite":true}"#, world.mine)
      #expect(whole.status == 422, "\(whole.text)")
      let many = try await world.ask(
        "PATCH", "/v1/entities/Film?all=true", #"{"id":"f1","favourite":true,"title":"Mine"}"#,
        world.mine)
      #expect(many.status == 422, "\(many.text)")
      #expect(many.text.contains("/id") && many.text.contains("/title"), "\(many.text)")
      #expect(try await world.json("/v1/entities/Film/f1", world.mine)["favourite"] == false)
      await world.larder.stop()
    }

    @Test("A body may repeat the key of its path, and no other")
    func bodiesMayRepeatTheKey() async throws {
      let world = try await Self.start()
      try await world.write(#"{"id":"f1","favourite":true}"#, world.mine)
      #expect(try await world.json("/v1/entities/Film/f1", world.mine)["favourite"] == true)
      for id in [#""f2""#, "null", "[]"] {
        let answer = try await world.ask(
          "PATCH", "/v1/entities/Film/f1", #"{"id":\#(id),"favourite":false}"#, world.mine)
        #expect(answer.status == 422, "\(answer.text)")
        let faults = try JSONValue(parsing: answer.body)["errors"]?.array ?? []
        #expect(faults.map { $0["pointer"]?.string } == ["/id"], "\(answer.text)")
      }
      #expect(try await world.json("/v1/entities/Film/f1", world.mine)["favourite"] == true)
      await world.larder.stop()
    }

    @Test("Favourites survive a refetch of the film")
    func surviveARefetch() async throws {
      let world = try await Self.start()
      try await world.write(#"{"favourite":true}"#, world.mine)
      let renamed = try await world.larder.post(
        "/v1/operations/UpdateFilm", #"{"id":"f1","patch":{"title":"Renamed"}}"#)
      #expect(renamed.status == 200, "\(renamed.text)")
      #expect(
        try await world.larder.get("/api/films/f1", ("Cache-Control", "no-cache")).status == 200)
      let film = try await world.json("/v1/entities/Film/f1", world.mine)
      #expect(film["title"] == "Renamed" && film["favourite"] == true)
      await world.larder.stop()
    }

    @Test("A film that upstream deletes stays in the owner's reads with its local fields")
    func surviveTheFilmsDeletion() async throws {
      let world = try await Self.start()
      try await world.write(#"{"favourite":true,"stars":5}"#, world.mine)
      let deleted = try await world.larder.post("/v1/operations/DeleteFilm", #"{"id":"f1"}"#)
      #expect(deleted.status == 200, "\(deleted.text)")
      let film = try await world.json("/v1/entities/Film/f1", world.mine)
      #expect(film["_deleted"] == true && film["favourite"] == true && film["id"] == "f1")
      #expect(film["title"] == nil)
      #expect(try await world.ids("/v1/entities/Film?filter=favourite", world.mine) == ["f1"])
      for headers in [[], [world.other]] as [[(String, String)]] {
        let answer = try await world.larder.request(
          "GET", "/v1/entities/Film/f1", headers: headers)
        #expect(answer.status == 404)
        #expect(try JSONValue(parsing: answer.body)["code"] == "deleted")
      }
      await world.larder.stop()
    }

    @Test("Collections filter and order by local fields, views show them")
    func filterOrderAndViews() async throws {
      let world = try await Self.start()
      for (film, stars) in [("f2", 2), ("f3", 5), ("f4", 3)] {
        let answer = try await world.ask(
          "PATCH", "/v1/entities/Film/\(film)", #"{"favourite":true,"stars":\#(stars)}"#,
          world.mine)
        #expect(answer.status == 200, "\(answer.text)")
      }
      let target = "/v1/entities/Film?filter=favourite%20%3D%20true&order=-stars"
      #expect(try await world.ids(target, world.mine) == ["f3", "f4", "f2"])
      #expect(try await world.ids(target, world.other) == [])
      #expect(try await world.ids(target) == [])
      let count = try await world.ask(
        "HEAD", "/v1/entities/Film?filter=favourite%20%3D%20true", nil, world.mine)
      #expect(count["total-count"] == "3")
      let view = try await world.json("/v1/entities/Film/f3?view=MyFilm", world.mine)
      #expect(
        view.members?.map(\.name)
          == ["__typename", "id", "title", "favourite", "stars", "_missing", "_rev"])
      #expect(view["_missing"] == [])
      let stranger = try await world.json("/v1/entities/Film/f3?view=MyFilm")
      #expect(stranger["_missing"] == ["favourite", "stars"])
      let sections = try await world.json(
        "/v1/entities/Film?order=favourite&section=favourite&limit=1", world.mine)
      #expect(sections["sections"]?.array?.last?["count"] == 3)
      await world.larder.stop()
    }

    @Test("A search finds the words of the caller's own notes")
    func searchFindsNotes() async throws {
      let world = try await Self.start()
      try await world.write(#"{"note":"zeppelins everywhere"}"#, world.user.bearer)
      let target = "/v1/search?q=zeppelins&types=Film"
      #expect(try await world.ids(target, world.user.bearer) == ["f1"])
      for headers in [[], [world.mine]] as [[(String, String)]] {
        let answer = try await world.larder.request("GET", target, headers: headers)
        #expect(try JSONValue(parsing: answer.body)["items"] == [], "\(answer.text)")
      }
      await world.larder.stop()
    }

    @Test("A list of the device shows on the film, and the film's lists are set from there too")
    func listsShowOnTheFilm() async throws {
      let world = try await Self.start()
      let made = try await world.ask(
        "POST", "/v1/entities/MyList", #"{"id":"l","title":"Best","films":["f1","f2"]}"#,
        world.mine)
      #expect(made.status == 201, "\(made.text)")
      #expect(try await world.ids("/v1/entities/Film/f1/lists", world.mine) == ["l"])
      #expect(
        try await world.ids("/v1/entities/Film?filter=lists.count%20%3E%200", world.mine)
          == ["f1", "f2"])
      try await world.write(#"{"lists":[]}"#, world.mine)
      #expect(try await world.ids("/v1/entities/MyList/l/films", world.mine) == ["f2"])
      let nested = try await world.json("/v1/entities/Film/f2?include=lists", world.mine)
      #expect(nested["lists"]?[0]?["title"] == "Best", "\(nested.canonicalText)")
      let stranger = try await world.larder.request("GET", "/v1/entities/Film/f2/lists")
      #expect(stranger.status == 401)
      await world.larder.stop()
    }

    @Test("A reset deletes the device's local fields")
    func resetDeletesThem() async throws {
      let world = try await Self.start()
      try await world.write(#"{"favourite":true}"#, world.mine)
      try await world.write(#"{"favourite":true}"#, world.other)
      let reset = try await world.ask("POST", "/v1/devices/me/reset", nil, world.mine)
      #expect((200..<300).contains(reset.status), "\(reset.text)")
      #expect(try await world.json("/v1/entities/Film/f1", world.mine)["favourite"] == false)
      #expect(try await world.json("/v1/entities/Film/f1", world.other)["favourite"] == true)
      await world.larder.stop()
    }
  }
}
