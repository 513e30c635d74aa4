import LosslessJSON
import Model
import Storage
import Testing

struct PurgeTests {
  private static let key = ResultKey(operation: "Films", variables: "{}", scope: .public)

  private static func films(_ call: Int64) -> NormalisedResponse {
    ResponseBuilder(call: call).film("1", ["title": "A"]).film("2", ["title": "B"])
      .result(
        "Films", root: ["films": [.reference(.film("1")), .reference(.film("2"))]], tags: ["front"]
      ).build()
  }

  private static func purge(
    _ target: InvalidationTarget, call: Int64, horizon: Int64? = nil, in scope: Scope? = nil,
    _ fixture: StoreFixture
  ) async throws -> CommitReport {
    try await fixture.store.purge(
      [target], in: scope, call: CallNumber(call), horizon: CallNumber(horizon ?? call))
  }

  private static func snapshot(_ fixture: StoreFixture) async throws -> ResultSnapshot? {
    try await fixture.store.result(key, selection: .filmsWithDirectors, viewer: .anonymous)
  }

  @Test("Purging an entity removes it and makes its results due")
  func purgingAnEntityMakesItsResultsDue() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(Self.films(1))
    let report = try await Self.purge(.entity(.film("1")), call: 2, fixture)
    #expect(report.changes.map(\.key) == [.film("1")])
    #expect(report.revision == Revision(2))
    #expect(try await fixture.store.entity(.film("1"), viewer: .anonymous) == nil)
    #expect(try await fixture.title(of: "2") == "B")
    #expect(try await Self.snapshot(fixture)?.isDue == true)
    _ = try await fixture.store.apply(Self.films(3))
    #expect(try await Self.snapshot(fixture)?.isDue == false)
    #expect(try await fixture.title(of: "1") == "A")
  }

  @Test("Purging a type removes all its entities")
  func purgingATypeRemovesItsEntities() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(Self.films(1))
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, scope: .user("u")).film("1", ["title": "U"]).build())
    let report = try await Self.purge(.type("Film"), call: 3, in: .public, fixture)
    #expect(report.invalidated == [.type("Film")])
    #expect(report.revision != nil)
    #expect(try await fixture.title(of: "1") == nil)
    #expect(
      try await fixture.title(of: "1", viewer: Viewer(layers: [.user("u"), .public])) == "U")
    _ = try await Self.purge(.type("Film"), call: 4, fixture)
    #expect(
      try await fixture.title(of: "1", viewer: Viewer(layers: [.user("u"), .public])) == nil)
    #expect(try await fixture.store.statistics().tables.map(\.entities) == [0, 0])
  }

  @Test(
    "Purging results removes them and refuses late responses",
    arguments: [InvalidationTarget.operation("Films"), .tag("front")])
  func purgingResultsRefusesLateResponses(target: InvalidationTarget) async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(Self.films(1))
    _ = try await Self.purge(target, call: 3, horizon: 2, fixture)
    #expect(try await Self.snapshot(fixture) == nil)
    let late = try await fixture.store.apply(Self.films(2))
    #expect(!late.isExact)
    #expect(try await Self.snapshot(fixture) == nil)
    _ = try await fixture.store.apply(Self.films(4))
    #expect(try await Self.snapshot(fixture) != nil)
  }

  @Test("Late responses cannot restore purged entities")
  func lateResponsesCannotRestorePurgedEntities() async throws {
    let fixture = try StoreFixture()
    _ = try await Self.purge(.entity(.film("1")), call: 3, horizon: 2, fixture)
    let late = try await fixture.store.apply(Self.films(2))
    #expect(!late.isExact)
    #expect(try await fixture.title(of: "1") == nil)
    #expect(try await fixture.title(of: "2") == "B")
  }

  @Test("Forgetting a result removes only that result")
  func forgettingRemovesOneResultOnly() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(Self.films(1))
    try await fixture.store.forget(Self.key)
    #expect(try await Self.snapshot(fixture) == nil)
    #expect(try await fixture.title(of: "1") == "A")
    #expect(try await fixture.store.explain(Self.key) == nil)
  }
}
