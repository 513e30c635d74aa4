import Filtering
import LosslessJSON
import Model
import Storage
import Testing

/// Filters of the maximum length and depth of the language, which the database must accept, too.
struct LargeFilterTests {
  private static let film = StoreFixture.types[0]

  /// Filters that match only films of the year 3.
  static let filters = [
    (0..<200).map { "year = \($0 == 7 ? 3 : $0 + 100)" }.joined(separator: " OR "),
    (0..<200).map { "year <> \($0 + 4)" }.joined(separator: " AND "),
    nested(30) { "year = \($0 + 100) OR (" },
    nested(30) { "year = \($0 + 100) OR year < 4 AND (" },
    nested(30) { "year < \($0 + 100) AND (year = \($0 + 200) OR " },
    nested(7) { "year < \($0 + 100) AND NOT (year = \($0 + 200) OR NOT (" },
    String(repeating: "NOT ", count: 30) + "year = 3",
    balanced(128),
  ]

  @Test(
    "Filters of the maximum size are accepted by SQLite",
    arguments: filters)
  func acceptsLargeFilters(_ text: String) async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    var answer = ResponseBuilder(call: 1)
    for year in [3, 4, 5] { answer = answer.film("f\(year)", ["year": .number(JSONNumber(year))]) }
    _ = try await store.apply(answer.build())
    let query = EntityQuery(
      type: Self.film, filter: try Filter(text, arguments: .none, type: Self.film))
    let page = try await store.page(query, viewer: .anonymous)
    #expect(page.items.map(\.key.key) == ["f3"])
  }

  @Test(
    "Quantifiers at their greatest depth are accepted by SQLite",
    arguments: [
      "ANY cast.name BEGINSWITH[cd] 'ag'", "ANY director.films.title BEGINSWITH[cd] 'cl'",
      "director.films.count = 1", "ANY about.name BEGINSWITH[cd] 'ag'", "about.count = 1",
      "ANY subject.films.title BEGINSWITH[cd] 'cl'", "subject.name BEGINSWITH[cd] 'ag'",
    ])
  func acceptsDeepQuantifiers(_ predicate: String) async throws {
    let fixture = try StoreFixture(
      types: [RelatedWorld.films, RelatedWorld.people, RelatedWorld.studios])
    defer { withExtendedLifetime(fixture) {} }
    let person = JSONValue.reference(.person("p"))
    for (index, scope) in [Scope.public, .user("u")].enumerated() {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: Int64(index + 1), scope: scope)
          .film(
            "f",
            [
              "title": "Cleo", "year": 1962, "director": person, "cast": [person],
              "subject": person, "about": [person],
            ]
          )
          .entity(.person("p"), ["id": "p", "name": "Agnes"]).build())
    }
    let text =
      String(repeating: "NOT (year = 1 OR ", count: 11) + "NOT \(predicate)"
      + String(repeating: ")", count: 11)
    let filter = try Filter(
      text, arguments: .none, type: RelatedWorld.films, graph: RelatedWorld.graph)
    let query = EntityQuery(type: RelatedWorld.films, filter: filter)
    for viewer in [Viewer.anonymous, Viewer(layers: [.user("u"), .public])] {
      let page = try await fixture.store.page(query, viewer: viewer)
      #expect(page.items.map(\.key.key) == ["f"])
    }
  }

  /// Nests openings, with `year = 3` at the innermost level.
  private static func nested(_ depth: Int, _ beginning: (Int) -> String) -> String {
    let begun = (0..<depth).map(beginning).joined() + "year = 3"
    let open = begun.count { $0 == "(" }
    return begun + String(repeating: ")", count: open)
  }

  /// A binary tree of alternating ANDs and ORs with the given number of leaves.
  private static func balanced(_ leaves: Int, isOr: Bool = true) -> String {
    if leaves == 1 { return "year = 3" }
    let half = balanced(leaves / 2, isOr: !isOr)
    return "(\(half)) \(isOr ? "OR" : "AND") (\(half))"
  }
}
