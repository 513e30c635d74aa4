import Filtering
import LosslessJSON
import Model
import Storage
import Testing

/// The members of relationships of several owners.
struct RelatedQueryTests {
  private static let film = StoreFixture.types[0]

  private static func films(_ numbers: Range<Int>) -> [EntityKey] {
    numbers.map { EntityKey(type: "Film", key: id($0)) }
  }

  private static func id(_ number: Int) -> String { "f\(100_000 + number)" }

  /// Films of directors, by the number of the film.
  private func fill(
    _ fixture: StoreFixture, _ numbers: Range<Int>, director: (Int) -> String
  ) async throws {
    for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 500) {
      var answer = ResponseBuilder(call: Int64(first + 1))
      for number in first..<min(first + 500, numbers.upperBound) {
        answer = answer.entity(
          EntityKey(type: "Film", key: Self.id(number)),
          [
            "id": .string(Self.id(number)), "year": .number(JSONNumber(number % 7)),
            "director": .storedReference(to: EntityKey(type: "Person", key: director(number))),
          ])
      }
      _ = try await fixture.store.apply(answer.build())
    }
  }

  private func lists(
    _ fixture: StoreFixture, _ query: RelatedQuery, viewer: Viewer = .anonymous
  ) async throws -> [RelatedList] {
    let found = try await fixture.store.related([query], viewer: viewer)
    let lists = try #require(found.lists.first)
    for key in lists.flatMap(\.keys) { #expect(found.records[key]?.isDeleted == false) }
    return lists
  }

  @Test("Each owner has the first of its members, also where others have very many")
  func takesTheFirstOfEachOwner() async throws {
    let fixture = try StoreFixture()
    try await fill(fixture, 0..<10_100) { $0 % 5_000 == 7 ? "rare" : "frequent" }
    let query = { (values: [String], order: EntityOrder) in
      RelatedQuery(
        .naming(type: Self.film, column: "director", values: values.map { .text($0) }),
        order: order, limit: 2)
    }
    for values in [["rare", "unknown", "frequent", "rare"], ["rare", "unknown"]] {
      let found = try await lists(fixture, query(values, .byKey))
      let expected = [
        "rare": RelatedList(
          keys: [7, 5_007].flatMap { Self.films($0..<$0 + 1) }, hasMore: true),
        "frequent": RelatedList(keys: Self.films(0..<2), hasMore: true),
      ]
      #expect(found == values.map { expected[$0] ?? RelatedList() })
    }
    let latest = try await lists(
      fixture, query(["frequent"], try EntityOrder("-year", type: Self.film)))
    #expect(latest.first?.keys == [6, 13].flatMap { Self.films($0..<$0 + 1) })
  }

  @Test("Members that the viewer does not see are replaced by later ones")
  func skipsHiddenMembers() async throws {
    let fixture = try StoreFixture()
    try await fill(fixture, 60..<70) { _ in "p" }
    let members = Self.films(0..<100)
    for (limit, shown) in [(3, 60..<63), (9, 60..<69), (10, 60..<70), (50, 60..<70)] {
      let found = try await lists(
        fixture, RelatedQuery(.members([members, [], members.reversed()]), limit: limit))
      let backwards = Array(Self.films(60..<70).reversed().prefix(limit))
      #expect(
        found == [
          RelatedList(keys: Self.films(shown), hasMore: limit < 10), RelatedList(),
          RelatedList(keys: backwards, hasMore: limit < 10),
        ], "limit \(limit)")
    }
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1_000, scope: .user("u"))
        .deleting(EntityKey(type: "Film", key: Self.id(60))).build())
    let viewer = Viewer(layers: [.user("u"), .public])
    for order in [EntityOrder.byKey, try EntityOrder("id", type: Self.film)] {
      let found = try await lists(
        fixture, RelatedQuery(.members([members]), order: order, limit: 2), viewer: viewer)
      #expect(found == [RelatedList(keys: Self.films(61..<63), hasMore: true)])
    }
  }
}
