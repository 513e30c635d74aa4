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
