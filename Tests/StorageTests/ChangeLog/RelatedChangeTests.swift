import Filtering
import LosslessJSON
import Model
import Testing

@testable import Storage

/// Observers with a condition on related entities.
struct RelatedChangeTests {
  private static let all: Set<String> = ["Film", "Person", "Studio"]

  private static func opened() throws -> StoreFixture {
    try StoreFixture(types: [RelatedWorld.films, RelatedWorld.people, RelatedWorld.studios])
  }

  private static func conditions(
    _ text: String, of type: EntityType = RelatedWorld.films
  ) throws -> [String: ObservedCondition] {
    let filter = try Filter(text, arguments: .none, type: type, graph: RelatedWorld.graph)
    return [type.name: ObservedCondition(type: type, filter: filter)]
  }

  private static func film(
    _ call: Int64, _ id: String, by director: String? = nil, cast: [String]? = nil
  ) -> NormalisedResponse {
    var fields: JSONValue = [:]
    if let director { fields["director"] = .reference(.person(director)) }
    if let cast { fields["cast"] = .array(cast.map { .reference(.person($0)) }) }
    return ResponseBuilder(call: call).film(id, fields).build()
  }

  private static func person(
    _ call: Int64, _ id: String, _ name: String, studio: String? = nil
  ) -> NormalisedResponse {
    var fields: JSONValue = ["id": .string(id), "name": .string(name)]
    if let studio { fields["studio"] = .reference(EntityKey(type: "Studio", key: studio)) }
    return ResponseBuilder(call: call).entity(.person(id), fields).build()
  }

  private static func studio(_ call: Int64, _ id: String, _ name: String) -> NormalisedResponse {
    ResponseBuilder(call: call).entity(
      EntityKey(type: "Studio", key: id), ["id": .string(id), "name": .string(name)]
    ).build()
  }

  @Test("A film enters and leaves the filter because its director changed")
  func aDirectorsChangeIsReported() async throws {
    let fixture = try Self.opened()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await store.keepHistory(ofTypes: Self.all)
    _ = try await store.apply(Self.person(1, "p1", "Varda"))
    _ = try await store.apply(Self.person(2, "p2", "Demy"))
    _ = try await store.apply(Self.film(3, "f1", by: "p1"))
    _ = try await store.apply(Self.film(4, "f2", by: "p2"))
    var follower = LogFollower(conditions: try Self.conditions("director.name = 'Varda'"))
    try await follower.takePage(from: store)
    #expect(follower.reported == ["new Film/f1"])
    _ = try await store.apply(Self.person(5, "p1", "Agn\u{E8}s"))
    _ = try await store.apply(Self.person(6, "p2", "Varda"))
    try await follower.takePage(from: store)
    #expect(follower.reported == ["hidden Film/f1", "new Film/f2"])
    // A change of the director that the filter does not ask for tells nothing new.
    _ = try await store.apply(Self.person(7, "p2", "Varda", studio: "s1"))
    try await follower.takePage(from: store)
    #expect(follower.reported == ["put Film/f2"])
    _ = try await store.apply(Self.person(8, "p1", "Jacques"))
    try await follower.takePage(from: store)
    #expect(follower.reported.isEmpty)
  }

  @Test("A path of several hops, through members or not, is followed back to the entities")
  func longPathsAreFollowedBack() async throws {
    let fixture = try Self.opened()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await store.keepHistory(ofTypes: Self.all)
    _ = try await store.apply(Self.studio(1, "s1", "Gaumont"))
    _ = try await store.apply(Self.person(2, "p1", "Varda", studio: "s1"))
    _ = try await store.apply(Self.film(3, "f1", by: "p1", cast: []))
    _ = try await store.apply(Self.film(4, "f2", cast: ["p1"]))
    var hops = LogFollower.atHead(
      of: store, conditions: try Self.conditions("director.studio.name = 'Tamaris'"))
    var members = LogFollower.atHead(
      of: store, conditions: try Self.conditions("ANY cast.studio.name = 'Tamaris'"))
    var none = LogFollower.atHead(
      of: store, conditions: try Self.conditions("NONE cast.studio.name = 'Tamaris'"))
    _ = try await store.apply(Self.studio(5, "s1", "Tamaris"))
    try await hops.takePage(from: store)
    #expect(hops.reported == ["new Film/f1"])
    try await members.takePage(from: store)
    #expect(members.reported == ["new Film/f2"])
    try await none.takePage(from: store)
    #expect(none.reported == ["hidden Film/f2"])
  }

