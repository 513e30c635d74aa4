import Filtering
import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Storage

/// Observers whose condition names local fields of upstream's entities, lists of scalars among them.
struct LocalFieldChangeTests {
  /// The device's fields of ``FieldWorld``, and a list.
  static let part = LocalType(
    name: "Film@device", scope: .device,
    fields: FieldWorld.devicePart.fields + [
      LocalWorld.field("tags", .scalar(.string), many: true, fallback: ["plain"])
    ]
  ).extending("Film").with(indexes: [], search: [], dates: .iso8601)

  static let schema = FieldWorld.schema(part)
  static let film = FieldWorld.film(part)
  static let types = ["Film": film, "Person": person, "MyList": FieldWorld.list.entityType]
  static let person = StoreFixture.types[1]
  static let graph = EntityGraph(
    types: Array(types.values),
    relationships: [
      "Film": ["director": .toOne("Person"), "lists": .toMany("MyList")],
      "Person": ["films": .linked(type: "Film", field: "director")],
      "MyList": ["films": .toMany("Film")],
    ])

  static let mine = FieldWorld.viewer("d_1")
  /// Sees copies of a user's too, which are merged with the public ones.
  static let layered = FieldWorld.viewer("d_1", user: "u", upstream: [.user("u")])

  static func filter(_ text: String, of type: String) throws -> Filter {
    try Filter(text, arguments: .none, type: try #require(types[type]), graph: graph)
  }

  static func conditions(
    _ text: String, of type: String = "Film"
  ) throws -> [String: ObservedCondition] {
    let filter = try filter(text, of: type)
    return [type: ObservedCondition(type: try #require(types[type]), filter: filter)]
  }

  private static func world(isLayered: Bool = false) async throws -> FieldWorld {
    let world = try FieldWorld(part: part)
    try await world.store.keepHistory(ofTypes: Set(types.keys))
    for (number, name) in ["Varda", "Demy"].enumerated() {
      _ = try await world.store.apply(Self.person(Int64(number + 1), "p\(number + 1)", name))
    }
    for number in 1...3 {
      let director = JSONValue.reference(.person(number == 3 ? "p2" : "p1"))
      _ = try await world.fetch(Int64(number + 2), "\(number)", ["director": director])
    }
    if isLayered {
      _ = try await world.store.apply(
        ResponseBuilder(call: 6, scope: .user("u")).film("2", ["rating": 1]).build())
    }
    return world
  }

  static func person(_ call: Int64, _ id: String, _ name: String) -> NormalisedResponse {
    ResponseBuilder(call: call)
      .entity(.person(id), ["id": .string(id), "name": .string(name)]).build()
  }

  private static func write(
    _ world: FieldWorld, _ film: String, _ body: JSONValue, by device: String = "d_1"
  ) async throws {
    _ = try await world.write(film, body, by: device, schema: schema).get()
  }

  // MARK: The former state

  @Test(
    "A film enters and leaves a filter on its own local fields, for their owner alone",
    arguments: [
      "favourite = true", "favourite = true AND director.name = 'Varda'",
      "favourite = true AND NONE lists.title = 'Best'",
    ], [false, true])
  func ownLocalFieldsAreFollowed(text: String, isLayered: Bool) async throws {
    let world = try await Self.world(isLayered: isLayered)
    let conditions = try Self.conditions(text)
    let viewer = isLayered ? Self.layered : Self.mine
    var mine = LogFollower.atHead(of: world.store, viewer, conditions: conditions)
    var other = LogFollower.atHead(
      of: world.store, FieldWorld.viewer("d_2"), conditions: conditions)
    var anonymous = LogFollower.atHead(of: world.store, conditions: conditions)
    try await Self.write(world, "2", ["favourite": true])
    try await mine.takePage(from: world.store)
    #expect(mine.reported == ["new Film/2"])
    // Another local field tells that it stays.
    try await Self.write(world, "2", ["stars": 3])
    try await mine.takePage(from: world.store)
    #expect(mine.reported == ["put Film/2"] && mine.surprises.isEmpty)
    try await Self.write(world, "2", ["favourite": false])
    try await Self.write(world, "1", ["stars": 1])
    try await mine.takePage(from: world.store)
    #expect(mine.reported == ["hidden Film/2"])
    try await other.takePage(from: world.store)
    try await anonymous.takePage(from: world.store)
    #expect(other.reported.isEmpty && anonymous.reported.isEmpty)
    world.store.close()
  }

  @Test("An entity enters and leaves a filter on local fields of related ones")
  func relatedLocalFieldsAreFollowed() async throws {
    let world = try await Self.world()
    func follower(_ text: String, _ type: String, _ viewer: Viewer) throws -> LogFollower {
      LogFollower.atHead(
        of: world.store, viewer, conditions: try Self.conditions(text, of: type))
    }
    var some = try follower("ANY films.favourite = true", "Person", Self.mine)
    var none = try follower("NONE films.favourite = true", "Person", Self.mine)
    var stars = try follower("ANY films.stars > 3", "Person", Self.mine)
    var other = try follower("ANY films.favourite = true", "Person", FieldWorld.viewer("d_2"))
    try await Self.write(world, "1", ["favourite": true, "stars": 5])
    try await some.takePage(from: world.store)
    #expect(some.reported == ["new Person/p1"])
    try await none.takePage(from: world.store)
    #expect(none.reported == ["hidden Person/p1"])
    try await stars.takePage(from: world.store)
    #expect(stars.reported == ["new Person/p1"])
    try await Self.write(world, "1", ["favourite": false, "stars": 2])
    try await some.takePage(from: world.store)
    #expect(some.reported == ["hidden Person/p1"])
    try await none.takePage(from: world.store)
    #expect(none.reported == ["new Person/p1"])
    try await stars.takePage(from: world.store)
    #expect(stars.reported == ["hidden Person/p1"])
    try await other.takePage(from: world.store)
    #expect(other.reported.isEmpty)
    world.store.close()
  }

  @Test("A film that upstream has deleted stays in a filter until its local fields leave it")
  func deletedFilmsAreFollowed() async throws {
    let world = try await Self.world()
    try await Self.write(world, "1", ["favourite": true])
    try await Self.write(world, "3", ["stars": 2])
    var mine = LogFollower(
      Self.mine,
      conditions: try Self.conditions("favourite = true AND NONE lists.title = 'Best'"))
    try await mine.takePage(from: world.store)
    #expect(mine.reported == ["new Film/1"])
    try await world.delete(10, "1")
    try await world.delete(11, "2")
    try await mine.takePage(from: world.store)
    #expect(mine.reported == ["put Film/1"])
    #expect(mine.held[.film("1")]?.contains("\(StoredForm.deletedMember)=true") == true)
    try await Self.write(world, "1", ["favourite": false])
    try await mine.takePage(from: world.store)
    #expect(mine.reported == ["hidden Film/1"])
    try await Self.write(world, "1", ["favourite": true])
    try await mine.takePage(from: world.store)
    #expect(mine.reported == ["new Film/1"] && mine.surprises.isEmpty)
    world.store.close()
  }

  // MARK: Lists of scalars

  @Test(
    "A list of scalars that is a local field is asked for its values, its default included",
    arguments: [
      ("ANY tags = 'noir'", "2"), ("ANY tags = 'plain'", "13"), ("NONE tags = 'noir'", "13"),
      ("NOT (ANY tags BEGINSWITH 'p')", "2"), ("tags.count = 1", "13"), ("tags.count = 2", "2"),
      ("tags IS MISSING", ""), ("ANY tags = 'neo' AND director.name = 'Varda'", "2"),
    ])
  func localListsAreAsked(text: String, expected: String) async throws {
    for isLayered in [false, true] {
      let world = try await Self.world(isLayered: isLayered)
      try await Self.write(world, "2", ["tags": ["noir", "neo"]])
      let query = EntityQuery(
        type: Self.film, filter: try Self.filter(text, of: "Film"), wantsTotal: true)
      let viewer = isLayered ? Self.layered : Self.mine
      let page = try await world.store.page(query, viewer: viewer)
      #expect(page.items.map(\.key.key).joined() == expected, "layered: \(isLayered)")
      #expect(page.total == expected.count)
      // Callers without a device have no such field.
      let anonymous = try await world.store.page(query, viewer: .anonymous)
      #expect(text == "tags IS MISSING" || anonymous.items.isEmpty)
      world.store.close()
    }
  }

  @Test(
    "A film enters and leaves a filter on a list of scalars that is a local field",
    arguments: ["ANY tags = 'noir'", "ANY tags = 'noir' AND director.name = 'Varda'"])
  func localListsAreFollowed(text: String) async throws {
    let world = try await Self.world()
    var mine = LogFollower.atHead(
      of: world.store, Self.mine, conditions: try Self.conditions(text))
    try await Self.write(world, "1", ["tags": ["noir"]])
    try await Self.write(world, "2", ["tags": ["neo"]])
    try await mine.takePage(from: world.store)
    #expect(mine.reported == ["new Film/1"])
    try await Self.write(world, "1", ["tags": []])
    try await mine.takePage(from: world.store)
    #expect(mine.reported == ["hidden Film/1"])
    world.store.close()
  }
}
