import Filtering
import LosslessJSON
import Model
import Testing

@testable import Storage

/// Observers with a condition on the object.
struct ConditionTests {
  private static let user = Scope.user("u")
  private static let viewer = Viewer(layers: [user, .public])

  private static func conditions(_ text: String) throws -> [String: ObservedCondition] {
    let type = StoreFixture.types[0]
    let filter = try Filter(text, arguments: .none, type: type)
    return ["Film": ObservedCondition(type: type, filter: filter)]
  }

  private static func film(
    _ call: Int64, _ id: String, _ year: Int, scope: Scope = .public
  ) -> NormalisedResponse {
    ResponseBuilder(call: call, scope: scope)
      .film(id, ["title": "T", "year": .number(JSONNumber(year))]).build()
  }

  private static func deletion(_ call: Int64, _ id: String) -> NormalisedResponse {
    ResponseBuilder(call: call).deleting(.film(id)).build()
  }

  @Test("Entities that enter, stay in or leave the condition are reported")
  func reportsEntitiesThatEnterStayOrLeave() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await store.keepHistory(ofTypes: ["Film"])
    for id in 1...4 { _ = try await store.apply(Self.film(Int64(id), "\(id)", 1900 + id)) }
    let conditions = try Self.conditions("year > 1902")
    var follower = LogFollower.atHead(of: store, conditions: conditions)
    _ = try await store.apply(Self.film(5, "1", 2000))
    _ = try await store.apply(Self.film(6, "2", 1800))
    _ = try await store.apply(Self.film(7, "3", 2001))
    _ = try await store.apply(Self.film(8, "4", 1700))
    _ = try await store.apply(Self.film(9, "5", 2002))
    _ = try await store.apply(Self.film(10, "6", 1701))
    try await follower.takePage(from: store)
    #expect(follower.reported == ["new Film/1", "put Film/3", "hidden Film/4", "new Film/5"])
    _ = try await store.apply(Self.deletion(11, "5"))
    _ = try await store.apply(Self.deletion(12, "6"))
    try await follower.takePage(from: store)
    #expect(follower.reported == ["deleted Film/5"])
  }

  @Test("A null or missing field does not meet the condition")
  func aNullOrMissingFieldDoesNotMatch() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await store.keepHistory(ofTypes: ["Film"])
    var follower = LogFollower.atHead(of: store, conditions: try Self.conditions("NOT year = 1"))
    _ = try await store.apply(ResponseBuilder(call: 1).film("1", ["title": "T"]).build())
    try await follower.takePage(from: store)
    #expect(follower.reported.isEmpty)
    _ = try await store.apply(Self.film(2, "1", 2))
    try await follower.takePage(from: store)
    #expect(follower.reported == ["new Film/1"])
  }

  @Test("The value that the viewer sees decides, not that of a hidden layer")
  func theVisibleValueDecides() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await store.keepHistory(ofTypes: ["Film"])
    _ = try await store.apply(Self.film(1, "1", 1950))
    let conditions = try Self.conditions("year < 2000")
    var mine = LogFollower.atHead(of: store, Self.viewer, conditions: conditions)
    _ = try await store.apply(Self.film(2, "1", 2010, scope: Self.user))
    try await mine.takePage(from: store)
    #expect(mine.reported == ["hidden Film/1"])
    // This viewer does not see the change.
    _ = try await store.apply(Self.film(3, "1", 1960))
    try await mine.takePage(from: store)
    #expect(mine.reported.isEmpty)
    _ = try await store.apply(Self.film(4, "1", 1970, scope: Self.user))
    try await mine.takePage(from: store)
    #expect(mine.reported == ["new Film/1"])
  }

  @Test("An entity that leaves the condition between two pages is reported")
  func leavingBetweenTwoPagesIsReported() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await store.keepHistory(ofTypes: ["Film"])
    let conditions = try Self.conditions("year > 1900")
    var follower = LogFollower.atHead(of: store, conditions: conditions)
    for id in 1...3 { _ = try await store.apply(Self.film(Int64(id), "\(id)", 2000)) }
    try await follower.takePage(from: store, limit: 1)
    #expect(follower.reported == ["new Film/1"])
    _ = try await store.apply(Self.film(4, "1", 1800))
    _ = try await store.apply(Self.film(5, "3", 1800))
    try await follower.takePage(from: store)
    #expect(follower.reported == ["new Film/2", "hidden Film/1"])
    _ = try await store.apply(Self.film(6, "1", 2000))
    try await follower.takePage(from: store)
    #expect(follower.reported == ["new Film/1"])
  }

  /// The earlier state of an evicted entity is unknown: readers that can have it get a deletion,
  /// and readers that may lack it get it as new.
  @Test("An entity whose earlier state is unknown is reported rather than omitted")
  func anUnknownEarlierStateIsReported() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await store.keepHistory(ofTypes: ["Film"])
    _ = try await store.apply(Self.film(1, "1", 2000))
    _ = try await store.apply(Self.film(2, "2", 2000))
    let conditions = try Self.conditions("year > 1900")
    var follower = LogFollower.atHead(of: store, conditions: conditions)
    let policy = EvictionPolicy(windows: [:], bytesMax: 0)
    while try await store.evict(policy, at: Timestamp(milliseconds: 86_400_000)).hasMore {}
    try #require(try await store.entity(.film("1"), viewer: .anonymous) == nil)
    _ = try await store.apply(Self.film(3, "1", 2001))
    _ = try await store.apply(Self.film(4, "2", 1800))
    try await follower.takePage(from: store)
    #expect(follower.reported == ["new Film/1", "hidden Film/2"])
  }

  // MARK: Entity history

  @Test("A position from before the entity history began cannot be continued with a condition")
  func aCursorFromBeforeTheHistoryIsNotContinued() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(Self.film(1, "1", 2000))
    let conditions = try Self.conditions("year > 1900")
    var early = LogFollower.atHead(of: store, conditions: conditions)
    _ = try await store.apply(Self.film(2, "1", 2001))
    try await store.keepHistory(ofTypes: ["Film"])
    #expect(try await early.takePage(from: store) == nil)
    var late = LogFollower.atHead(of: store, conditions: conditions)
    #expect(try await late.takePage(from: store) != nil)
    var fresh = LogFollower(conditions: conditions)
    try await fresh.takePage(from: store)
    #expect(fresh.reported == ["new Film/1"])
  }

  @Test("The entity history survives restarts for as long as it is observed")
  func historySurvivesRestartsWhileObserved() async throws {
    let folder = TemporaryFolder()
    let conditions = try Self.conditions("year > 1900")
    var store = try StoreFixture.open(folder, segment: 1)
    try await store.keepHistory(ofTypes: ["Film"])
    _ = try await store.apply(Self.film(1, "1", 1800))
    var follower = LogFollower.atHead(of: store, conditions: conditions)
    store.close()
    store = try StoreFixture.open(folder, segment: 2)
    try await store.keepHistory(ofTypes: ["Film"])
    _ = try await store.apply(Self.film(2, "1", 2000))
    #expect(try await follower.takePage(from: store) != nil)
    #expect(follower.reported == ["new Film/1"])
    for segment in 3...4 as ClosedRange<UInt64> {
      store.close()
      store = try StoreFixture.open(folder, segment: segment)
    }
    // No observer asked in segment 3.
    #expect(try await follower.takePage(from: store) == nil)
    store.close()
  }

  @Test("The entity history is bounded in states")
  func historyIsBounded() async throws {
    let fixture = try StoreFixture()
    let store = fixture.store
    try await store.keepHistory(ofTypes: ["Film"])
    let conditions = try Self.conditions("year > 1900")
    _ = try await store.apply(Self.film(1, "0", 2000))
    var early = LogFollower.atHead(of: store, conditions: conditions)
    let films = 10_000
    for call in 2...8 as ClosedRange<Int64> {
      var builder = ResponseBuilder(call: call)
      for id in 0..<films { builder = builder.film("\(id)", ["year": .number(JSONNumber(call))]) }
      _ = try await store.apply(builder.build())
    }
    #expect(try await fixture.count("past") == EntityHistoryRecorder.statesMax)
    #expect(try await early.takePage(from: store, limit: 1) == nil)
    store.close()
  }

  @Test("Old states are bounded in bytes too, and a cursor from before them is not continued")
  func bytesAreBounded() async throws {
    let fixture = try StoreFixture()
    let store = fixture.store
    try await store.keepHistory(ofTypes: ["Film"])
    let conditions = try Self.conditions("year > 1900")
    _ = try await store.apply(Self.film(1, "0", 2000))
    var early = LogFollower.atHead(of: store, conditions: conditions)
    // The console reads values of 1 MiB at most.
    let title = String(repeating: "a", count: (1 << 20) - 4_096)
    for call in 2...75 as ClosedRange<Int64> {
      _ = try await store.apply(
        ResponseBuilder(call: call).film("0", ["title": .string("\(call) \(title)")]).build())
    }
    let kept = try await store.answer(
      SQLQuestion(
        sql: "SELECT (SELECT bytes FROM past_size), (SELECT sum(100 + length(fields)) FROM past)",
        arguments: .positional([]), rowsMax: 1, bytesMax: 100, mayGoOn: { true }))
    guard case .integer(let counted)? = kept.rows.first?[0] else {
      Issue.record("\(kept)")
      return
    }
    #expect(kept.rows.first?[1] == .integer(counted))
    #expect(counted <= EntityHistoryRecorder.bytesMax + (4 << 20))
    #expect(counted > 0)
    #expect(try await early.takePage(from: store, limit: 1) == nil)
    store.close()
  }

  @Test("The number of types with a history is bounded")
  func typesAreBounded() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    #expect(try await store.keepHistory(ofTypes: ["Film"], upTo: 1))
    #expect(try await !store.keepHistory(ofTypes: ["Person"], upTo: 1))
    #expect(try await store.keepHistory(ofTypes: ["Film"], upTo: 1))
    #expect(try await store.keepHistory(ofTypes: ["Person"]))
    store.close()
  }
}
