import LosslessJSON
import Model
import Storage
import SyncScheduler
import Testing

struct DeviceResetTests {
  private static let now = Timestamp(milliseconds: 5)

  private func reset(_ store: Store) async throws -> CommitReport? {
    try await store.reset(device: "d_1", at: Self.now)
  }

  @Test("A reset deletes the rows of one device, and its change log says so")
  func deletesRowsOfTheDevice() async throws {
    let folder = TemporaryFolder()
    let store = try LocalWorld.open(folder)
    defer { store.close() }
    for id in ["d_1", "d_2"] {
      try await store.register(DeviceTests.phone(id), tokenDigest: id)
      let owner = LocalOwner(device: .device(id), user: nil)
      for number in 1...3 {
        _ = try await store.local(
          LocalWorld.operation(.insert, LocalWorld.list, "l\(number)", ["title": "A"]),
          LocalWorld.operation(
            .insert, LocalWorld.item, "i\(number)", ["list": .string("l\(number)")]),
          owner: owner
        ).get()
      }
    }
    _ = try await store.local(LocalWorld.operation(.delete, LocalWorld.list, "l3")).get()
    let report = try #require(try await reset(store))
    #expect(
      Set(report.changes.filter { $0.key.key != "" }.map(\.key.description)) == [
        "List/l1", "List/l2", "Item/i1", "Item/i2",
      ])
    #expect(report.changes.allSatisfy { $0.scope == .device("d_1") })
    #expect(try await store.local("List", "l1") == nil)
    let other = Viewer(layers: [.device("d_2"), .public])
    let kept = try await store.entity(EntityKey(type: "List", key: "l3"), viewer: other)
    #expect(kept?.isDeleted == false)
    #expect(try await store.device(tokenDigest: "d_1") != nil)
    // What was deleted can be written again, and a second reset has only that to delete.
    _ = try await store.local(
      LocalWorld.operation(.insert, LocalWorld.list, "l1", ["title": "B"])
    ).get()
    #expect(try await store.local("List", "l1")?["title"] == "B")
    let again = try #require(try await reset(store))
    #expect(again.changes.filter { $0.key.key != "" }.map(\.key.description) == ["List/l1"])
    #expect(try await store.reset(device: "d_3", at: Self.now) == nil)
  }

  @Test("A reset empties the queue, reverts its optimistic updates and forgets its keys")
  func emptiesTheQueue() async throws {
    let world = try await QueueWorld()
    _ = try await world.store.apply(ResponseBuilder(call: 1).film("1", ["title": "Old"]).build())
    let change = OverlayChange(.merge, .film("1"), fields: Array(#"{"title":"Mine"}"#.utf8))
    _ = try await world.enqueue(
      QueueWorld.arrival("a", mode: .steady), QueueWorld.arrival("b", mode: .steady),
      QueueWorld.arrival("c", mode: .steady, overlays: [change])
    ).get()
    try await world.settle(try #require(try await world.claim("a")), as: .permanent)
    let claimed = try #require(try await world.claim("b"))
    let seen = try await world.fixture.fields(of: .film("1"), viewer: world.viewer)
    #expect(seen?["title"] == "Mine")
    var follower = LogFollower.atHead(of: world.store, world.viewer)
    _ = try #require(try await reset(world.store))
    let after = try await world.fixture.fields(of: .film("1"), viewer: world.viewer)
    #expect(after?["title"] == "Old" && after?["$pending"] == nil)
    for key in ["a", "b", "c"] { #expect(try await world.state(key) == nil, "\(key)") }
    #expect(try await world.store.queueStatus(of: QueueWorld.device).pending == 0)
    try await follower.takePage(from: world.store)
    #expect(Set(follower.reported) == ["put Film/1", "deleted $mutation/m_a"])
    // The attempt that was under way ends without an effect on the queue.
    #expect(try await world.settle(claimed, as: .permanent) == nil)
    let receipts = try await world.enqueue(QueueWorld.arrival("a", mode: .steady)).get().answer
    #expect(receipts.map(\.isReplay) == [false])
  }
}
