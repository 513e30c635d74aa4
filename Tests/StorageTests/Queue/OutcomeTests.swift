import LosslessJSON
import Model
import Storage
import SyncScheduler
import Testing

/// A forced mutation that expired and is sent after all, since its key was enqueued again.
struct ArmingTests {
  /// Otherwise its phone would consider it finished while it waits or is in flight.
  @Test("Arming an expired mutation again is reported to its device")
  func revertingAnEndIsReported() async throws {
    var world = try await QueueWorld()
    var follower = LogFollower.atHead(of: world.store, world.viewer)
    let outcome = EntityKey(type: "$mutation", key: "m_a")
    func reported() async throws -> JSONValue? {
      try await world.fixture.fields(of: outcome, viewer: world.viewer)
    }
    _ = try await world.enqueue(QueueWorld.arrival("a", mode: .force)).get()
    #expect(try await reported() == nil)
    world.now = world.now.advanced(by: .seconds(11))
    _ = try await world.store.look(at: QueueWorld.device, timing: world.timing)
    #expect(try await reported()?["state"] == "expired")
    try await follower.takePage(from: world.store)
    _ = try await world.enqueue(QueueWorld.arrival("a", mode: .force)).get()
    #expect(try await reported()?["state"] == "queued")
    let reason = try await reported()?["reason"]
    #expect(reason == nil)
    let page = try await follower.takePage(from: world.store)
    #expect(page?.entries.map(\.key) == [outcome])
  }
}

struct SharedOutcomeTests {
  /// A forced mutation supersedes a lazy one in the same step in which it ends itself.
  @Test("A forced mutation's outcome is reported to the mutations it superseded")
  func aForcedMutationsOutcomeReachesTheOnesItSuperseded() async throws {
    let world = try await QueueWorld()
    _ = try await world.enqueue(QueueWorld.arrival("lazy")).get()
    _ = try await world.enqueue(QueueWorld.arrival("now", mode: .force, content: 1)).get()
    let claimed = try #require(try await world.claim("now"))
    try await world.settle(claimed, as: .applied(created: [:]))
    #expect(try await world.state("lazy") == .superseded)
    let reported = try await world.fixture.fields(
      of: EntityKey(type: "$mutation", key: "m_lazy"), viewer: world.viewer)
    #expect(reported?["state"] == "superseded")
    #expect(reported?["supersededBy"] == "m_now")
    #expect(reported?["sharedState"] == "applied")
  }
}
