import LosslessJSON
import Model
import Storage
import Testing

struct InvalidationTests {
  private static let key = ResultKey(operation: "Films", variables: "{}", scope: .public)

  private static func films(_ call: Int64, horizon: Int64? = nil) -> ResponseBuilder {
    ResponseBuilder(call: call, horizon: horizon).film("1", ["title": "A"])
      .result("Films", root: ["films": [.reference(.film("1"))]], tags: ["front"])
  }

  private static func isDue(_ fixture: StoreFixture, _ key: ResultKey = key) async throws -> Bool? {
    try await fixture.store.result(key, selection: .filmsWithDirectors, viewer: .anonymous)?.isDue
  }

  @Test(
    "An invalidation makes a result due until a later response arrives",
    arguments: [
      InvalidationTarget.entity(.film("1")), .type("Film"), .operation("Films"), .tag("front"),
    ])
  func marksTheResultDueUntilALaterResponse(target: InvalidationTarget) async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(Self.films(1).build())
    #expect(try await Self.isDue(fixture) == false)
    let report = try await fixture.store.invalidate(
      [target], in: nil, call: CallNumber(3), horizon: CallNumber(2))
    #expect(report.invalidated == [target])
    #expect(report.revision == nil)
    #expect(try await Self.isDue(fixture) == true)
    // It began before the invalidation, so it may not include its cause.
    _ = try await fixture.store.apply(Self.films(2).build())
    #expect(try await Self.isDue(fixture) == true)
    _ = try await fixture.store.apply(Self.films(4).build())
    #expect(try await Self.isDue(fixture) == false)
  }

  @Test(
    "An invalidation leaves unrelated results fresh",
    arguments: [
      InvalidationTarget.entity(.film("2")), .type("Person"), .operation("Other"), .tag("back"),
    ])
  func leavesUnrelatedResultsFresh(target: InvalidationTarget) async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(Self.films(1).build())
    _ = try await fixture.store.invalidate(
      [target], in: nil, call: CallNumber(2), horizon: CallNumber(2))
    #expect(try await Self.isDue(fixture) == false)
  }

  @Test("A result with an empty list becomes due when its type is invalidated")
  func emptyListsDependOnTheirType() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1).result("Films", root: ["films": []], types: ["Film"]).build())
    _ = try await fixture.store.invalidate(
      [.type("Film")], in: .public, call: CallNumber(2), horizon: CallNumber(2))
    #expect(try await Self.isDue(fixture) == true)
  }

  @Test("An invalidation in one scope leaves other scopes fresh")
  func scopesAreInvalidatedSeparately() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(Self.films(1).build())
    _ = try await fixture.store.invalidate(
      [.type("Film")], in: .user("u"), call: CallNumber(2), horizon: CallNumber(2))
    #expect(try await Self.isDue(fixture) == false)
    // A mutation's own invalidations reach the public scope as well.
    let report = try await fixture.store.apply(
      ResponseBuilder(call: 3, scope: .user("u")).invalidating(.type("Film")).build())
    #expect(report.invalidated == [.type("Film")])
    #expect(try await Self.isDue(fixture) == true)
  }

  @Test("A result with errors is due immediately")
  func errorsMakeTheResultDue() async throws {
    let fixture = try StoreFixture()
    let report = try await fixture.store.apply(
      ResponseBuilder(call: 1).result("Films", root: [:], errors: #"[{"message":"x"}]"#).build())
    #expect(!report.isExact)
    let snapshot = try #require(
      try await fixture.store.result(
        Self.key, selection: .filmsWithDirectors, viewer: .anonymous))
    #expect(snapshot.isDue)
    #expect(snapshot.errors == Array(#"[{"message":"x"}]"#.utf8))
  }

  @Test("A mutation makes the public copies of its entities due")
  func aMutationMarksPublicCopies() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(Self.films(1).build())
    let report = try await fixture.store.apply(
      ResponseBuilder(call: 2, scope: .user("u")).film("1", ["title": "B"]).film(
        "5", ["title": "C"]
      )
      .markingPublicCopies().build())
    #expect(report.invalidated == [.entity(.film("1"))])
    #expect(try await Self.isDue(fixture) == true)
  }

  @Test("A changed first page makes later pages due")
  func aChangedFirstPageMakesLaterPagesDue() async throws {
    let fixture = try StoreFixture()
    func page(_ call: Int64, isFirst: Bool, digest: UInt64) -> NormalisedResponse {
      ResponseBuilder(call: call).result(
        "Page", variables: isFirst ? "1" : "2", root: ["films": []],
        pages: [
          .init(
            owner: .person("7"), page: .init(family: "films({})", isFirst: isFirst), digest: digest)
        ]
      ).build()
    }
    let later = ResultKey(operation: "Page", variables: "2", scope: .public)
    _ = try await fixture.store.apply(page(1, isFirst: true, digest: 1))
    _ = try await fixture.store.apply(page(2, isFirst: false, digest: 9))
    let same = try await fixture.store.apply(page(3, isFirst: true, digest: 1))
    #expect(same.invalidated.isEmpty)
    #expect(try await Self.isDue(fixture, later) == false)
    let changed = try await fixture.store.apply(page(4, isFirst: true, digest: 2))
    #expect(changed.invalidated == [.operation("Page")])
    #expect(try await Self.isDue(fixture, later) == true)
    #expect(
      try await Self.isDue(
        fixture, ResultKey(operation: "Page", variables: "1", scope: .public)) == false)
    _ = try await fixture.store.apply(page(5, isFirst: false, digest: 8))
    #expect(try await Self.isDue(fixture, later) == false)
  }

  @Test("Explaining a result lists the reasons why it is due")
  func explainsWhyAResultIsDue() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(Self.films(1).build())
    let calm = try #require(try await fixture.store.explain(Self.key))
    #expect(calm.due.isEmpty)
    #expect(calm.types == ["Film"])
    #expect(calm.tags == ["front"])
    _ = try await fixture.store.invalidate(
      [.type("Film"), .tag("front"), .operation("Films")], in: nil, call: CallNumber(2),
      horizon: CallNumber(2))
    let due = try await fixture.store.explain(Self.key)?.due
    let call = CallNumber(2)
    #expect(
      due == [
        .target(.type("Film"), call: call), .target(.tag("front"), call: call),
        .target(.operation("Films"), call: call),
      ])
    #expect(
      try await fixture.store.explain(
        ResultKey(operation: "None", variables: "{}", scope: .public)) == nil)
  }
}
