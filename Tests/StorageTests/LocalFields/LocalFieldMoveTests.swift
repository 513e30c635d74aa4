import LosslessJSON
import Model
import Testing

@testable import Storage

/// Local fields that get another kind of owner, or none, while their former owners keep others.
struct LocalFieldMoveTests {
  private static let both = FieldWorld.viewer("d_1", user: "u")
  private static let device = FieldWorld.viewer("d_1")
  private static let stars = LocalWorld.field("stars", .scalar(.int))
  private static let note = LocalWorld.field("note", .scalar(.string))

  /// The fields of devices: a favourite and others.
  private static func devices(_ others: LocalField...) -> LocalType {
    LocalType(
      name: "Film@device", scope: .device,
      fields: [
        LocalWorld.field("favourite", .scalar(.boolean), fallback: false),
        LocalWorld.relation("lists", "MyList", "films", many: true),
      ] + others
    ).extending("Film")
  }

  /// The fields of users: a grade and others.
  private static func users(_ others: LocalField...) -> LocalType {
    LocalType(
      name: "Film@user", scope: .user,
      fields: [LocalWorld.field("grade", .scalar(.int))] + others
    ).extending("Film")
  }

  /// Writes three fields of a film with the owners of the former types, and opens the store with the next.
  private static func moved(
    _ values: JSONValue, from former: (LocalType, LocalType), to next: (LocalType, LocalType)
  ) async throws -> FieldWorld {
    let world = try FieldWorld(part: former.0, user: former.1)
    _ = try await world.fetch(1, "1", ["title": "Alien", "year": 1979])
    _ = try await world.fetch(2, "2", ["title": "Brazil", "year": 1985])
    try await write(world, values, former)
    #expect(try await world.seen("1", by: both)?["favourite"] == true)
    world.store.close()
    return try FieldWorld(world.folder, segment: 2, part: next.0, user: next.1)
  }

  private static func write(
    _ world: FieldWorld, _ values: JSONValue, _ types: (LocalType, LocalType)
  ) async throws {
    _ = try await world.write(
      "1", values, user: "u", schema: FieldWorld.schema(types.0, user: types.1)
    ).get()
  }

  /// The film as the change log reports it from the start.
  private static func reported(_ world: FieldWorld, _ viewer: Viewer) async throws -> String? {
    var follower = LogFollower(viewer)
    try await follower.takePage(from: world.store)
    return follower.held[.film("1")]
  }

  @Test("A field that moves from devices to users begins empty, and returns with its values")
  func moveToUsers() async throws {
    let former = (Self.devices(Self.stars), Self.users())
    let next = (Self.devices(), Self.users(Self.stars))
    let world = try await Self.moved(
      ["favourite": true, "stars": 4, "grade": 1], from: former, to: next)
    let film = FieldWorld.film(next.0, user: next.1)
    let seen = try await world.seen("1", by: Self.both)
    #expect(seen?["stars"] == .null && seen?["favourite"] == true && seen?["grade"] == 1)
    #expect(try await world.seen("1", by: Self.device)?["stars"] == nil)
    #expect(try await Self.reported(world, Self.both)?.contains("stars=null") == true)
    #expect(try await Self.reported(world, Self.device)?.contains("stars") == false)
    #expect(try await world.films("stars = 4", of: film, by: Self.both) == [])

    try await Self.write(world, ["stars": 2], next)
    #expect(try await world.seen("1", by: Self.both)?["stars"] == 2)
    #expect(try await world.seen("1", by: Self.device)?["stars"] == nil)
    #expect(try await Self.reported(world, Self.both)?.contains("stars=2") == true)
    #expect(try await world.films("stars = 2", of: film, by: Self.both) == ["1"])

    world.store.close()
    let back = try FieldWorld(world.folder, segment: 3, part: former.0, user: former.1)
    for viewer in [Self.both, Self.device] {
      #expect(try await back.seen("1", by: viewer)?["stars"] == 4)
    }
  }

