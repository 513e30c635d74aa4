import LosslessJSON
import Model
import Synchronization
import Testing

@testable import Storage

/// Events of hooks about local fields of upstream's entities.
struct LocalFieldHookTests {
  private static let now = Timestamp(milliseconds: 1_000_000)

  private static func world(
    _ names: [HookTrigger: [String]] = [.write(type: "Film", .update): ["films"]]
  ) async throws -> FieldWorld {
    let world = try FieldWorld()
    _ = try await world.fetch(1, "1", ["title": "Alien"])
    _ = try await world.fetch(2, "2", ["title": "Brazil"])
    let last = Numbers()
    try await world.store.setHooks(
      HookOutbox(
        HookSubscriptions(names: names), render: { $1.layers.first }, makeID: { last.next() }),
      at: now, waitMax: .seconds(3_600))
    return world
  }

  private final class Numbers: Sendable {
    private let last = Mutex(0)

    func next() -> String {
      last.withLock { last in
        last += 1
        return "evt_\(last)"
      }
    }
  }

  private static func events(_ world: FieldWorld) async throws -> [JSONValue] {
    try await world.store.dueHookEvents(of: "films", at: now, limit: 100)
      .map { try JSONValue(parsing: $0.body) }
  }

  @Test("A write leaves one event for each kind of owner, with the local fields before and after")
  func oneEventForEachOwner() async throws {
    let world = try await Self.world()
    let commit = try await world.write(
      "1", ["favourite": true, "note": "again"], user: "u"
    ).get()
    #expect(commit.report.hookEvents.added == ["films": 2])
    let events = try await Self.events(world)
    let device = try #require(events.first { $0["owner"] == ["device": "d_1"] })
    #expect(device["type"] == "Film" && device["id"] == "1" && device["op"] == "update")
    #expect(
      device["before"] == ["id": "1", "favourite": false, "stars": .null, "lists": []],
      "\(device)")
    #expect(device["after"] == ["id": "1", "favourite": true, "stars": .null, "lists": []])
    let user = try #require(events.first { $0["owner"] == ["user": "u"] })
    #expect(user["before"] == ["id": "1", "note": .null] && user["op"] == "update")
    #expect(user["after"] == ["id": "1", "note": "again"], "\(user)")
  }

  @Test("Values that stay as they were, refused writes and upstream's data leave no event")
  func nothingElseLeavesEvents() async throws {
    let world = try await Self.world()
    let same = try await world.write("1", ["favourite": false]).get()
    #expect(same.report.hookEvents.isEmpty)
    _ = try await world.write("nowhere", ["favourite": true])
    _ = try await world.fetch(3, "1", ["title": "Aliens"])
    try await world.delete(4, "2")
    #expect(try await Self.events(world) == [])
    let both = try await world.write(
      where: "id IS NOT NULL", ["favourite": false],
      after: [try FieldWorld.operation(key: "1", ["favourite": true])]
    ).get()
    #expect(both.report.hookEvents.isEmpty)
  }

  @Test("A write by filter and the other side of a relationship are reported for each film")
  func everyFilmIsReported() async throws {
    let world = try await Self.world()
    let many = try await world.write(where: "title IS NOT NULL", ["stars": 2]).get()
    #expect(many.report.hookEvents.added == ["films": 2])
    let made = try await world.writeList(.insert, "l", ["title": "Best", "films": ["1"]]).get()
    #expect(made.report.hookEvents.added == ["films": 1])
  }

  @Test("Hooks before a write see the same change, and nothing is written before they allow it")
  func reviewsShowTheChange() async throws {
    let world = try await Self.world()
    try await world.store.register(DeviceTests.phone("d_1"), tokenDigest: "d_1")
    let asked: [HookTrigger: [String]] = [.write(type: "Film", .update): ["check"]]
    var review = LocalWriteReview(hooks: HookSubscriptions(names: asked))
    let write = { (review: LocalWriteReview) in
      try await world.store.writeLocal(
        [
          try FieldWorld.operation(where: "title IS NOT NULL", ["favourite": true]),
          try FieldWorld.operation(key: "1", ["note": "a"]),
        ], schema: FieldWorld.schema,
        owner: LocalOwner(device: .ownData(ofDevice: "d_1"), user: .ownData(ofUser: "u")),
        viewer: FieldWorld.viewer("d_1", user: "u"), now: Self.now, review: review)
    }
    guard case .failure(.unreviewed(let changes)) = try await write(review) else {
      Issue.record("written without a question")
      return
    }
    #expect(changes.map(\.key) == [.film("1"), .film("2"), .film("1")])
    #expect(changes.map(\.place) == [0, 0, 1])
    #expect(changes.map(\.owner.kind) == [.device, .device, .user])
    #expect(try await world.films("favourite", by: FieldWorld.viewer("d_1")) == [])
    #expect(try await Self.events(world) == [])
    review.allowed = changes
    _ = try await write(review).get()
    #expect(try await world.films("favourite", by: FieldWorld.viewer("d_1")) == ["1", "2"])
    #expect(try await Self.events(world).count == 3)
  }
}
