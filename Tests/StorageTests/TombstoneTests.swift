import LosslessJSON
import Model
import Testing

@testable import Storage

struct TombstoneTests {
  private static let policy = EvictionPolicy(windows: [:], bytesMax: .max)

  private static func at(day: Int64, minutes: Int64 = 0) -> Timestamp {
    Timestamp(milliseconds: (day * 24 * 60 + minutes) * 60_000)
  }

  private static func pass(_ store: Store, day: Int64, minutes: Int64 = 0) async throws -> Int {
    var tombstones = 0
    var hasMore = true
    while hasMore {
      let report = try await store.evict(policy, at: at(day: day, minutes: minutes))
      tombstones += report.tombstones
      hasMore = report.hasMore
    }
    return tombstones
  }

  /// Deletes films at revisions 2 and 4 on days 1 and 11.
  private static func twoDeletions(_ scope: Scope = .public) async throws -> StoreFixture {
    let fixture = try StoreFixture()
    for (index, day) in [1, 11].enumerated() as EnumeratedSequence<[Int64]> {
      let call = Int64(index * 2 + 1)
      let key = EntityKey.film("\(index)")
      _ = try await fixture.store.apply(
        ResponseBuilder(call: call, scope: scope).entity(key, ["title": "A"]).build())
      _ = try await fixture.store.apply(
        ResponseBuilder(call: call + 1, scope: scope).deleting(key).build())
      #expect(try await pass(fixture.store, day: day) == 0)
    }
    return fixture
  }

  @Test("Deletions are reported for thirty days")
  func deletionsAreReportedForThirtyDays() async throws {
    let fixture = try await Self.twoDeletions()
    #expect(try await Self.pass(fixture.store, day: 30) == 0)
    #expect(fixture.store.floor == .zero)
    #expect(try await Self.pass(fixture.store, day: 32) == 1)
    #expect(fixture.store.floor == Revision(2))
    let rows = try await StoredRows(fixture)
    #expect(rows.entities.keys.map(\.key) == [.film("1")])
    #expect(rows.changes.keys.map(\.key) == [.film("1")])
    #expect(try await Self.pass(fixture.store, day: 50) == 1)
    #expect(fixture.store.floor == Revision(4))
    #expect(fixture.store.head == Revision(4))
  }

  @Test("The floor survives a restart")
  func theFloorOutlivesTheProcess() async throws {
    let fixture = try await Self.twoDeletions()
    #expect(try await Self.pass(fixture.store, day: 32) == 1)
    fixture.store.close()
    let second = try StoreFixture(fixture.folder, segment: 2)
    defer { second.store.close() }
    #expect(second.store.floor == Revision(2))
    #expect(try await Self.pass(second.store, day: 50) == 1)
  }

  /// Otherwise the user would see the public film again.
  @Test("A tombstone stays while it hides a wider scope's row")
  func aTombstoneStaysWhileItHidesARow() async throws {
    let fixture = try await Self.twoDeletions(.user("u"))
    _ = try await fixture.store.apply(ResponseBuilder(call: 5).film("0", ["title": "A"]).build())
    #expect(try await Self.pass(fixture.store, day: 50) == 1)
    let viewer = Viewer(layers: [.user("u"), .public])
    #expect(try await fixture.store.entity(.film("0"), viewer: viewer)?.isDeleted == true)
    _ = try await fixture.store.purge(
      [.type("Film")], in: .public, call: CallNumber(6), horizon: CallNumber(6))
    #expect(try await Self.pass(fixture.store, day: 51) == 1)
    #expect(try await StoredRows(fixture).entities.isEmpty)
  }

