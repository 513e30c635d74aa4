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

  /// The members of an owner by key.
  private struct ShownList: Equatable {
    var keys: [EntityKey] = []
    var hasMore = false
    var isFirstDeleted = false
  }

  private func lists(
    _ fixture: StoreFixture, _ query: RelatedQuery, viewer: Viewer = .anonymous
  ) async throws -> [ShownList] {
    let found = try await fixture.store.related([query], viewer: viewer)
    let lists = try #require(found.lists.first)
    #expect(Set(found.entities.map(\.key)).count == found.entities.count)
    #expect(Set(lists.flatMap(\.places)) == Set(found.entities.indices))
    for entity in found.entities { #expect(!entity.record.isDeleted) }
    return lists.map { list in
      ShownList(
        keys: list.places.map { found.entities[$0].key }, hasMore: list.hasMore,
        isFirstDeleted: list.isFirstDeleted)
    }
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
        "rare": ShownList(
          keys: [7, 5_007].flatMap { Self.films($0..<$0 + 1) }, hasMore: true),
        "frequent": ShownList(keys: Self.films(0..<2), hasMore: true),
      ]
      #expect(found == values.map { expected[$0] ?? ShownList() })
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
          ShownList(keys: Self.films(shown), hasMore: limit < 10), ShownList(),
          ShownList(keys: backwards, hasMore: limit < 10),
        ], "limit \(limit)")
    }
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1_000, scope: .user("u"))
        .deleting(EntityKey(type: "Film", key: Self.id(60))).build())
    let viewer = Viewer(layers: [.user("u"), .public])
    for order in [EntityOrder.byKey, try EntityOrder("id", type: Self.film)] {
      let found = try await lists(
        fixture, RelatedQuery(.members([members]), order: order, limit: 2), viewer: viewer)
      #expect(found == [ShownList(keys: Self.films(61..<63), hasMore: true)])
    }
    let single = { (number: Int) in
      RelatedQuery(.members([Self.films(number..<number + 1)]), limit: 1)
    }
    #expect(
      try await lists(fixture, single(60), viewer: viewer) == [ShownList(isFirstDeleted: true)])
    #expect(try await lists(fixture, single(60)) == [ShownList(keys: Self.films(60..<61))])
    #expect(try await lists(fixture, single(99), viewer: viewer) == [ShownList()])
  }

  @Test("Members of several owners are ordered together")
  func ordersMembersOfSeveralOwners() async throws {
    let fixture = try StoreFixture()
    try await fill(fixture, 0..<20) { _ in "p" }
    let order = try EntityOrder("-year,id", type: Self.film)
    let owned = [Self.films(0..<20), Self.films(5..<9), [], Self.films(3..<4) + Self.films(3..<4)]
    let found = try await lists(fixture, RelatedQuery(.members(owned), order: order, limit: 3))
    let best = { (numbers: [Int]) in numbers.flatMap { Self.films($0..<$0 + 1) } }
    #expect(
      found == [
        ShownList(keys: best([6, 13, 5]), hasMore: true),
        ShownList(keys: best([6, 5, 8]), hasMore: true), ShownList(),
        ShownList(keys: best([3])),
      ])
  }
}
