import Filtering
import LosslessJSON
import Model
import Testing

@testable import Storage

/// Filters and orders on the key of an entity that upstream deleted, and that is shown for its local fields.
struct LocalFieldKeyTests {
  private static let mine = FieldWorld.viewer("d_1")

  /// A viewer whose rows are read plainly, and one whose rows of several scopes are merged.
  private static let viewers = [mine, FieldWorld.viewer("d_1", upstream: [.user("u")])]

  /// Three films, one of which upstream deletes after a device and a list of its have named it.
  private static func world() async throws -> FieldWorld {
    let world = try FieldWorld()
    for number in 1...3 {
      _ = try await world.fetch(
        Int64(number), "f\(number)", ["year": .number(JSONNumber(1940 + number))])
    }
    _ = try await world.store.apply(
      ResponseBuilder(call: 4, scope: .user("u")).film("f1", ["rating": 1]).build())
    _ = try await world.write("f2", ["favourite": true]).get()
    _ = try await world.writeList(.insert, "l", ["films": ["f1", "f2"]]).get()
    try await world.delete(5, "f2")
    return world
  }

  @Test(
    "A filter finds a deleted entity by its key",
    arguments: [
      ("id = 'f2'", ["f2"]), ("id IN ('f2', 'f3')", ["f2", "f3"]), ("id IS MISSING", []),
      ("id IS NULL", []), ("NOT id = 'f2'", ["f1", "f3"]), ("id >= 'f2'", ["f2", "f3"]),
      ("id = 'f2' AND favourite = true", ["f2"]), ("year IS MISSING", ["f2"]),
    ])
  func filterByKey(filter: String, films: [String]) async throws {
    let world = try await Self.world()
    for viewer in Self.viewers {
      #expect(try await world.films(filter, by: viewer) == films, "\(viewer)")
    }
    // No other caller sees the film.
    let others = try await world.films(filter, by: FieldWorld.viewer("d_2"))
    #expect(others == films.filter { $0 != "f2" })
  }

  @Test("An order by the key has a deleted entity at its place")
  func orderByKey() async throws {
    let world = try await Self.world()
    for viewer in Self.viewers {
      #expect(try await world.films(order: "-id", by: viewer) == ["f3", "f2", "f1"], "\(viewer)")
    }
  }

  @Test(
    "A filter on related entities finds a deleted one by its key",
    arguments: [
      ("ANY films.id = 'f2'", ["l"]), ("ANY films.id = 'f3'", []), ("ANY films.id IS MISSING", []),
      ("NONE films.id = 'f2'", ["other"]),
    ])
  func filterByRelatedKey(filter: String, lists: [String]) async throws {
    let world = try await Self.world()
    _ = try await world.writeList(.insert, "other", ["films": ["f1"]]).get()
    let type = FieldWorld.list.entityType
    let graph = EntityGraph(
      types: FieldWorld.types, relationships: ["MyList": ["films": .toMany("Film")]])
    var query = EntityQuery(type: type)
    query.filter = try Filter(filter, arguments: .none, type: type, graph: graph)
    for viewer in Self.viewers {
      let found = try await world.store.page(query, viewer: viewer).items.map(\.key.key)
      #expect(found == lists, "\(viewer)")
    }
  }

  @Test("A key that is a number stays one")
  func numbersStayNumbers() async throws {
    let columns = StoreFixture.types[0].columns.map {
      $0.name == "id" ? EntityType.Column(name: "id", kind: .integer) : $0
    }
    let film = EntityType(name: "Film", keyFields: ["id"], columns: columns)
      .adding([FieldWorld.devicePart, FieldWorld.userPart])
    let world = try FieldWorld(film: film)
    for id in [9, 10, 11] {
      _ = try await world.store.apply(
        ResponseBuilder(call: Int64(id))
          .entity(.film("\(id)"), ["id": .number(JSONNumber(id))]).build())
    }
    _ = try await world.store.apply(
      ResponseBuilder(call: 20, scope: .user("u"))
        .entity(.film("9"), ["id": 9, "rating": 1]).build())
    _ = try await world.write("10", ["favourite": true]).get()
    try await world.delete(21, "10")
    for viewer in Self.viewers {
      for (filter, films) in [
        ("id = 10", ["10"]), ("id > 9", ["10", "11"]), ("id < 11", ["10", "9"]),
        ("id IS MISSING", []),
      ] {
        #expect(
          try await world.films(filter, of: film, by: viewer).sorted() == films,
          "\(filter) \(viewer)")
      }
      #expect(try await world.films(order: "id", of: film, by: viewer) == ["9", "10", "11"])
    }
  }
}