  /// A call in flight, however long it takes, must still find the deletion it began before.
  @Test("A tombstone stays while an older call is in flight")
  func aTombstoneStaysWhileAnOlderCallIsInFlight() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 5, horizon: 3).deleting(.film("1")).build())
    #expect(try await Self.pass(fixture.store, day: 1) == 0)
    #expect(try await Self.pass(fixture.store, day: 50) == 0)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 3, horizon: 3).film("1", ["title": "A"]).build())
    #expect(try await fixture.title(of: "1") == nil)
    _ = try await fixture.store.apply(ResponseBuilder(call: 6).build())
    #expect(try await Self.pass(fixture.store, day: 50) == 1)
  }

  @Test("Purged entities are forgotten after the same time")
  func purgesAreForgottenToo() async throws {
    let fixture = try StoreFixture()
    var builder = ResponseBuilder(call: 1)
    for number in 0..<300 { builder = builder.film("\(number)", ["title": "A"]) }
    _ = try await fixture.store.apply(builder.build())
    _ = try await fixture.store.purge(
      [.type("Film")], in: nil, call: CallNumber(2), horizon: CallNumber(2))
    #expect(try await Self.pass(fixture.store, day: 1) == 0)
    #expect(try await Self.pass(fixture.store, day: 32) == 300)
    #expect(try await fixture.count("change") == 0)
    #expect(fixture.store.floor == Revision(2))
  }

  /// Evictions are not reported, so no cursor misses that they are forgotten. Their time begins
  /// with the eviction, however old their last change is.
  @Test("Evicted entities are forgotten without raising the floor")
  func evictedEntitiesAreForgottenWithoutRaisingTheFloor() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(ResponseBuilder(call: 1).film("1", ["title": "A"]).build())
    #expect(try await Self.pass(fixture.store, day: 1) == 0)
    _ = try await fixture.store.apply(ResponseBuilder(call: 2).film("2", ["title": "A"]).build())
    var policy = Self.policy
    policy.bytesMax = 0
    while try await fixture.store.evict(policy, at: Self.at(day: 40)).hasMore {}
    #expect(try await StoredRows(fixture).entities.isEmpty)
    #expect(try await Self.pass(fixture.store, day: 60) == 0)
    #expect(try await fixture.count("change") == 2)
    #expect(try await Self.pass(fixture.store, day: 71) == 0)
    #expect(try await fixture.count("change") == 0)
    #expect(try await fixture.count("gone") == 0)
    #expect(fixture.store.floor == .zero)
  }

  @Test("An entity that was stored again is not forgotten")
  func aRestoredEntityIsNotForgotten() async throws {
    let fixture = try await Self.twoDeletions()
    _ = try await fixture.store.apply(ResponseBuilder(call: 5).film("0", ["title": "A"]).build())
    #expect(try await Self.pass(fixture.store, day: 50) == 1)
    #expect(try await fixture.title(of: "0") == "A")
    let change = try await StoredRows(fixture).changes[.init(scope: 0, key: .film("0"))]
    #expect(change == .init(created: 5, revision: 5, kind: 0))
    #expect(try await fixture.count("gone") == 0)
  }

  // MARK: Revision times

  /// One row an hour at most, whatever the number of steps and writes.
  @Test("Revision times are recorded once an hour at most")
  func revisionTimesAreRecordedHourly() async throws {
    let fixture = try StoreFixture()
    for minute in 0..<180 as Range<Int64> {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: minute + 1).film("1", ["year": .number(JSONNumber(minute))]).build())
      _ = try await Self.pass(fixture.store, day: 1, minutes: minute)
    }
    #expect(try await fixture.count("revision_time") == 3)
  }

  @Test("Old revision times are removed")
  func oldRevisionTimesAreRemoved() async throws {
    let fixture = try StoreFixture()
    for day in 1...100 as ClosedRange<Int64> {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: day).film("1", ["year": .number(JSONNumber(day))]).build())
      _ = try await Self.pass(fixture.store, day: day)
    }
    #expect(try await fixture.count("revision_time") == 31)
  }

  /// A clock that was ahead for an hour must not keep later revisions from growing old.
  @Test("Revision times from a clock that was ahead are dropped")
  func revisionTimesFromTheFutureAreDropped() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(ResponseBuilder(call: 1).deleting(.film("1")).build())
    _ = try await Self.pass(fixture.store, day: 9000)
    #expect(try await Self.pass(fixture.store, day: 1) == 0)
    #expect(try await Self.pass(fixture.store, day: 30) == 0)
    #expect(try await Self.pass(fixture.store, day: 32) == 1)
  }
}
