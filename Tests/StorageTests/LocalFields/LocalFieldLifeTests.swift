import Filtering
import LosslessJSON
import Model
import SyncScheduler
import Testing

@testable import Storage

/// Local fields through what happens to the entities that they extend.
struct LocalFieldLifeTests {
  private static let mine = FieldWorld.viewer("d_1")
  private static let other = FieldWorld.viewer("d_2")

  private static func world() async throws -> FieldWorld { try await FieldWorld.withFilms() }

  @Test("Local fields survive a refetch, an invalidation and a purge")
  func surviveRefetchAndPurge() async throws {
    let world = try await Self.world()
    _ = try await world.write("1", ["favourite": true, "note": "n"], user: "u").get()
    let viewer = FieldWorld.viewer("d_1", user: "u")
    _ = try await world.fetch(20, "1", ["title": "Aliens", "year": 1986])
    let refetched = try await world.seen("1", by: viewer)
    #expect(refetched?["title"] == "Aliens" && refetched?["favourite"] == true)
    #expect(refetched?["note"] == "n")
    for (call, target) in [
      (30, InvalidationTarget.entity(.film("1"))), (40, .type("Film")),
    ] as [(Int64, InvalidationTarget)] {
      _ = try await world.store.purge(
        [target], in: nil, call: CallNumber(call), horizon: CallNumber(call))
      #expect(try await world.seen("1", by: viewer) == nil)
      #expect(try await world.films(by: viewer).contains("1") == false)
      _ = try await world.fetch(call + 1, "1", ["title": "Back"])
      #expect(try await world.seen("1", by: viewer)?["favourite"] == true, "\(target)")
      #expect(try await world.seen("1", by: viewer)?["note"] == "n", "\(target)")
    }
  }

  @Test("An entity with local fields of any owner is not evicted")
  func isNotEvicted() async throws {
    let world = try await Self.world()
    _ = try await world.write("1", ["favourite": true]).get()
    let report = try await world.evict(day: 400)
    #expect(report.entities == 2)
    #expect(try await world.films(by: .anonymous) == ["1"])
    #expect(try await world.seen("1", by: Self.mine)?["favourite"] == true)
  }

  @Test("An entity that upstream deletes stays visible to its owners until its time has passed")
  func deletionKeepsLocalFields() async throws {
    let world = try await Self.world()
    _ = try await world.write("1", ["favourite": true]).get()
    var mine = LogFollower.atHead(of: world.store, Self.mine)
    var other = LogFollower.atHead(of: world.store, Self.other)
    try await world.delete(20, "1")
    let kept = try #require(try await world.seen("1", by: Self.mine))
    #expect(kept["id"] == "1" && kept["favourite"] == true && kept["title"] == nil)
    #expect(kept[StoredForm.deletedMember] == true)
    #expect(try await world.seen("1", by: Self.other) == nil)
    #expect(try await world.films("favourite = true", by: Self.mine) == ["1"])
    #expect(try await world.films(by: Self.mine) == ["1", "2", "3"])
    #expect(try await world.films(by: Self.other) == ["2", "3"])
    try await mine.takePage(from: world.store)
    #expect(mine.reported == ["put Film/1"])
    try await other.takePage(from: world.store)
    #expect(other.reported == ["deleted Film/1"])
    // It can still be written.
    _ = try await world.write("1", ["stars": 2]).get()
    #expect(try await world.seen("1", by: Self.mine)?["stars"] == 2)
    _ = try await world.evict(day: 0, bytesMax: .max)
    let young = try await world.evict(day: 80, bytesMax: .max)
    #expect(young.changes.isEmpty)
    #expect(try await world.seen("1", by: Self.mine) != nil)
    try await mine.takePage(from: world.store)
    let old = try await world.evict(day: 91, bytesMax: .max)
    #expect(old.changes == [CommitReport.Change(scope: .device("d_1"), key: .film("1"))])
    #expect(try await world.seen("1", by: Self.mine) == nil)
    #expect(try await world.films(by: Self.mine) == ["2", "3"])
    // A film of the same id is another film.
    _ = try await world.fetch(40, "1", ["title": "Again"])
    #expect(try await world.seen("1", by: Self.mine)?["favourite"] == false)
  }

  @Test("A setting decides how long a deleted entity is kept for its local fields")
  func keepLocalDecides() async throws {
    let world = try await Self.world()
    _ = try await world.write("1", ["favourite": true]).get()
    try await world.delete(20, "1")
    _ = try await world.evict(day: 0, bytesMax: .max)
    let keep: [String: Duration] = ["Film": .seconds(40 * 24 * 3_600)]
    #expect(try await world.evict(day: 39, bytesMax: .max, keepLocal: keep).changes.isEmpty)
    #expect(try await world.evict(day: 41, bytesMax: .max, keepLocal: keep).changes.count == 1)
  }

  @Test("An entity that upstream returns again has its local fields")
  func restoredEntityHasItsFields() async throws {
    let world = try await Self.world()
    _ = try await world.write("1", ["favourite": true]).get()
    try await world.delete(20, "1")
    var mine = LogFollower.atHead(of: world.store, Self.mine)
    _ = try await world.fetch(30, "1", ["title": "Back", "year": 1940])
    let seen = try await world.seen("1", by: Self.mine)
    #expect(seen?["title"] == "Back" && seen?["favourite"] == true)
    #expect(seen?[StoredForm.deletedMember] == nil)
    try await mine.takePage(from: world.store)
    #expect(mine.reported == ["put Film/1"])
  }

  @Test("An optimistic deletion hides the entity with its local fields")
  func optimisticDeletionHides() async throws {
    let world = try await Self.world()
    try await world.store.register(DeviceTests.phone("d_1"), tokenDigest: "one")
    _ = try await world.write("1", ["favourite": true]).get()
    let arrival = QueueWorld.arrival(
      "a", object: .film("1"), overlays: [OverlayChange(.delete, .film("1"))])
    let timing = QueueTiming(
      now: Timestamp(milliseconds: 1_000_000), policy: QueuePolicy(), boot: "boot 1",
      random: { 7 })
    _ = try await world.store.enqueue([arrival], of: "d_1", timing: timing).get()
    #expect(try await world.seen("1", by: Self.mine) == nil)
    #expect(try await world.films(by: Self.mine) == ["2", "3"])
    #expect(try await world.films("favourite = true", by: Self.mine).isEmpty)
    #expect(try await world.seen("1", by: Self.other) != nil)
  }
}
