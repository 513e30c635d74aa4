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

  @Test("A delta reports creations, updates and deletions")
  func reportsCreationsUpdatesAndDeletions() async throws {
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
    #expect(follower.reported == ["new Film/3", "put Film/1", "deleted Film/2"])
    #expect(page?.isComplete == true)
    #expect(page?.next == LogPosition(revision: Revision(5)))
    try await follower.takePage(from: store)
    #expect(follower.reported.isEmpty)
  }

  @Test("Unchanged content is not reported")
  func unchangedContentIsNotReported() async throws {
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

  @Test("A page can end inside a revision and is continued after the last entity")
  func aPageCanEndInsideARevision() async throws {
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
    #expect(follower.reported == ["new Film/3", "new Film/4"])
    let last = try await follower.takePage(from: store, limit: 2)
    #expect(last?.isComplete == true)
    #expect(follower.held.count == 5)
  }

  @Test("A new entity that changes while pages are read is still reported as new")
  func anEntityChangedBetweenPagesStaysNew() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(Self.film(1, "1", "A"))
    var follower = LogFollower.atHead(of: store)
    for id in 2...5 { _ = try await store.apply(Self.film(Int64(id), "\(id)", "A")) }
    try await follower.takePage(from: store, limit: 2)
    #expect(follower.reported == ["new Film/2", "new Film/3"])
    _ = try await store.apply(Self.film(6, "4", "A2"))
    try await follower.takePage(from: store, limit: 1)
    try await follower.takePage(from: store, limit: 1)
    #expect(follower.reported == ["new Film/4"])
  }

  @Test("A snapshot omits deletions from before it began")
  func aSnapshotOmitsEarlierDeletions() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    for id in 1...4 { _ = try await store.apply(Self.film(Int64(id), "\(id)", "A")) }
    _ = try await store.apply(Self.deletion(5, "1"))
    var follower = LogFollower()
    try await follower.takePage(from: store, limit: 1)
    #expect(follower.reported == ["new Film/2"])
    _ = try await store.apply(Self.deletion(6, "2"))
    let page = try await follower.takePage(from: store)
    #expect(follower.reported == ["new Film/3", "new Film/4", "deleted Film/2"])
    #expect(page?.isComplete == true)
    #expect(Set(follower.held.keys) == [.film("3"), .film("4")])
  }

  @Test("A query for some types omits all others")
  func aTypeFilterOmitsOtherTypes() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(
      ResponseBuilder(call: 1).film("1", ["title": "A"]).entity(.person("7"), ["name": "N"]).build()
    )
    var follower = LogFollower()
    try await follower.takePage(from: store, types: ["Person"])
    #expect(follower.reported == ["new Person/7"])
  }

  // MARK: Scopes

  @Test("An entity in several of the viewer's scopes is folded and reported once")
  func foldsTheViewersScopesIntoOneEntry() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(
      ResponseBuilder(call: 1).film("1", ["title": "public", "year": 1]).build())
    _ = try await store.apply(Self.film(2, "1", "mine", scope: Self.user))
    var mine = LogFollower(Self.viewer)
    try await mine.takePage(from: store)
    #expect(mine.reported == ["new Film/1"])
    #expect(mine.held[.film("1")] == #"id="1" title="mine" year=1"#)
    var open = LogFollower()
    try await open.takePage(from: store)
    #expect(open.held[.film("1")] == #"id="1" title="public" year=1"#)
  }

  @Test("Changes in another user's scope are not reported")
  func anotherUsersChangesAreNotReported() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    var mine = LogFollower.atHead(of: store, Self.viewer)
    _ = try await store.apply(Self.film(1, "1", "theirs", scope: .user("v")))
    let page = try await mine.takePage(from: store)
    #expect(page?.entries.isEmpty == true)
    #expect(page?.next.revision == Revision(1))
  }

  @Test("A narrower tombstone hides the wider row, and later changes of that row are not reported")
  func aNarrowerTombstoneHidesTheWiderRow() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(Self.film(1, "1", "A"))
    var mine = LogFollower.atHead(of: store, Self.viewer)
    _ = try await store.apply(Self.deletion(2, "1", scope: Self.user))
    try await mine.takePage(from: store)
    #expect(mine.reported == ["hidden Film/1"])
    _ = try await store.apply(Self.film(3, "1", "A2"))
    try await mine.takePage(from: store)
    #expect(mine.reported.isEmpty)
  }

  @Test("Purging a private tombstone shows the row it hid")
  func purgingAPrivateTombstoneShowsTheHiddenRow() async throws {
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

  @Test("Purging a private copy shows the public one")
  func purgingAPrivateCopyShowsThePublicOne() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(Self.film(1, "1", "A"))
    _ = try await store.apply(Self.film(2, "1", "mine", scope: Self.user))
    var mine = LogFollower.atHead(of: store, Self.viewer)
    _ = try await store.purge(
      [.type("Film")], in: Self.user, call: CallNumber(3), horizon: CallNumber(3))
    try await mine.takePage(from: store)
    #expect(mine.reported == ["put Film/1"])
    #expect(mine.held[.film("1")] == #"id="1" title="A""#)
  }

  /// An entity that was hidden from this viewer is new to it, even if others have long known it.
  @Test("An entity that was hidden is reported as new when it shows again")
  func aHiddenEntityIsNewWhenItShowsAgain() async throws {
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
    #expect(mine.reported == ["new Film/1", "new Film/2"])
    // From here on both are known.
    _ = try await store.apply(Self.film(7, "1", "A2", scope: Self.user))
    _ = try await store.apply(Self.film(8, "2", "A2"))
    try await mine.takePage(from: store)
    #expect(mine.reported == ["put Film/1", "put Film/2"])
    try await open.takePage(from: store)
    #expect(open.reported == ["put Film/2"])
  }

  @Test("Purging a type in a scope shows the rows that its tombstones hid")
  func purgingATypeShowsHiddenRows() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(Self.film(1, "1", "A"))
    _ = try await store.apply(Self.deletion(2, "1", scope: Self.user))
    var mine = LogFollower.atHead(of: store, Self.viewer)
    _ = try await store.purge(
      [.type("Film")], in: Self.user, call: CallNumber(3), horizon: CallNumber(3))
    try await mine.takePage(from: store)
    #expect(mine.reported == ["new Film/1"])
  }

  // MARK: Forgetting

  @Test("Evicted entities are not reported")
  func evictionIsNotReported() async throws {
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
    #expect(follower.reported.isEmpty)
    _ = try await store.apply(Self.film(2, "1", "A2"))
    try await follower.takePage(from: store)
    #expect(follower.reported == ["put Film/1"])
  }

  @Test("A position below the floor cannot be continued")
  func aPositionBelowTheFloorIsNotContinued() async throws {
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
    var fresh = LogFollower()
    #expect(try await fresh.takePage(from: store) != nil)
  }
}
