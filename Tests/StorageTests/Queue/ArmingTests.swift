import LosslessJSON
import Model
import Storage
import Testing

/// A forced mutation that expired, and goes after all since its key came again.
struct ArmingTests {
  /// Else its phone would hold it for ended while it waits, or is under way.
  @Test func takingBackAnEndIsTold() async throws {
    var world = try await QueueWorld()
    var follower = LogFollower.atHead(of: world.store, world.viewer)
    let outcome = EntityKey(type: "$mutation", key: "m_a")
    func told() async throws -> JSONValue? {
      try await world.fixture.fields(of: outcome, viewer: world.viewer)
    }
    _ = try await world.enqueue(QueueWorld.arrival("a", mode: .force)).get()
    #expect(try await told() == nil)
    world.now = world.now.advanced(by: .seconds(11))
    _ = try await world.store.look(at: QueueWorld.device, timing: world.timing)
    #expect(try await told()?["state"] == "expired")
    try await follower.takePage(from: world.store)
    _ = try await world.enqueue(QueueWorld.arrival("a", mode: .force)).get()
    #expect(try await told()?["state"] == "queued")
    let reason = try await told()?["reason"]
    #expect(reason == nil)
    let page = try await follower.takePage(from: world.store)
    #expect(page?.entries.map(\.key) == [outcome])
  }
}
