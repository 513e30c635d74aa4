import LosslessJSON
import Model
import Storage
import SyncScheduler
import Testing

struct OverlayTests {
  private static func merge(_ fields: String, _ id: String = "1") -> OverlayChange {
    OverlayChange(.merge, .film(id), fields: Array(fields.utf8))
  }

  private static func base(_ call: Int64, _ title: String) -> NormalisedResponse {
    ResponseBuilder(call: call).film("1", ["title": .string(title), "year": 1958]).build()
  }

  @Test("An overlay is visible to its device only and fully reverted on failure")
  func isVisibleToItsDeviceOnlyAndFullyReverted() async throws {
    let world = try await QueueWorld()
    _ = try await world.store.apply(Self.base(1, "Old"))
    _ = try await world.enqueue(
      QueueWorld.arrival("a", overlays: [Self.merge(#"{"title":"Mine"}"#)])
    ).get()
    let seen = try await world.fixture.fields(of: .film("1"), viewer: world.viewer)
    #expect(seen?["title"] == "Mine")
    #expect(seen?["year"] == 1958)
    #expect(seen?["$pending"] == ["m_a"])
    #expect(try await world.fixture.title(of: "1") == "Old")
    let claimed = try #require(try await world.claim("a"))
    try await world.settle(claimed, as: .permanent)
    let after = try await world.fixture.fields(of: .film("1"), viewer: world.viewer)
    #expect(after?["title"] == "Old")
    #expect(after?["$pending"] == nil)
  }

  @Test("Overlays apply in queue order and are removed one by one")
  func overlaysApplyInQueueOrder() async throws {
    let world = try await QueueWorld()
    _ = try await world.store.apply(Self.base(1, "Old"))
    _ = try await world.enqueue(
      QueueWorld.arrival("a", mode: .steady, overlays: [Self.merge(#"{"title":"A","year":1}"#)]),
      QueueWorld.arrival("b", mode: .steady, overlays: [Self.merge(#"{"title":"B"}"#)])
    ).get()
    var seen = try await world.fixture.fields(of: .film("1"), viewer: world.viewer)
    #expect(seen?["title"] == "B")
    #expect(seen?["year"] == 1)
    #expect(seen?["$pending"] == ["m_a", "m_b"])
    try await world.settle(try #require(try await world.claim("a")), as: .permanent)
    seen = try await world.fixture.fields(of: .film("1"), viewer: world.viewer)
    #expect(seen?["title"] == "B")
    #expect(seen?["year"] == 1958)
  }

  @Test("An optimistic deletion hides the entity, and cancelling it shows it again")
  func aCancelledDeletionShowsTheEntityAgain() async throws {
    let world = try await QueueWorld()
    _ = try await world.store.apply(Self.base(1, "Old"))
    var follower = LogFollower.atHead(of: world.store, world.viewer)
    _ = try await world.enqueue(
      QueueWorld.arrival(
        "a", effect: .delete, overlays: [OverlayChange(.delete, .film("1"))])
    ).get()
    #expect(try await world.fixture.title(of: "1", viewer: world.viewer) == nil)
    #expect(try await world.fixture.title(of: "1") == "Old")
    try await follower.takePage(from: world.store)
    #expect(follower.reported == ["hidden Film/1"])
    _ = try await world.store.command(
      .cancel(MutationID("m_a")), on: QueueWorld.device, timing: world.timing
    ).get()
    #expect(try await world.fixture.title(of: "1", viewer: world.viewer) == "Old")
    try await follower.takePage(from: world.store)
    #expect(follower.reported == ["new $mutation/m_a", "new Film/1"])
  }

  /// The hidden entity shows again through a change that was enqueued after its deletion.
  @Test("A create over an optimistic deletion is reported as new")
  func aCreateOverAnOptimisticDeletionIsNew() async throws {
    let world = try await QueueWorld()
    _ = try await world.store.apply(Self.base(1, "Old"))
    _ = try await world.enqueue(
      QueueWorld.arrival(
        "a", mode: .steady, effect: .delete, overlays: [OverlayChange(.delete, .film("1"))])
    ).get()
    var follower = LogFollower.atHead(of: world.store, world.viewer)
    _ = try await world.enqueue(
      QueueWorld.arrival(
        "b", mode: .steady, object: .film("2"),
        overlays: [OverlayChange(.create, .film("1"), fields: Array(#"{"title":"New"}"#.utf8))])
    ).get()
    try await follower.takePage(from: world.store)
    #expect(follower.reported == ["new Film/1"])
  }

  /// Otherwise the upstream response could be passed to the device unchanged.
  @Test("A response for an entity with an overlay is not exact")
  func aResponseUnderAnOverlayIsNotExact() async throws {
    let world = try await QueueWorld()
    #expect(try await world.store.apply(Self.base(1, "Old")).isExact)
    _ = try await world.enqueue(
      QueueWorld.arrival("a", overlays: [Self.merge(#"{"title":"Mine"}"#)])
    ).get()
    #expect(try await !world.store.apply(Self.base(2, "Newer")).isExact)
  }

  @Test("An overlay that the response does not cover lingers until a later fetch covers it")
  func anUncoveredOverlayLingersUntilALaterFetch() async throws {
    let world = try await QueueWorld()
    _ = try await world.store.apply(Self.base(1, "Old"))
    _ = try await world.enqueue(
      QueueWorld.arrival("a", overlays: [Self.merge(#"{"title":"Mine"}"#)])
    ).get()
    let claimed = try #require(try await world.claim("a"))
    try await world.settle(
      claimed, as: .applied(created: [:]),
      response: ResponseBuilder(call: 5).film("1", ["year": 1958]).build())
    #expect(try await world.fixture.title(of: "1", viewer: world.viewer) == "Mine")
    _ = try await world.store.apply(Self.base(4, "Late"))
    #expect(try await world.fixture.title(of: "1", viewer: world.viewer) == "Mine")
    // The response has no title: the stored one below the overlay is still the old one.
    _ = try await world.store.apply(ResponseBuilder(call: 6).film("1", ["year": 1959]).build())
    #expect(try await world.fixture.title(of: "1", viewer: world.viewer) == "Mine")
    _ = try await world.store.apply(Self.base(7, "Upstream's"))
    #expect(try await world.fixture.title(of: "1", viewer: world.viewer) == "Upstream's")
  }

  @Test("A lingering overlay expires if no fetch covers it")
  func aLingeringOverlayExpires() async throws {
    let world = try await QueueWorld()
    _ = try await world.store.apply(Self.base(1, "Old"))
    _ = try await world.enqueue(
      QueueWorld.arrival("a", overlays: [Self.merge(#"{"title":"Mine"}"#)])
    ).get()
    try await world.settle(try #require(try await world.claim("a")), as: .applied(created: [:]))
    let next = try await world.store.dropLingering(now: world.now)
    #expect(next == world.now.advanced(by: .seconds(30)))
    #expect(try await world.store.dropLingering(now: try #require(next)) == nil)
    #expect(try await world.fixture.title(of: "1", viewer: world.viewer) == "Old")
  }

  @Test("Temporary ids are replaced by real ones in overlays and in the queue")
  func temporaryIDsAreReplacedByRealOnes() async throws {
    let world = try await QueueWorld()
    let id = try #require(TemporaryID("~01ARZ3NDEKTSV4RRFFQ69G5FAV"))
    let made = EntityKey(type: "Film", key: id.value)
    _ = try await world.enqueue(
      QueueWorld.arrival(
        "a", mode: .steady, object: made, effect: .create,
        creates: [TemporaryEntity(id: id, type: "Film")],
        overlays: [OverlayChange(.create, made, fields: Array(#"{"title":"Draft"}"#.utf8))]),
      QueueWorld.arrival(
        "b", mode: .steady, object: made, variables: #"{"id":"\#(id.value)"}"#,
        overlays: [Self.merge(#"{"year":1}"#, id.value)])
    ).get()
    #expect(try await world.fixture.title(of: id.value, viewer: world.viewer) == "Draft")
    let claimed = try #require(try await world.claim("a"))
    #expect(try await world.claim("b") == nil)
    try await world.settle(
      claimed, as: .applied(created: [id: .film("7")]),
      response: ResponseBuilder(call: 5).film("7", ["title": "Draft"]).build())
    #expect(
      try await world.store.resolve([id], of: QueueWorld.device) == [id: .film("7")])
    #expect(try await world.fixture.title(of: id.value, viewer: world.viewer) == nil)
    let seen = try await world.fixture.fields(of: .film("7"), viewer: world.viewer)
    #expect(seen?["title"] == "Draft")
    #expect(seen?["year"] == 1)
    let next = try await world.claim("b")
    #expect(next?.known == [id: .film("7")])
    #expect(next?.mutation.object == .film("7"))
  }

  @Test(
    "Changes of an entity that is not stored do not show until it is, and not after its deletion")
  func changesNeedTheirEntity() async throws {
    let world = try await QueueWorld()
    var follower = LogFollower.atHead(of: world.store, world.viewer)
    _ = try await world.enqueue(
      QueueWorld.arrival("a", overlays: [Self.merge(#"{"title":"Mine"}"#)])
    ).get()
    #expect(try await world.fixture.fields(of: .film("1"), viewer: world.viewer) == nil)
    _ = try await world.store.apply(Self.base(1, "Old"))
    let seen = try await world.fixture.fields(of: .film("1"), viewer: world.viewer)
    #expect(seen?["title"] == "Mine")
    #expect(seen?["year"] == 1958)
    try await follower.takePage(from: world.store)
    #expect(follower.reported.contains("new Film/1"))
    _ = try await world.store.apply(ResponseBuilder(call: 2).deleting(.film("1")).build())
    #expect(try await world.fixture.fields(of: .film("1"), viewer: world.viewer) == nil)
    try await follower.takePage(from: world.store)
    #expect(follower.reported.contains("deleted Film/1"))
    _ = try await world.enqueue(
      QueueWorld.arrival("b", object: .film("2"), overlays: [Self.merge(#"{"year":1}"#)])
    ).get()
    #expect(try await world.fixture.fields(of: .film("1"), viewer: world.viewer) == nil)
    _ = try await world.store.apply(Self.base(3, "Back"))
    let again = try await world.fixture.fields(of: .film("1"), viewer: world.viewer)
    #expect(again?["title"] == "Mine")
    #expect(again?["year"] == 1)
    #expect(again?["$pending"] == ["m_a", "m_b"])
  }

  @Test("Changes that waited for their entity show after a restart too")
  func changesShowAfterARestart() async throws {
    let folder = TemporaryFolder()
    var world = try await QueueWorld(folder)
    _ = try await world.enqueue(
      QueueWorld.arrival("a", overlays: [Self.merge(#"{"title":"Mine"}"#)])
    ).get()
    world.store.close()
    world = try QueueWorld(reopening: folder)
    _ = try await world.store.apply(Self.base(1, "Old"))
    #expect(try await world.fixture.title(of: "1", viewer: world.viewer) == "Mine")
  }

  @Test("A created entity shows without a stored one, and a change of another scope's entity shows")
  func createdAndPrivateEntitiesShow() async throws {
    let world = try await QueueWorld()
    _ = try await world.enqueue(
      QueueWorld.arrival(
        "a",
        overlays: [
          OverlayChange(.create, .film("1"), fields: Array(#"{"title":"New"}"#.utf8)),
          Self.merge(#"{"year":1}"#),
        ])
    ).get()
    #expect(
      try await world.fixture.fields(of: .film("1"), viewer: world.viewer)?["title"] == "New")
    let own = Scope.user("ada")
    _ = try await world.store.apply(
      ResponseBuilder(call: 1, scope: own).film("2", ["title": "Hers"]).build())
    _ = try await world.enqueue(
      QueueWorld.arrival("b", object: .film("2"), overlays: [Self.merge(#"{"year":1}"#, "2")])
    ).get()
    let viewer = Viewer(layers: world.viewer.layers.dropLast() + [own, .public])
    let seen = try await world.fixture.fields(of: .film("2"), viewer: viewer)
    #expect(seen?["title"] == "Hers")
    #expect(seen?["year"] == 1)
  }

  @Test("A purge does not remove overlays")
  func purgesLeaveOverlaysAlone() async throws {
    let world = try await QueueWorld()
    _ = try await world.store.apply(Self.base(1, "Old"))
    _ = try await world.enqueue(
      QueueWorld.arrival("a", overlays: [Self.merge(#"{"title":"Mine"}"#)])
    ).get()
    for target in [InvalidationTarget.entity(.film("1")), .type("Film")] {
      _ = try await world.store.purge(
        [target], in: nil, call: CallNumber(9), horizon: CallNumber(9))
      #expect(try await world.fixture.title(of: "1", viewer: world.viewer) == "Mine")
    }
  }
}
