import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Storage

struct EvictionTests {
  private static let day: Int64 = 24 * 3600 * 1000
  private static let window = Duration.seconds(7 * 24 * 3600)

  private static func policy(bytesMax: Int = 0) -> EvictionPolicy {
    EvictionPolicy(windows: ["Films": window], bytesMax: bytesMax)
  }

  private static func at(day number: Int64) -> Timestamp {
    Timestamp(milliseconds: number * day)
  }

  /// Steps until the pass is over.
  @discardableResult
  private static func evict(
    _ store: Store, _ policy: EvictionPolicy = policy(), day: Int64,
    work: Int = EvictionWork.stepMicroseconds
  ) async throws -> EvictionReport {
    var total = EvictionReport()
    var steps = 0
    repeat {
      let report = try await store.evict(policy, at: at(day: day), work: EvictionWork(left: work))
      total.results += report.results
      total.entities += report.entities
      total.tombstones += report.tombstones
      total.bytesUsed = report.bytesUsed
      total.hasMore = report.hasMore
      steps += 1
    } while total.hasMore && steps < 10_000
    #expect(!total.hasMore)
    return total
  }

  private static func films(
    _ call: Int64, day: Int64, operation: String = "Films", variables: String = "{}",
    scope: Scope = .public, _ ids: [String], _ fields: JSONValue = ["title": "A"]
  ) -> NormalisedResponse {
    var builder = ResponseBuilder(call: call, scope: scope, received: at(day: day))
    for id in ids { builder = builder.film(id, fields) }
    return builder.result(
      operation, variables: variables,
      root: ["films": .array(ids.map { .reference(.film($0)) })]
    ).build()
  }

  private static func holds(
    _ fixture: StoreFixture, _ operation: String, _ variables: String = "{}"
  ) async throws -> Bool {
    let key = ResultKey(operation: operation, variables: variables, scope: .public)
    return try await fixture.store.result(
      key, selection: .filmsWithDirectors, viewer: .anonymous) != nil
  }

  private static let user = Viewer(layers: [.user("u"), .public])

  // MARK: Results