  @Test("A field that moves from users to devices begins empty, and returns with its values")
  func moveToDevices() async throws {
    let former = (Self.devices(), Self.users(Self.note))
    let next = (Self.devices(Self.note), Self.users())
    let world = try await Self.moved(
      ["favourite": true, "note": "of the user", "grade": 1], from: former, to: next)
    let film = FieldWorld.film(next.0, user: next.1)
    let seen = try await world.seen("1", by: Self.both)
    #expect(seen?["note"] == .null && seen?["favourite"] == true && seen?["grade"] == 1)
    #expect(try await Self.reported(world, Self.both)?.contains("note=null") == true)
    #expect(try await world.films("note = 'of the user'", of: film, by: Self.both) == [])

    try await Self.write(world, ["note": "of the device"], next)
    for viewer in [Self.both, Self.device] {
      #expect(try await world.seen("1", by: viewer)?["note"] == "of the device")
    }
    #expect(try await world.films("note = 'of the device'", of: film, by: Self.both) == ["1"])

    world.store.close()
    let back = try FieldWorld(world.folder, segment: 3, part: former.0, user: former.1)
    #expect(try await back.seen("1", by: Self.both)?["note"] == "of the user")
    #expect(try await back.seen("1", by: Self.device)?["note"] == nil)
  }

  @Test("A local field that refers to a local type can get another side, whose values are then set")
  func newInverse() async throws {
    let part = LocalType(
      name: "Film@device", scope: .device,
      fields: [
        LocalWorld.field("favourite", .scalar(.boolean), fallback: false),
        LocalWorld.field("lists", .entity("MyList", nil), many: true),
      ]
    ).extending("Film")
    let list = LocalType(
      name: "MyList", scope: .device,
      fields: [LocalWorld.id, LocalWorld.field("title", .scalar(.string))])
    let schema = FieldWorld.schema(part, list: list)
    let former = try FieldWorld(part: part, list: list)
    _ = try await former.fetch(1, "1", ["title": "Alien"])
    _ = try await former.fetch(2, "2", ["title": "Brazil"])
    func writeList(_ action: WriteAction, _ id: String, by device: String = "d_1") async throws {
      _ = try await former.store.local(
        LocalWorld.operation(action, list, id, schema: schema), schema: schema,
        owner: FieldWorld.device(device)
      ).get()
    }
    for id in ["a", "b", "gone"] { try await writeList(.insert, id) }
    try await writeList(.insert, "a", by: "d_2")
    _ = try await former.write("1", ["lists": ["b", "gone", "a"]], schema: schema).get()
    _ = try await former.write("2", ["lists": ["a"]], schema: schema).get()
    _ = try await former.write("2", ["lists": ["a"]], by: "d_2", schema: schema).get()
    try await writeList(.delete, "gone")
    former.store.close()

    let world = try FieldWorld(former.folder, segment: 2)
    #expect(try await world.store.targets("MyList", "a", "films") == ["1", "2"])
    #expect(try await world.store.targets("MyList", "b", "films") == ["1"])
    let others = try await world.store.entity(
      EntityKey(type: "MyList", key: "a"), viewer: FieldWorld.viewer("d_2"))
    let seen = try FieldWorld.united(try #require(others))
    #expect(seen["films"]?.array?.compactMap { $0.referencedKey } == [.film("2")])
    func lists(_ film: String) async throws -> [String]? {
      try await world.seen(film, by: Self.device)?["lists"]?.array?.compactMap {
        $0.referencedKey?.key
      }
    }
    // A reference to a deleted entity is dropped.
    #expect(try await lists("1") == ["b", "a"])
    #expect(try await lists("2") == ["a"])
    _ = try await world.writeList(.delete, "a").get()
    #expect(try await lists("1") == ["b"])
    #expect(try await lists("2") == [])
  }

  @Test("A removed local field is neither read nor reported, of a deleted entity too")
  func removal() async throws {
    let former = (Self.devices(Self.stars), Self.users(Self.note))
    let next = (Self.devices(), Self.users())
    let world = try await Self.moved(
      ["favourite": true, "stars": 4, "note": "hidden", "grade": 1], from: former, to: next)
    for isDeleted in [false, true] {
      if isDeleted { try await world.delete(10, "1") }
      let seen = try #require(try await world.seen("1", by: Self.both))
      #expect(seen["stars"] == nil && seen["note"] == nil, "deleted: \(isDeleted)")
      #expect(seen["id"] == "1" && seen["favourite"] == true && seen["grade"] == 1)
      let reported = try #require(try await Self.reported(world, Self.both))
      #expect(!reported.contains("stars") && !reported.contains("note"), "\(reported)")
      #expect(reported.contains("favourite=true"), "\(reported)")
    }
    world.store.close()
    let back = try FieldWorld(world.folder, segment: 3, part: former.0, user: former.1)
    let seen = try await back.seen("1", by: Self.both)
    #expect(seen?["stars"] == 4 && seen?["note"] == "hidden")
  }
}
