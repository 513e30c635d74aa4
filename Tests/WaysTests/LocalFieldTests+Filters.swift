import LosslessJSON
import TestSupport
import Testing

/// Writing local fields of many films at once: by filter, and in lists of the queue.
extension Ways.LocalFieldTests {
  private static func encoded(_ filter: String) -> String {
    filter.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test("PATCH with a filter writes local fields of all matching films of the caller")
  func filterWritesLocalFields() async throws {
    let world = try await Self.start()
    let films = try await world.json("/v1/entities/Film?order=year&limit=100", world.mine)
    let years = (films["items"]?.array ?? []).compactMap { $0["year"]?.int64 }
    let middle = try #require(years.isEmpty ? nil : years[years.count / 2])
    let filter = Self.encoded("year >= \(middle)")
    let expected = try await world.ids("/v1/entities/Film?filter=\(filter)&limit=100", world.mine)
    let mine = try await world.json("/v1/changes?since=now", world.mine)
    let other = try await world.json("/v1/changes?since=now", world.other)
    let written = try await world.ask(
      "PATCH", "/v1/entities/Film?filter=\(filter)", #"{"favourite":true,"stars":4}"#,
      world.mine)
    #expect(written.text == #"{"matched":\#(expected.count)}"#, "\(written.text)")
    #expect(!expected.isEmpty && expected.count < years.count)
    let favourites = "/v1/entities/Film?filter=favourite&limit=100"
    #expect(try await world.ids(favourites, world.mine) == expected)
    #expect(try await world.ids(favourites, world.other) == [])
    let cursor = try #require(mine["cursor"]?.string)
    let changes = try await world.json("/v1/changes?limit=1000&since=\(cursor)", world.mine)
    let changed = (changes["changes"]?.array ?? []).compactMap { $0["id"]?.string }
    #expect(Set(changed) == Set(expected))
    let theirs = try #require(other["cursor"]?.string)
    #expect(try await world.json("/v1/changes?since=\(theirs)", world.other)["changes"] == [])
    // Local fields select too, and all=true selects what the caller sees.
    let fewer = try await world.ask(
      "PATCH", "/v1/entities/Film?filter=stars%20%3D%20%3F&arg=4", #"{"favourite":false}"#,
      world.mine, ("Idempotency-Key", "k"))
    #expect(fewer.text == #"{"matched":\#(expected.count)}"#, "\(fewer.text)")
    let again = try await world.ask(
      "PATCH", "/v1/entities/Film?filter=stars%20%3D%20%3F&arg=4", #"{"favourite":false}"#,
      world.mine, ("Idempotency-Key", "k"))
    #expect(again.body == fewer.body && again["idempotency-replayed"] == "true")
    #expect(try await world.ids(favourites, world.mine) == [])
    let all = try await world.ask(
      "PATCH", "/v1/entities/Film?all=true", #"{"stars":1}"#, world.mine)
    let visible = try await world.ask("HEAD", "/v1/entities/Film", nil, world.mine)
    #expect(all.text == #"{"matched":\#(visible["total-count"] ?? "none")}"#, "\(all.text)")
    await world.larder.stop()
  }

  @Test("A write by filter is refused as one to a single film is, with all faults")
  func filterWritesAreRefused() async throws {
    let world = try await Self.start()
    for (query, body, status, places) in [
      ("all=true", #"{"favourite":true,"title":"Mine","stars":9}"#, 422, ["/title", "/stars"]),
      ("all=true", #"{"favourite":true,"id":"f1"}"#, 422, ["/id"]),
      ("", #"{"favourite":true}"#, 400, ["filter"]),
      ("filter=nothing%20%3D%201", #"{"favourite":true}"#, 400, ["filter"]),
      ("filter=year%20%3E%201&all=true", #"{"favourite":true}"#, 400, ["all"]),
      ("all=true", #"{"note":"a"}"#, 401, []),
      ("all=true", #"{"title":"Mine"}"#, 403, []),
    ] as [(String, String, Int, [String])] {
      let answer = try await world.ask("PATCH", "/v1/entities/Film?\(query)", body, world.mine)
      #expect(answer.status == status, "\(query) \(body): \(answer.text)")
      let faults = try JSONValue(parsing: answer.body)["errors"]?.array ?? []
      let named = faults.compactMap { $0["pointer"]?.string ?? $0["parameter"]?.string }
      #expect(Set(named) == Set(places), "\(query) \(body): \(answer.text)")
    }
    let list = try await world.ask(
      "POST", "/v1/entities",
      """
      [{"op":"update","type":"Film","filter":"year > 0","data":{"favourite":true}},
       {"op":"update","type":"Film","id":"nowhere","data":{"stars":1}}]
      """, world.mine)
    #expect(list.status == 404, "\(list.text)")
    let anonymous = try await world.ask(
      "PATCH", "/v1/entities/Film?all=true", #"{"favourite":true}"#)
    #expect(anonymous.status == 401)
    #expect(try await world.ids("/v1/entities/Film?filter=favourite", world.mine) == [])
    await world.larder.stop()
  }

  @Test("A live list follows a write by filter in one step")
  func liveListsFollowFilterWrites() async throws {
    let world = try await Self.start()
    let target = "/v1/entities/Film/stream?filter=favourite&order=title&limit=100"
    let events = try await EventClient.open(
      port: world.larder.port, target, headers: [world.mine])
    var copy = ListCopy()
    let first = try #require(try await events.nextEvent())
    try copy.apply(try JSONValue(parsing: Array(first.data.utf8)))
    let written = try await world.ask(
      "PATCH", "/v1/entities/Film?all=true", #"{"favourite":true}"#, world.mine)
    #expect(written.status == 200, "\(written.text)")
    let event = try #require(try await events.nextEvent())
    try copy.apply(try JSONValue(parsing: Array(event.data.utf8)))
    let expected = try await world.ids(
      "/v1/entities/Film?filter=favourite&order=title&limit=100", world.mine)
    #expect(copy.items.compactMap { $0["id"]?.string } == expected && !expected.isEmpty)
    await world.larder.stop()
  }

  // MARK: The queue

  private static func submit(
    _ world: World, _ operations: String, key: String, _ headers: (String, String)...
  ) async throws -> RawResponse {
    try await world.larder.request(
      "POST", "/v1/mutations", headers: headers + [("Idempotency-Key", key)],
      body: #"{"write":[\#(operations)],"mode":"steady"}"#)
  }

  /// Waits for the outcome of a submitted list.
  private static func outcome(
    _ world: World, of submitted: RawResponse, _ device: (String, String)
  ) async throws -> JSONValue {
    #expect(submitted.status == 202, "\(submitted.text)")
    let id = try #require(try JSONValue(parsing: submitted.body)["id"]?.string)
    return try await eventually {
      try await world.json("/v1/mutations/\(id)?wait=5", device)
    } until: {
      ["applied", "rejected"].contains($0["state"]?.string)
    }
  }

  @Test("A queued list writes local fields by id and by filter, with rows of local types")
  func queuedListsWriteLocalFields() async throws {
    let world = try await Self.start()
    let favourites = "/v1/entities/Film?filter=favourite&limit=100"
    _ = try await world.ask("POST", "/v1/queue/pause", nil, world.mine)
    let submitted = try await Self.submit(
      world,
      """
      {"op":"insert","type":"MyList","data":{"title":"Best","films":["f1"]}},
      {"op":"update","type":"Film","id":"f2","data":{"favourite":true,"stars":2,"note":"queued"}},
      {"op":"update","type":"Film","filter":"lists.count > 0","data":{"favourite":true}}
      """, key: "k", world.mine, world.user.bearer)
    #expect(try await world.ids(favourites, world.mine) == [])
    _ = try await world.ask("POST", "/v1/queue/resume", nil, world.mine)
    let outcome = try await Self.outcome(world, of: submitted, world.mine)
    #expect(outcome["state"] == "applied", "\(outcome)")
    #expect(outcome["response"]?["items"]?[1]?["favourite"] == true, "\(outcome)")
    #expect(outcome["response"]?["items"]?[2] == ["matched": 1], "\(outcome)")
    #expect(try await world.ids(favourites, world.mine) == ["f1", "f2"])
    #expect(try await world.json("/v1/entities/Film/f2", world.user.bearer)["note"] == "queued")
    #expect(try await world.ids(favourites, world.other) == [])
    await world.larder.stop()
  }

  @Test("A queued list writes what its submitter saw, also what was fetched with its credential")
  func queuedListsSeeTheSubmittersFilms() async throws {
    let world = try await Self.start()
    let ada = SyncWorld.ada
    var hidden: String?
    for number in 21...60 where hidden == nil {
      let target = "/v1/entities/Film/f\(number)"
      if try await world.ask("GET", target, nil, world.mine).status == 404 { hidden = "f\(number)" }
    }
    let id = try #require(hidden)
    // Fetched with a credential, so that other callers do not see it.
    let fetched = try await world.ask("GET", "/api/films/\(id)/mine", nil, ada)
    #expect(fetched.status == 200, "\(fetched.text)")
    let target = "/v1/entities/Film/\(id)"
    let visible = try await world.ask("GET", target, nil, world.mine, ada)
    #expect(visible.status == 200, "\(visible.text)")
    #expect(try await world.ask("GET", target, nil, world.mine).status == 404)
    let operation = #"{"op":"update","type":"Film","id":"\#(id)","data":{"favourite":true}}"#
    let blind = try await Self.outcome(
      world, of: try await Self.submit(world, operation, key: "k1", world.mine), world.mine)
    #expect(blind["state"] == "rejected" && blind["problem"]?["code"] == "not_found", "\(blind)")
    let seeing = try await Self.outcome(
      world, of: try await Self.submit(world, operation, key: "k2", world.mine, ada), world.mine)
    #expect(seeing["state"] == "applied", "\(seeing)")
    #expect(try await world.json(target, world.mine, ada)["favourite"] == true)
    let filter = #"{"op":"update","type":"Film","filter":"favourite","data":{"stars":5}}"#
    let many = try await Self.outcome(
      world, of: try await Self.submit(world, filter, key: "k3", world.mine, ada), world.mine)
    #expect(many["response"]?["items"]?[0] == ["matched": 1], "\(many)")
    #expect(try await world.json(target, world.mine, ada)["stars"] == 5)
    await world.larder.stop()
  }

  @Test("A film that a mutation creates is made a favourite under its temporary id")
  func temporaryIDsNameUpstreamsFilms() async throws {
    let world = try await Self.start()
    let ada = SyncWorld.ada
    let id = PendingWorld.temporary
    _ = try await world.ask("POST", "/v1/queue/pause", nil, world.mine, ada)
    let submitted = try await world.ask(
      "POST", "/v1/mutations",
      """
      [{"operation":"CreateFilm","mode":"steady",
        "variables":{"input":{"title":"Draft","year":1999,"country":"FR"}},
        "optimistic":[{"op":"create","type":"Film","id":"\(id)",
          "fields":{"title":"Draft","year":1999,"country":"FR"}}]},
       {"write":[{"op":"update","type":"Film","id":"\(id)","data":{"favourite":true}}],
        "mode":"steady"}]
      """, world.mine, ada, ("Idempotency-Key", "k"))
    #expect(submitted.status == 202, "\(submitted.text)")
    let list = try #require(try JSONValue(parsing: submitted.body)[1]?["id"]?.string)
    _ = try await world.ask("POST", "/v1/queue/resume", nil, world.mine, ada)
    let outcome = try await eventually {
      try await world.json("/v1/mutations/\(list)?wait=5", world.mine)
    } until: {
      ["applied", "rejected"].contains($0["state"]?.string)
    }
    #expect(outcome["state"] == "applied", "\(outcome)")
    let favourites = try await world.json(
      "/v1/entities/Film?filter=favourite", world.mine, ada)
    #expect(favourites["items"]?.array?.map { $0["title"] } == ["Draft"], "\(favourites)")
    await world.larder.stop()
  }

  @Test("Queued operations without local fields, or with upstream's, are refused with all faults")
  func queuedListsAreChecked() async throws {
    let world = try await Self.start()
    let refused = try await Self.submit(
      world,
      """
      {"op":"update","type":"Film","id":"f1","data":{"title":"Mine"}},
      {"op":"update","type":"Person","id":"p1","data":{"name":"Mine"}}
      """, key: "k", world.mine)
    #expect(refused.status == 422, "\(refused.text)")
    #expect(
      try Self.pointers(refused) == ["/write/0/data", "/write/1/type"], "\(refused.text)")
    let mixed = try await Self.submit(
      world,
      """
      {"op":"update","type":"Film","id":"f1","data":{"favourite":true,"title":"Mine"}},
      {"op":"insert","type":"Film","data":{"favourite":true}},
      {"op":"update","type":"Film","all":true,"data":{"stars":9}}
      """, key: "k", world.mine)
    #expect(mixed.status == 422, "\(mixed.text)")
    #expect(
      try Self.pointers(mixed) == ["/write/0/data/title", "/write/1/op", "/write/2/data/stars"],
      "\(mixed.text)")
    await world.larder.stop()
  }

  private static func pointers(_ answer: RawResponse) throws -> Set<String> {
    let errors = try JSONValue(parsing: answer.body)["errors"]?.array ?? []
    return Set(errors.compactMap { $0["pointer"]?.string })
  }
}