  @Test("The former owner of a member that moved to another one is reported")
  func aFormerOwnerIsReported() async throws {
    let fixture = try Self.opened()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await store.keepHistory(ofTypes: Self.all)
    _ = try await store.apply(Self.person(1, "p1", "Varda"))
    _ = try await store.apply(Self.person(2, "p2", "Demy"))
    _ = try await store.apply(Self.film(3, "f1", by: "p1"))
    let conditions = try Self.conditions("films.count > 0", of: RelatedWorld.people)
    var follower = LogFollower(conditions: conditions)
    try await follower.takePage(from: store)
    #expect(follower.reported == ["new Person/p1"])
    _ = try await store.apply(Self.film(4, "f1", by: "p2"))
    try await follower.takePage(from: store)
    #expect(follower.reported == ["hidden Person/p1", "new Person/p2"])
    _ = try await store.apply(ResponseBuilder(call: 5).deleting(.film("f1")).build())
    try await follower.takePage(from: store)
    #expect(follower.reported == ["hidden Person/p2"])
    _ = try await store.apply(Self.film(6, "f2", by: "p1"))
    try await follower.takePage(from: store)
    #expect(follower.reported == ["new Person/p1"])
    // A purge leaves no trace of whom the film named.
    _ = try await store.purge(
      [.entity(.film("f2"))], in: .public, call: CallNumber(7), horizon: CallNumber(7))
    #expect(try await follower.takePage(from: store) == nil)
  }

  @Test("What one change concerns is divided into pages", arguments: [1, 3, 7, 100])
  func aChangeThatConcernsManyIsDivided(limit: Int) async throws {
    let fixture = try Self.opened()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await store.keepHistory(ofTypes: Self.all)
    _ = try await store.apply(Self.person(1, "p1", "Demy"))
    var builder = ResponseBuilder(call: 2)
    let keys = (10..<30).map { "f:\($0)" }
    for key in keys { builder = builder.film(key, ["director": .reference(.person("p1"))]) }
    _ = try await store.apply(builder.build())
    var follower = LogFollower.atHead(
      of: store, conditions: try Self.conditions("director.name = 'Varda'"))
    _ = try await store.apply(Self.person(3, "p1", "Varda"))
    _ = try await store.apply(Self.film(4, "f:99", by: "p1"))
    var reported: [String] = []
    var isComplete = false
    for _ in 0..<100 where !isComplete {
      let page = try #require(try await follower.takePage(from: store, limit: limit))
      #expect(page.entries.count <= limit)
      reported += follower.reported
      isComplete = page.isComplete
    }
    #expect(isComplete)
    #expect(reported == (keys + ["f:99"]).map { "new Film/\($0)" })
  }

  @Test(
    "A reader inside of what a change concerns gets the rest after another change of the same entity"
  )
  func aChangeBetweenTwoPagesIsReported() async throws {
    let fixture = try Self.opened()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await store.keepHistory(ofTypes: Self.all)
    _ = try await store.apply(Self.person(1, "p1", "Demy"))
    for id in 1...3 { _ = try await store.apply(Self.film(Int64(id) + 1, "f\(id)", by: "p1")) }
    var follower = LogFollower.atHead(
      of: store, conditions: try Self.conditions("director.name = 'Varda'"))
    _ = try await store.apply(Self.person(5, "p1", "Varda"))
    try await follower.takePage(from: store, limit: 2)
    #expect(follower.reported == ["new Film/f1", "new Film/f2"])
    _ = try await store.apply(Self.person(6, "p1", "Demy"))
    while try #require(try await follower.takePage(from: store, limit: 2)).isComplete == false {}
    #expect(follower.held.isEmpty)
  }

  @Test("A cursor from before the history of a related type is not continued")
  func theHistoryOfRelatedTypesCounts() async throws {
    let fixture = try Self.opened()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await store.keepHistory(ofTypes: ["Film"])
    _ = try await store.apply(Self.person(1, "p1", "Varda"))
    let conditions = try Self.conditions("director.name = 'Varda'")
    var early = LogFollower.atHead(of: store, conditions: conditions)
    _ = try await store.apply(Self.person(2, "p1", "Demy"))
    try await store.keepHistory(ofTypes: ["Person"])
    #expect(try await early.takePage(from: store) == nil)
    var late = LogFollower.atHead(of: store, conditions: conditions)
    #expect(try await late.takePage(from: store) != nil)
  }

  @Test(
    "Positions inside of what a change concerns keep both keys",
    arguments: ["", "a", "1:2+3", "\u{301}e"])
  func positionsKeepBothKeys(key: String) throws {
    let position = LogPosition(revision: 7, type: 12, key: key, concerned: "x:\(key)")
    let row = try #require(position.row)
    #expect(row.revision == 7 && row.type == 12 && row.key.equalsExactly(key))
    #expect(try #require(position.concerned).equalsExactly("x:\(key)"))
    let plain = LogPosition(revision: 7, type: 12, key: key)
    #expect(try #require(plain.row).key.equalsExactly(key))
    #expect(plain.concerned == nil)
  }
}
