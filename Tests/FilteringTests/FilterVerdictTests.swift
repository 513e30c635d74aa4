import Model
import Testing

@testable import Filtering

/// Filters that are judged without the database.
struct FilterVerdictTests {
  private static let values: [String: FilterValue] = [
    "year": .integer(1979), "title": .text("Alien"), "rating": .real(8.5), "seen": .integer(1),
    "hidden": .integer(0), "director": .null, "large": .integer(9_007_199_254_740_993),
  ]

  private static func verdict(_ condition: FilterCondition) -> FilterVerdict {
    Filter(condition: condition).verdict { values[$0] }
  }

  private static func year(_ comparison: FilterComparison, _ value: Int64) -> FilterCondition {
    .comparison(column: "year", comparison, .integer(value))
  }

  @Test("Comparisons of the same kind of values are judged as SQLite does")
  func judgesComparisons() {
    let table: [(FilterComparison, below: Bool, equal: Bool, above: Bool)] = [
      (.equal, false, true, false), (.notEqual, true, false, true), (.less, false, false, true),
      (.lessOrEqual, false, true, true), (.greater, true, false, false),
      (.greaterOrEqual, true, true, false),
    ]
    for (comparison, below, equal, above) in table {
      #expect(Self.verdict(Self.year(comparison, 1978)) == (below ? .met : .unmet))
      #expect(Self.verdict(Self.year(comparison, 1979)) == (equal ? .met : .unmet))
      #expect(Self.verdict(Self.year(comparison, 1980)) == (above ? .met : .unmet))
    }
    #expect(Self.verdict(.comparison(column: "title", .greater, .text("Alie"))) == .met)
    #expect(Self.verdict(.comparison(column: "title", .equal, .text("alien"))) == .unmet)
    #expect(Self.verdict(.comparison(column: "rating", .greater, .integer(8))) == .met)
    #expect(Self.verdict(.comparison(column: "year", .less, .real(1979.5))) == .met)
  }

  @Test("NULL is neither met nor, negated, met")
  func judgesNull() {
    let isLang = FilterCondition.comparison(column: "director", .equal, .text("lang"))
    #expect(Self.verdict(isLang) == .unmet)
    #expect(Self.verdict(.not(isLang)) == .unmet)
    #expect(Self.verdict(.or(isLang, Self.year(.equal, 1979))) == .met)
    #expect(Self.verdict(.and(.not(isLang), Self.year(.equal, 1979))) == .unmet)
    #expect(Self.verdict(.oneOf(column: "year", [.integer(1), .null])) == .unmet)
    #expect(Self.verdict(.not(.oneOf(column: "year", [.integer(1), .null]))) == .unmet)
    #expect(Self.verdict(.not(.oneOf(column: "year", [.integer(1)]))) == .met)
  }

  @Test("A column that is NULL does not tell null from missing, and one with a value is neither")
  func judgesStates() {
    for state in [FilterCondition.isNull(column: "director"), .isMissing(column: "director")] {
      #expect(Self.verdict(state) == .unknown)
      #expect(Self.verdict(.not(state)) == .unknown)
    }
    for state in [FilterCondition.isNull(column: "year"), .isMissing(column: "year")] {
      #expect(Self.verdict(state) == .unmet)
      #expect(Self.verdict(.not(state)) == .met)
    }
    let list = EntityPath(field: "year", isList: true)
    #expect(Self.verdict(.isNull(column: list)) == .unknown)
  }

  @Test("What only the database can tell is unknown, unless the rest decides")
  func leavesTheRestToTheDatabase() {
    let like = FilterCondition.like(column: "title", pattern: "A%", escape: nil)
    #expect(Self.verdict(like) == .unknown)
    #expect(Self.verdict(.not(like)) == .unknown)
    #expect(Self.verdict(.columns("year", .less, "large")) == .unknown)
    let title = EntityPath(field: "title")
    let text = FilterValue.text("alien")
    #expect(Self.verdict(.comparison(column: .lower(title), .equal, text)) == .unknown)
    #expect(Self.verdict(.holds(column: "title", TextMatch(.contains, .none, "lie"))) == .unknown)
    let maker = EntityPath.Hop(field: "maker", target: "Person")
    let path = FilterOperand.field(EntityPath(hops: [maker], field: "title"))
    #expect(Self.verdict(.comparison(column: path, .equal, .text("Alien"))) == .unknown)
    let cast = MemberPath(field: "cast", target: "Person")
    #expect(Self.verdict(.any(cast, Self.year(.equal, 1979))) == .unknown)
    #expect(Self.verdict(.comparison(column: "none", .equal, .integer(1))) == .unknown)
    #expect(Self.verdict(.comparison(column: "title", .equal, .integer(1))) == .unknown)
    #expect(
      Self.verdict(.comparison(column: "large", .equal, .real(9_007_199_254_740_992))) == .unknown)
    #expect(Self.verdict(.truth(column: "title")) == .unknown)
    #expect(Self.verdict(.and(like, Self.year(.less, 1900))) == .unmet)
    #expect(Self.verdict(.and(Self.year(.less, 1900), like)) == .unmet)
    #expect(Self.verdict(.or(like, Self.year(.greater, 1900))) == .met)
    #expect(Self.verdict(.and(like, Self.year(.greater, 1900))) == .unknown)
    #expect(Self.verdict(.or(like, Self.year(.less, 1900))) == .unknown)
  }

  @Test("Booleans, lists and ranges are judged")
  func judgesOtherConditions() {
    #expect(Self.verdict(.truth(column: "seen")) == .met)
    #expect(Self.verdict(.truth(column: "hidden")) == .unmet)
    #expect(Self.verdict(.not(.truth(column: "hidden"))) == .met)
    #expect(Self.verdict(.oneOf(column: "year", [.integer(1), .integer(1979)])) == .met)
    #expect(Self.verdict(.between(column: "year", .integer(1979), .integer(1980))) == .met)
    #expect(Self.verdict(.between(column: "year", .integer(1980), .integer(1990))) == .unmet)
  }
}
