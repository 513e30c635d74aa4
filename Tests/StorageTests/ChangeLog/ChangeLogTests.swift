import LosslessJSON
import Model
import Testing

@testable import Storage

struct ChangeLogTests {
  private static let user = Scope.user("u")
  private static let viewer = Viewer(layers: [user, .public])

  private static func film(
    _ call: Int64, _ id: String, _ title: String, scope: Scope = .public
  ) -> NormalisedResponse {
    ResponseBuilder(call: call, scope: scope).film(id, ["title": .string(title)]).build()
  }

  private static func deletion(
    _ call: Int64, _ id: String, scope: Scope = .public
  ) -> NormalisedResponse {
    ResponseBuilder(call: call, scope: scope).deleting(.film(id)).build()
  }

  @Test func tellsWhatIsNewWhatChangedAndWhatIsGone() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(Self.film(1, "1", "A"))
    _ = try await store.apply(Self.film(2, "2", "B"))
    var follower = LogFollower.atHead(of: store)
    _ = try await store.apply(Self.film(3, "3", "C"))
    _ = try await store.apply(Self.film(4, "1", "A2"))
    _ = try await store.apply(Self.deletion(5, "2"))
    let page = try await follower.takePage(from: store)
    #expect(follower.told == ["new Film/3", "put Film/1", "deleted Film/2"])
    #expect(page?.isComplete == true)
    #expect(page?.next == LogPosition(revision: Revision(5)))
    try await follower.takePage(from: store)
    #expect(follower.told.isEmpty)
  }

  @Test func unchangedContentTellsNothing() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(Self.film(1, "1", "A"))
    var follower = LogFollower.atHead(of: store)
    _ = try await store.apply(Self.film(2, "1", "A"))
    let page = try await follower.takePage(from: store)
    #expect(page?.entries.isEmpty == true)
    #expect(page?.head == Revision(1))
  }

  @Test func aPageMayEndInsideARevision() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    var builder = ResponseBuilder(call: 1)
    for id in 1...5 { builder = builder.film("\(id)", ["title": "A"]) }
    _ = try await store.apply(builder.build())
    var follower = LogFollower()
    let first = try await follower.takePage(from: store, limit: 2)
    #expect(first?.next.revision == Revision(1))
    #expect(first?.next.place.isEmpty == false)
    try await follower.takePage(from: store, limit: 2)
    #expect(follower.told == ["new Film/3", "new Film/4"])
    let last = try await follower.takePage(from: store, limit: 2)
    #expect(last?.isComplete == true)
    #expect(follower.held.count == 5)
  }

  @Test func whatMovesWhilePagesAreReadStaysNew() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(Self.film(1, "1", "A"))
    var follower = LogFollower.atHead(of: store)
    for id in 2...5 { _ = try await store.apply(Self.film(Int64(id), "\(id)", "A")) }
    try await follower.takePage(from: store, limit: 2)
    #expect(follower.told == ["new Film/2", "new Film/3"])
    _ = try await store.apply(Self.film(6, "4", "A2"))
    try await follower.takePage(from: store, limit: 1)
    try await follower.takePage(from: store, limit: 1)
    #expect(follower.told == ["new Film/4"])
  }

  @Test func aSnapshotLeavesOutWhatWasGoneBeforeIt() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    for id in 1...4 { _ = try await store.apply(Self.film(Int64(id), "\(id)", "A")) }
    _ = try await store.apply(Self.deletion(5, "1"))
    var follower = LogFollower()
    try await follower.takePage(from: store, limit: 1)
    #expect(follower.told == ["new Film/2"])
    _ = try await store.apply(Self.deletion(6, "2"))
    let page = try await follower.takePage(from: store)
    #expect(follower.told == ["new Film/3", "new Film/4", "deleted Film/2"])
    #expect(page?.isComplete == true)
    #expect(Set(follower.held.keys) == [.film("3"), .film("4")])
  }

  @Test func typesLeaveOutTheOthers() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(
      ResponseBuilder(call: 1).film("1", ["title": "A"]).entity(.person("7"), ["name": "N"]).build()
    )
    var follower = LogFollower()
    try await follower.takePage(from: store, types: ["Person"])
    #expect(follower.told == ["new Person/7"])
  }

  // MARK: Scopes

  @Test func foldsTheViewersScopesAndTellsOnce() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(
      ResponseBuilder(call: 1).film("1", ["title": "public", "year": 1]).build())
    _ = try await store.apply(Self.film(2, "1", "mine", scope: Self.user))
    var mine = LogFollower(Self.viewer)
    try await mine.takePage(from: store)
    #expect(mine.told == ["new Film/1"])
    #expect(mine.held[.film("1")] == #"id="1" title="mine" year=1"#)
    var open = LogFollower()
    try await open.takePage(from: store)
    #expect(open.held[.film("1")] == #"id="1" title="public" year=1"#)
  }

  @Test func anotherUsersChangesAreNotTold() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    var mine = LogFollower.atHead(of: store, Self.viewer)
    _ = try await store.apply(Self.film(1, "1", "theirs", scope: .user("v")))
    let page = try await mine.takePage(from: store)
    #expect(page?.entries.isEmpty == true)
    #expect(page?.next.revision == Revision(1))
  }

  @Test func aNarrowerDeletionHidesAndThenSilencesWhatLiesUnderIt() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(Self.film(1, "1", "A"))
    var mine = LogFollower.atHead(of: store, Self.viewer)
    _ = try await store.apply(Self.deletion(2, "1", scope: Self.user))
    try await mine.takePage(from: store)
    #expect(mine.told == ["hidden Film/1"])
    _ = try await store.apply(Self.film(3, "1", "A2"))
    try await mine.takePage(from: store)
    #expect(mine.told.isEmpty)
  }

  @Test func aPurgedPrivateDeletionShowsWhatItHid() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(Self.film(1, "1", "A"))
    _ = try await store.apply(Self.deletion(2, "1", scope: Self.user))
    var mine = LogFollower.atHead(of: store, Self.viewer)
    _ = try await store.purge(
      [.entity(.film("1"))], in: Self.user, call: CallNumber(3), horizon: CallNumber(3))
    try await mine.takePage(from: store)
    #expect(mine.held[.film("1")] == #"id="1" title="A""#)
  }

  @Test func aPurgedPrivateCopyShowsThePublicOne() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(Self.film(1, "1", "A"))
    _ = try await store.apply(Self.film(2, "1", "mine", scope: Self.user))
    var mine = LogFollower.atHead(of: store, Self.viewer)
    _ = try await store.purge(
      [.type("Film")], in: Self.user, call: CallNumber(3), horizon: CallNumber(3))
    try await mine.takePage(from: store)
    #expect(mine.told == ["put Film/1"])
    #expect(mine.held[.film("1")] == #"id="1" title="A""#)
  }

  /// What was hidden from this viewer is new to it, whoever else has long known it.
  @Test func whatWasHiddenIsNewOnceItShowsAgain() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(Self.film(1, "1", "A"))
    _ = try await store.apply(Self.film(2, "2", "A"))
    _ = try await store.apply(Self.deletion(3, "1", scope: Self.user))
    _ = try await store.apply(Self.deletion(4, "2", scope: Self.user))
    var mine = LogFollower.atHead(of: store, Self.viewer)
    var open = LogFollower.atHead(of: store)
    _ = try await store.apply(Self.film(5, "1", "mine", scope: Self.user))
    _ = try await store.purge(
      [.entity(.film("2"))], in: Self.user, call: CallNumber(6), horizon: CallNumber(6))
    try await mine.takePage(from: store)
    #expect(mine.told == ["new Film/1", "new Film/2"])
    // From here on both are known.
    _ = try await store.apply(Self.film(7, "1", "A2", scope: Self.user))
    _ = try await store.apply(Self.film(8, "2", "A2"))
    try await mine.takePage(from: store)
    #expect(mine.told == ["put Film/1", "put Film/2"])
    try await open.takePage(from: store)
    #expect(open.told == ["put Film/2"])
  }

  @Test func aPurgedTypeShowsWhatItHid() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(Self.film(1, "1", "A"))
    _ = try await store.apply(Self.deletion(2, "1", scope: Self.user))
    var mine = LogFollower.atHead(of: store, Self.viewer)
    _ = try await store.purge(
      [.type("Film")], in: Self.user, call: CallNumber(3), horizon: CallNumber(3))
    try await mine.takePage(from: store)
    #expect(mine.told == ["new Film/1"])
  }

  // MARK: What is forgotten

  @Test func evictionTellsNothing() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(Self.film(1, "1", "A"))
    var follower = LogFollower()
    try await follower.takePage(from: store)
    let policy = EvictionPolicy(windows: [:], bytesMax: 0)
    let later = Timestamp(milliseconds: 86_400_000)
    while try await store.evict(policy, at: later).hasMore {}
    #expect(try await store.entity(.film("1"), viewer: .anonymous) == nil)
    try await follower.takePage(from: store)
    #expect(follower.told.isEmpty)
    _ = try await store.apply(Self.film(2, "1", "A2"))
    try await follower.takePage(from: store)
    #expect(follower.told == ["put Film/1"])
  }

  @Test func aPositionBelowTheFloorIsNotContinued() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(Self.film(1, "1", "A"))
    var old = LogFollower.atHead(of: store)
    var snapshot = LogFollower()
    _ = try await store.apply(Self.film(2, "2", "A"))
    try await snapshot.takePage(from: store, limit: 1)
    _ = try await store.apply(Self.deletion(3, "1"))
    var current = LogFollower.atHead(of: store)
    let policy = EvictionPolicy(windows: [:], bytesMax: .max)
    for day in [1, 40] as [Int64] {
      let now = Timestamp(milliseconds: day * 86_400_000)
      while try await store.evict(policy, at: now).hasMore {}
    }
    #expect(store.floor == Revision(3))
    #expect(try await old.takePage(from: store) == nil)
    #expect(try await snapshot.takePage(from: store) == nil)
    #expect(try await current.takePage(from: store) != nil)
    var anew = LogFollower()
    #expect(try await anew.takePage(from: store) != nil)
  }
}
