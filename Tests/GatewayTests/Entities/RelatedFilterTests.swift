import Filtering
import LosslessJSON
import Model
import TestSupport
import Testing
import Upstream

@testable import Gateway

/// Filters and orders about related entities: who may use them, and which changes they follow.
@Suite(.timeLimit(.minutes(10))) struct RelatedFilterTests {
  private static let person = EntityKey(type: "Person", key: "p1")
  private static let owner = Caller.anonymous.owner(in: ClientNetwork("10.0.0.1"))

  private static func film(_ id: String) -> (EntityKey, JSONValue) {
    (
      EntityKey(type: "Film", key: id),
      [
        "id": .string(id), "title": .string("T\(id)"),
        "director": .storedReference(to: person),
      ]
    )
  }

  private static func parameters(_ name: String, _ value: String) -> [CollectionRequest.Parameter] {
    [CollectionRequest.Parameter(name, value)]
  }

  @Test(
    "A live list follows the entities that its filter and order name",
    arguments: [
      "filter=director.name = 'A'", "order=-director.name,title&limit=1",
      "filter=ANY director.films.title = 'T2'", "filter=director.films.count = 1",
      "order=director.name&section=director.name", "filter=director.name IS MISSING",
      "include=director.films(limit: 1, order: -director.name,title)",
    ])
  func followsRelatedEntities(_ query: String) async throws {
    let world = try FollowedFilms()
    try await world.write([Self.film("1"), Self.film("2"), FollowedFilms.film("3", "T3")])
    let stream = try await world.stream(.type("Film"), query)
    var copy = ListCopy()
    func follow(_ note: String) async throws {
      try await world.follow(stream, &copy, to: .type("Film"), query, note)
    }
    try await follow("no director is stored")
    try await world.write([(Self.person, ["id": "p1", "name": "A"])])
    try await follow("the director came")
    try await world.person("p1", films: ["2"])
    try await follow("the director has films")
    try await world.write([(Self.person, ["id": "p1", "name": "B"])])
    try await follow("the director has another name")
    try await world.delete(Self.person)
    try await follow("the director is deleted")
  }

  @Test(
    "A caller who may not read a type may not filter or order by it",
    arguments: [
      ("filter", "director.name = 'A'"), ("filter", "NOT director.name = 'A'"),
      ("filter", "director.name IS MISSING"), ("filter", "ANY director.films.title = 'x'"),
      ("filter", "year = 1 OR director.films.count > 0"), ("order", "title,-director.name"),
    ])
  func refusesForbiddenTypes(name: String, value: String) async throws {
    let world = try FollowedFilms(hasServiceCredentials: true, openTypes: ["Film"])
    try await world.write([Self.film("1"), (Self.person, ["id": "p1", "name": "A"])])
    let parameters = Self.parameters(name, value)
    let plain = try await world.entities.collection(
      of: "Film", parameters: Self.parameters("order", "title"), caller: .anonymous)
    #expect(try JSONValue(parsing: plain.body)["items"]?.array?.count == 1)
    await #expect(throws: Failure.self) {
      try await world.entities.collection(
        of: "Film", parameters: parameters, caller: .anonymous)
    }
    await #expect(throws: Failure.self) {
      try await world.lists.start(
        ListQuestion(.type("Film"), parameters: parameters), caller: .anonymous,
        owner: Self.owner, knownTag: nil)
    }
    await #expect(throws: Failure.self) {
      try await world.entities.relationship(
        "films", of: Self.person, parameters: parameters, caller: .anonymous)
    }
  }

  @Test(
    "A caller does not join a live list that another one filters by a type of its rights",
    arguments: [
      ("filter", "studio.name = 'S'"), ("order", "studio.name"), ("include", "studio"),
    ])
  func refusesForbiddenSharedLists(name: String, value: String) async throws {
    let world = try FollowedFilms(hasServiceCredentials: true, openTypes: ["Film", "Person"])
    let studio = EntityKey(type: "Studio", key: "s1")
    try await world.write([
      (
        EntityKey(type: "Film", key: "1"),
        ["id": "1", "title": "T", "studio": .storedReference(to: studio)]
      ), (studio, ["id": "s1", "name": "S"]),
    ])
    try await world.person("p1", films: ["1"])
    for subject in [ListSubject.type("Film"), .relationship("films", of: Self.person)] {
      let question = ListQuestion(subject, parameters: Self.parameters(name, value))
      let admin = Caller(isAdmin: true)
      #expect(admin.viewer == Caller.anonymous.viewer)
      let start = try await world.lists.start(
        question, caller: admin, owner: Self.owner, knownTag: nil)
      #expect(world.lists.count == 1)
      await #expect(throws: Failure.self) {
        try await world.lists.start(
          question, caller: .anonymous, owner: Self.owner, knownTag: nil)
      }
      withExtendedLifetime(start) {}
    }
  }

  @Test("A write by a filter about a type that its caller may not read is refused")
  func refusesForbiddenWrites() throws {
    let world = try FollowedFilms(hasServiceCredentials: true, openTypes: ["Film"])
    let type = try world.entities.directory.type(named: "Film")
    let reach = FilterReach(
      graph: world.entities.directory.graph, local: .none,
      gate: StoredDataGate(hasServiceCredentials: true, openTypes: ["Film"]))
    func filter(_ text: String) throws(Failure) -> Filter {
      try EntityWriteRequest(.delete, type: "Film", target: .many([])).filter(
        Self.parameters("filter", text), type: type, reach: reach,
        now: Timestamp(milliseconds: 0), caller: .anonymous)
    }
    #expect(throws: Never.self) { try filter("title = 'x'") }
    #expect(throws: Failure.self) { try filter("director.name = 'x'") }
    #expect(throws: Failure.self) { try filter("director.films.count = 0") }
  }

  @Test("all=true selects every row, whatever is stored of it, and reaches no other types")
  func allSelectsEverything() throws {
    let type = try FollowedFilms().entities.directory.type(named: "Film")
    let filter = try EntityWriteRequest(.delete, type: "Film", target: .many([])).filter(
      Self.parameters("all", "true"), type: type, reach: .none, now: Timestamp(milliseconds: 0),
      caller: .anonymous)
    #expect(filter == .everything(of: type))
    #expect(filter.reachedTypes == [])
  }

  @Test("A filter of changes takes key paths and now(), and names the types that they reach")
  func changesTakeKeyPaths() throws {
    let world = try FollowedFilms()
    let type = try world.entities.directory.type(named: "Film")
    let graph = world.entities.directory.graph
    var faults: [String] = []
    func condition(_ text: String) -> ChangeCondition? {
      ChangeCondition(
        text, arguments: .none, types: [type], graph: graph, now: Timestamp(milliseconds: 0)
      ) { faults.append($1) }
    }
    let timed = condition("title < now()")
    #expect(try #require(timed).usesNow)
    let plain = condition("title < '2026'")
    #expect(try #require(plain).usesNow == false)
    #expect(condition("colour < now()") == nil)
    #expect(faults.count == 1, "\(faults)")
    let own = condition("title BEGINSWITH[cd] 'a' OR length(title) > 3 OR year IS MISSING")
    #expect(try #require(own).reachedTypes == [])
    let related = condition("director.name = 'x' AND studio.name IS MISSING")
    #expect(try #require(related).reachedTypes == ["Person", "Studio"])
  }
}
