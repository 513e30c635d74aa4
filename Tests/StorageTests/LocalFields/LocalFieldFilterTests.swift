import Filtering
import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Storage

/// Writes of local fields to all entities of upstream's that match a filter.
struct LocalFieldFilterTests {
  private static let mine = FieldWorld.viewer("d_1")

  private static func world() async throws -> FieldWorld {
    let world = try FieldWorld()
    for (number, title) in ["Alien", "Brazil", "Casablanca", "Dune"].enumerated() {
      _ = try await world.fetch(
        Int64(number + 1), "\(number + 1)",
        ["title": .string(title), "year": .number(JSONNumber(1940 + number))])
    }
    return world
  }

  private static func matched(_ result: Result<WriteCommit, WriteRefusal>) throws -> Int? {
    guard case .matched(let count) = try result.get().outcomes.last else { return nil }
    return count
  }

  @Test("A filter over upstream's and local fields selects the films, and only their owner sees it")
  func filterSelects() async throws {
    let world = try await Self.world()
    _ = try await world.write("3", ["favourite": true]).get()
    _ = try await world.write("4", ["favourite": true], by: "d_2").get()
    var mine = LogFollower.atHead(of: world.store, Self.mine)
    var other = LogFollower.atHead(of: world.store, FieldWorld.viewer("d_2"))
    let result = try await world.write(
      where: "year = 1940 OR favourite", ["stars": 5, "note": "seen"], user: "u")
    #expect(try Self.matched(result) == 2)
    #expect(try await world.films("stars = 5", by: Self.mine) == ["1", "3"])
    let user = FieldWorld.viewer("d_9", user: "u")
    #expect(try await world.films("note = 'seen'", by: user) == ["1", "3"])
    #expect(try await world.films("stars = 5", by: FieldWorld.viewer("d_2")) == [])
    try await mine.takePage(from: world.store)
    try await other.takePage(from: world.store)
    #expect(Set(mine.reported) == ["put Film/1", "put Film/3"] && other.reported.isEmpty)
    let none = try await world.write(where: "title = 'Nothing'", ["stars": 1])
    #expect(try Self.matched(none) == 0)
  }

