import LosslessJSON
import Model
import Storage
import Testing

struct SharedOutcomeTests {
  /// A forced one takes the stead of a lazy one in the moment in which it ends itself.
  @Test func whatAForcedOneStandsForIsToldOfItsEnd() async throws {
    let world = try await QueueWorld()
    _ = try await world.enqueue(QueueWorld.arrival("lazy")).get()
    _ = try await world.enqueue(QueueWorld.arrival("now", mode: .force, content: 1)).get()
    let claimed = try #require(try await world.claim("now"))
    try await world.settle(claimed, as: .applied(created: [:]))
    #expect(try await world.state("lazy") == .superseded)
    let told = try await world.fixture.fields(
      of: EntityKey(type: "$mutation", key: "m_lazy"), viewer: world.viewer)
    #expect(told?["state"] == "superseded")
    #expect(told?["supersededBy"] == "m_now")
    #expect(told?["sharedState"] == "applied")
  }
}