  @Test("Results are removed once no window serves them")
  func unservedResultsAreRemoved() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(Self.films(1, day: 1, variables: "1", ["1"]))
    _ = try await fixture.store.apply(Self.films(2, day: 3, variables: "3", ["1"]))
    _ = try await fixture.store.apply(Self.films(3, day: 9, operation: "Gone", ["1"]))
    let report = try await Self.evict(fixture.store, Self.policy(bytesMax: .max), day: 9)
    #expect(report.results == 2)
    #expect(try await !Self.holds(fixture, "Films", "1"))
    #expect(try await Self.holds(fixture, "Films", "3"))
    #expect(try await !Self.holds(fixture, "Gone"))
    #expect(try await fixture.store.statistics().tables.first?.entities == 1)
  }

  @Test("A result stored while the clock was ahead ages from now on and expires with its window")
  func aResultFromTheFutureGoes() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(Self.films(1, day: 400, variables: "ahead", ["1"]))
    let first = try await Self.evict(fixture.store, Self.policy(bytesMax: .max), day: 1)
    #expect(first.results == 0)
    #expect(try await Self.holds(fixture, "Films", "ahead"))
    let last = try await Self.evict(fixture.store, Self.policy(bytesMax: .max), day: 9)
    #expect(last.results == 1)
    #expect(try await !Self.holds(fixture, "Films", "ahead"))
  }

  @Test(arguments: [
    (operation: "Films", received: 0, now: 7, serves: true),
    (operation: "Films", received: 0, now: 8, serves: false),
    (operation: "Films", received: 90, now: 1, serves: true),
    (operation: "Other", received: 1, now: 1, serves: false),
  ])
  func aWindowServes(operation: String, received: Int64, now: Int64, serves: Bool) {
    #expect(
      Self.policy().serves(operation, received: Self.at(day: received), at: Self.at(day: now))
        == serves)
  }

  /// A call in flight can be older than the row; without the row, its response would count as the newest.
  @Test("Rows that a late response is compared with stay")
  func rowsForLateResponsesStay() async throws {
    let fixture = try StoreFixture()
    var builder = ResponseBuilder(call: 5, horizon: 2, received: Self.at(day: 1))
    builder = builder.film("1", ["title": "New"]).film("2", ["title": "New"])
    _ = try await fixture.store.apply(
      builder.result("Old", root: ["films": [.reference(.film("1"))]]).build())
    let early = try await Self.evict(fixture.store, day: 20)
    #expect((early.results, early.entities) == (0, 0))
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, horizon: 2).film("1", ["title": "Old"]).build())
    #expect(try await fixture.title(of: "1") == "New")
    _ = try await fixture.store.apply(ResponseBuilder(call: 6).build())
    let late = try await Self.evict(fixture.store, day: 20)
    #expect((late.results, late.entities) == (1, 2))
  }

  // MARK: Entities

  @Test("Entities that a live result leads to stay")
  func reachableEntitiesStay() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      Self.films(
        1, day: 1, ["1"], ["cast": [["__typename": "Role", "by": .reference(.person("1"))]]]))
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, scope: .user("u"), received: Self.at(day: 1))
        .entity(.person("1"), ["spouse": .reference(.person("2"))])
        .entity(.person("2"), ["name": "B"]).entity(.person("3"), ["name": "C"])
        .film("1", ["seen": true]).film("2", ["seen": true]).build())
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 3, received: Self.at(day: 1)).film("2", ["title": "B"]).build())
    let report = try await Self.evict(fixture.store, day: 2)
    // The public Film 2 hides no row and is evicted in this pass or the next, with the user's row.
    let more = try await Self.evict(fixture.store, day: 2)
    #expect(report.entities + more.entities == 3)
    let rows = try await StoredRows(fixture)
    #expect(
      Set(rows.entities.keys.map(\.key)) == [.film("1"), .person("1"), .person("2")])
    #expect(rows.entities.count == 4)
  }

  @Test("The oldest entities are evicted until the budget is met")
  func oldestAreEvictedFirst() async throws {
    let fixture = try StoreFixture()
    let text = JSONValue.string(String(repeating: "x", count: 1000))
    for number in 1...200 as ClosedRange<Int64> {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: number, received: Self.at(day: number))
          .film("\(number)", ["title": text]).build())
    }
    let before = try await Self.evict(fixture.store, Self.policy(bytesMax: .max), day: 300)
    #expect(before.entities == 0)
    let budget = before.bytesUsed - 60_000
    let report = try await Self.evict(fixture.store, Self.policy(bytesMax: budget), day: 300)
    #expect(report.bytesUsed <= budget)
    #expect(report.entities > 50 && report.entities < 150)
    var kept: [Int] = []
    for number in 1...200 where try await fixture.title(of: "\(number)") != nil {
      kept.append(number)
    }
    // A class of ages is as wide as a quarter of the age: 50 days here.
    #expect((kept.min() ?? 0) + 50 > report.entities)
    #expect(kept.suffix(50) == Array(151...200)[...])
  }

  /// Rows so large that evicting one of them is enough.
  private static let large = JSONValue.string(String(repeating: "x", count: 400_000))

  private static func evictOne(_ fixture: StoreFixture, day: Int64) async throws {
    let used = try await fixture.store.evict(policy(bytesMax: .max), at: at(day: day)).bytesUsed
    try await evict(fixture.store, policy(bytesMax: used - 1), day: day)
  }

  @Test("Entities that were recently read or confirmed stay")
  func recentlyTouchedEntitiesStay() async throws {
    let fixture = try StoreFixture()
    for number in 1...3 as ClosedRange<Int64> {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: number, received: Self.at(day: number))
          .film("\(number)", ["title": Self.large]).build())
    }
    #expect(try await fixture.title(of: "1") != nil)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 4, received: Self.at(day: 3)).film("2", ["title": Self.large]).build())
    try await Self.evictOne(fixture, day: 40)
    let kept = try await StoredRows(fixture).entities.keys.map(\.key)
    #expect(Set(kept) == [.film("1"), .film("2")])
  }

  @Test("An eviction is not reported as a deletion")
  func evictionIsNotReported() async throws {
    let fixture = try StoreFixture()
    let recorder = ReportRecorder()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1).film("1", ["title": "A"]).film("2", ["title": "B"]).build())
    _ = try await fixture.store.apply(ResponseBuilder(call: 2).film("1", ["title": "C"]).build())
    let before = try await StoredRows(fixture).changes
    fixture.store.observe { recorder.note($0) }
    #expect(try await Self.evict(fixture.store, day: 20).entities == 2)
    let after = try await StoredRows(fixture)
    #expect(after.entities.isEmpty)
    for (place, change) in before {
      #expect(
        after.changes[place]
          == .init(created: change.created, revision: change.revision, kind: 2))
    }
    #expect(fixture.store.head == Revision(2))
    #expect(recorder.count == 0)
    #expect(try await fixture.store.entity(.film("1"), viewer: .anonymous) == nil)
  }

  /// A cursor at revision 2 had the film: for it the film is changed, not new. For a cursor that never had
  /// it the film is new.
  @Test("An evicted entity that is fetched again is a change for cursors that had it")
  func refetchedEntityIsAChange() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(ResponseBuilder(call: 1).film("1", ["title": "A"]).build())
    _ = try await fixture.store.apply(ResponseBuilder(call: 2).film("2", ["title": "B"]).build())
    try await Self.evict(fixture.store, day: 20)
    let report = try await fixture.store.apply(
      ResponseBuilder(call: 3).film("1", ["title": "A"]).build())
    #expect(report.revision == Revision(3))
    let rows = try await StoredRows(fixture)
    #expect(
      rows.changes[.init(scope: 0, key: .film("1"))] == .init(created: 1, revision: 3, kind: 0))
    #expect(try await fixture.title(of: "1") == "A")
  }

  @Test(
    "A purge of an evicted entity is reported",
    arguments: [InvalidationTarget.entity(.film("1")), .type("Film")])
  func purgeOfEvictedIsReported(target: InvalidationTarget) async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(ResponseBuilder(call: 1).film("1", ["title": "A"]).build())
    try await Self.evict(fixture.store, day: 20)
    let report = try await fixture.store.purge(
      [target], in: nil, call: CallNumber(2), horizon: CallNumber(2))
    #expect(report.revision == Revision(2))
    let change = try await StoredRows(fixture).changes[.init(scope: 0, key: .film("1"))]
    #expect(change == .init(created: 1, revision: 2, kind: 1))
  }

  /// Without the user's row the user would see the public title.
  @Test("A narrower row stays while a wider one would become visible")
  func narrowerRowStays() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1, scope: .user("u"), received: Self.at(day: 1))
        .film("1", ["title": "Mine", "synopsis": Self.large]).build())
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, received: Self.at(day: 19)).film("1", ["title": "Everybody's"])
        .film("2", ["title": "B"]).build())
    // The user's row is the oldest by far.
    try await Self.evictOne(fixture, day: 20)
    #expect(try await fixture.title(of: "1", viewer: Self.user) == "Mine")
    // If everything must be evicted, the wider row is evicted first.
    try await Self.evict(fixture.store, day: 20)
    try await Self.evict(fixture.store, day: 20)
    #expect(try await StoredRows(fixture).entities.isEmpty)
  }

  @Test("An entity with rows in many scopes is marked in several steps")
  func manyScopesAreMarkedInSteps() async throws {
    let fixture = try StoreFixture()
    for number in 1...600 as ClosedRange<Int64> {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: number, scope: .user("\(number)")).film("1", ["seen": true])
          .film("2", ["seen": true]).build())
    }
    _ = try await fixture.store.apply(Self.films(601, day: 19, ["1"]))
    let report = try await Self.evict(fixture.store, day: 20, work: 300)
    #expect(report.entities == 600)
    let rows = try await StoredRows(fixture)
    #expect(rows.entities.count == 601)
    #expect(rows.entities.keys.allSatisfy { $0.key == .film("1") })
  }

  // MARK: Steps

  @Test("A step stays within its work budget")
  func stepStaysWithinBudget() async throws {
    let fixture = try StoreFixture()
    for call in 1...10 as ClosedRange<Int64> {
      let ids = (0..<300).map { "\(call)-\($0)" }
      _ = try await fixture.store.apply(
        Self.films(call, day: 1, variables: "\(call)", ids))
    }
    var steps = 0
    var removed = 0
    var hasMore = true
    while hasMore, steps < 1000 {
      let report = try await fixture.store.evict(
        Self.policy(), at: Self.at(day: 20), work: EvictionWork(left: 1000))
      #expect(report.entities + report.results <= 1000 / EvictionWork.remove)
      removed += report.entities
      steps += 1
      hasMore = report.hasMore
    }
    // The size of rows is estimated, so a few can remain.
    #expect(removed > 2900)
    #expect(steps > 3000 / (1000 / EvictionWork.remove))
  }

  /// References written after the pass began count, in every phase of the pass.
  @Test(
    "References written during a pass keep their entities",
    arguments: 1...40)
  func newReferencesCount(step: Int) async throws {
    let fixture = try StoreFixture()
    let ids = (0..<20).map { "\($0)" }
    _ = try await fixture.store.apply(Self.films(1, day: 1, operation: "Gone", ids))
    _ = try await fixture.store.apply(Self.films(2, day: 19, ["0"]))
    for _ in 1...step {
      _ = try await fixture.store.evict(
        Self.policy(), at: Self.at(day: 20), work: EvictionWork(left: 20))
    }
    // Has no more fields of Film 7 than are stored, or stores it again.
    _ = try await fixture.store.apply(
      Self.films(3, day: 20, variables: "new", ["7"]))
    try await Self.evict(fixture.store, day: 20, work: 20)
    try await Self.evict(fixture.store, day: 20, work: 20)
    let rows = try await StoredRows(fixture)
    #expect(Set(rows.entities.keys.map(\.key)) == [.film("0"), .film("7")])
  }

  /// The public Film 2 takes the row number of the purged Film 1, which the pass can have visited.
  @Test(
    "A reused row number counts as a new row",
    arguments: 1...30)
  func reusedRowNumberIsNew(step: Int) async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1, scope: .user("u"), received: Self.at(day: 1))
        .film("2", ["director": .reference(.person("1"))]).entity(.person("1"), ["name": "A"])
        .build())
    _ = try await fixture.store.apply(Self.films(2, day: 19, variables: "1", ["1"]))
    for _ in 1...step {
      _ = try await fixture.store.evict(
        Self.policy(), at: Self.at(day: 20), work: EvictionWork(left: 5))
      if try await fixture.fields(of: .person("1"), viewer: Self.user) == nil { return }
    }
    _ = try await fixture.store.purge(
      [.entity(.film("1"))], in: nil, call: CallNumber(3), horizon: CallNumber(3))
    _ = try await fixture.store.apply(Self.films(4, day: 20, variables: "2", ["2"]))
    let isKept = try await fixture.fields(of: .film("2"), viewer: Self.user)?["director"] != nil
    try await Self.evict(fixture.store, day: 20, work: 20)
    try await Self.evict(fixture.store, day: 20, work: 20)
    let director = try await fixture.fields(of: .person("1"), viewer: Self.user)
    #expect((director != nil) == isKept)
  }

  @Test("Invalidations older than all results are removed")
  func oldInvalidationsAreRemoved() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(Self.films(1, day: 1, variables: "old", ["1"]))
    _ = try await fixture.store.invalidate(
      [.type("Film"), .tag("t")], in: nil, call: CallNumber(2), horizon: CallNumber(2))
    _ = try await fixture.store.apply(Self.films(3, day: 6, variables: "new", ["1"]))
    let old = ResultKey(operation: "Films", variables: "old", scope: .public)
    try await Self.evict(fixture.store, day: 7)
    #expect(
      try await fixture.store.explain(old)?.due == [.target(.type("Film"), call: CallNumber(2))])
    #expect(try await fixture.count("invalidation") == 2)
    try await Self.evict(fixture.store, day: 10)
    #expect(try await fixture.count("invalidation") == 0)
  }
}