  @Test("A filter sees what earlier operations of its list wrote, also of related entities")
  func seesEarlierOperations() async throws {
    let world = try await Self.world()
    let first = try FieldWorld.operation(key: "2", ["stars": 3])
    #expect(
      try Self.matched(await world.write(where: "stars = 3", ["stars": 4], after: [first])) == 1)
    #expect(try await world.films("stars = 4", by: Self.mine) == ["2"])
    let list = LocalWorld.operation(
      .insert, FieldWorld.list, "l",
      ["title": "Best", "films": .array(["3", "4"])], schema: FieldWorld.schema)
    let related = try await world.write(
      where: "ANY lists.title = 'Best'", ["favourite": true], after: [list])
    #expect(try Self.matched(related) == 2)
    #expect(try await world.films("favourite", by: Self.mine) == ["3", "4"])
  }

  @Test("A film is matched as its writer sees it, over all scopes; a deleted one that is kept too")
  func matchesWhatTheWriterSees() async throws {
    let world = try await Self.world()
    _ = try await world.store.apply(
      ResponseBuilder(call: 9, scope: .user("u")).film("1", ["title": "Mine"])
        .film("private", ["title": "Alien"]).build())
    _ = try await world.write("3", ["favourite": true]).get()
    try await world.delete(10, "3")
    try await world.delete(11, "4")
    #expect(
      try Self.matched(
        await world.write(where: "title = 'Alien'", ["stars": 1], upstream: [.user("u")])) == 1)
    let user = FieldWorld.viewer("d_1", upstream: [.user("u")])
    #expect(try await world.films("stars = 1", by: user) == ["private"])
    #expect(try Self.matched(await world.write(where: "title = 'Alien'", ["stars": 2])) == 1)
    #expect(try await world.films("stars = 2", by: Self.mine) == ["1"])
    // All of them: the deleted film that the writer keeps, and not the one that it does not.
    #expect(
      try Self.matched(await world.write(where: "id IS NOT NULL", ["stars": 5])) == 3)
    #expect(try await world.films("stars = 5", by: Self.mine) == ["1", "2", "3"])
  }

  @Test("Films that changed, came or went after they were found are judged again by the write")
  func changesInBetweenCount() async throws {
    let world = try await Self.world()
    let filter = try FieldWorld.operation(where: "title > 'B' AND favourite = false", [:])
    guard case .filter(let condition) = filter.target else { return }
    let search = FilterMatches.Search(
      place: 0, type: FieldWorld.film, filter: condition, scope: nil, viewer: Self.mine,
      pointer: "")
    let found = try await world.store.matches(
      [search], lane: QueryLane(.write, in: .device("d_1")), within: nil
    ).get()
    #expect(found.keys == [0: ["2", "3", "4"]])
    _ = try await world.fetch(20, "2", ["title": "A"])
    _ = try await world.fetch(21, "5", ["title": "Emma"])
    try await world.delete(22, "3")
    _ = try await world.write("4", ["favourite": true]).get()
    _ = try await world.write("5", ["favourite": true], by: "d_2").get()
    _ = try await world.fetch(23, "6", ["title": "Fargo"])
    _ = try await world.write("6", ["favourite": true]).get()
    let catalogue = world.store.catalogue
    let keys = try await world.store.writer.write { database, memory in
      let context = WriteContext(
        database, memory, catalogue, call: CallNumber(memory.counters.call),
        horizon: CallNumber(memory.horizon))
      return try FilterRecheck(found, context, viewer: Self.mine).visibleKeys(
        of: 0, FieldWorld.film, condition, pointer: "")
    }
    #expect(keys == ["5"])
  }

  @Test("A filter that matches more films than one write can change is refused")
  func tooManyAreRefused() async throws {
    let world = try FieldWorld()
    for start in stride(from: 0, through: FilterMatches.entitiesMax, by: 500) {
      var response = ResponseBuilder(call: Int64(start) + 1)
      for number in start..<min(start + 500, FilterMatches.entitiesMax + 1) {
        response = response.film("\(number)", [:])
      }
      _ = try await world.store.apply(response.build())
    }
    let result = try await world.write(where: "id IS NOT NULL", ["stars": 5])
    guard case .failure(.tooMany(FilterMatches.entitiesMax, _)) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(try await world.films("stars = 5", by: Self.mine) == [])
  }

  @Test(
    "A write by filter changes exactly the films that a collection with the filter lists",
    arguments: [31, 32, 33, 34, 35, 36] as [UInt64])
  func writesWhatACollectionLists(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let world = try FieldWorld()
    let filters = [
      "year > 1941", "favourite", "favourite = false AND year < 1943", "stars >= 3",
      "stars IS NULL", "title = 'A' OR note = 'x'", "note IS NULL", "year IS MISSING",
      "lists.count > 0", "NOT (title = 'B')", "director.name = 'P'",
    ]
    var call: Int64 = 1
    _ = try await world.store.apply(
      ResponseBuilder(call: call).entity(EntityKey(type: "Person", key: "p"), ["name": "P"])
        .build())
    for step in 0..<40 {
      let film = "\(Int.random(in: 1...8, using: &random))"
      let device = Bool.random(using: &random) ? "d_1" : "d_2"
      switch Int.random(in: 0..<8, using: &random) {
      case 0..<4:
        call += 1
        var fields: JSONValue = ["title": .string(Bool.random(using: &random) ? "A" : "B")]
        if Bool.random(using: &random) {
          fields["year"] = .number(JSONNumber(Int.random(in: 1940...1945, using: &random)))
        }
        let scope = Int.random(in: 0..<3, using: &random) == 0 ? Scope.user("u") : .public
        _ = try await world.store.apply(
          ResponseBuilder(call: call, scope: scope).film(film, fields).build())
      case 4:
        call += 1
        try await world.delete(call, film)
      case 5:
        _ = try await world.write(
          film, ["favourite": .bool(Bool.random(using: &random))], by: device)
      default:
        let filter = filters.randomElement(using: &random) ?? "favourite"
        let place = "seed \(seed), step \(step), \(device), \(filter)"
        let upstream: [Scope] = Bool.random(using: &random) ? [.user("u")] : []
        let viewer = FieldWorld.viewer(device, user: "u", upstream: upstream)
        let expected = try await world.films(filter, by: viewer)
        let mark = "mark \(step)"
        let result = try await world.write(
          where: filter, ["note": .string(mark), "stars": 3], by: device, user: "u",
          upstream: upstream)
        #expect(try Self.matched(result) == expected.count, "\(place)")
        #expect(try await world.films("note = '\(mark)'", by: viewer) == expected, "\(place)")
      }
    }
  }
}
