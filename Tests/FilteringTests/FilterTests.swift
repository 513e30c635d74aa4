import LosslessJSON
import Model
import Testing

@testable import Filtering

struct FilterTests {
  private static let film = EntityType(
    name: "Film", keyFields: ["id"],
    columns: [
      .init(name: "id", kind: .text), .init(name: "title", kind: .text),
      .init(name: "year", kind: .integer), .init(name: "rating", kind: .real),
      .init(name: "seen", kind: .boolean), .init(name: "director", kind: .reference),
      .init(name: "like", kind: .integer),
    ])

  private static func filter(
    _ text: String, _ arguments: FilterArguments = .none
  ) throws -> FilterCondition {
    try Filter(text, arguments: arguments, type: film).condition
  }

  private static func faults(_ text: String, _ arguments: FilterArguments = .none) -> [String] {
    do {
      _ = try Filter(text, arguments: arguments, type: film)
      return []
    } catch {
      return error.all.map { fault in
        switch fault.place {
        case .position(let position): "\(position): \(fault.message)"
        case .argument(let name): "\(name): \(fault.message)"
        }
      }
    }
  }

  @Test("NOT binds tighter than AND, and AND tighter than OR")
  func operatorPrecedence() throws {
    let a = FilterCondition.comparison(column: "year", .equal, .integer(1))
    let b = FilterCondition.truth(column: "seen")
    let c = FilterCondition.isNull(column: "title")
    #expect(
      try Self.filter("year = 1 OR NOT seen AND title IS NULL") == .or(a, .and(.not(b), c)))
    #expect(
      try Self.filter("(year==1 or seen) and title is not null") == .and(.or(a, b), .not(c)))
  }

  @Test(
    "Predicates are parsed",
    arguments: [
      ("1990 <= year", FilterCondition.comparison(column: "year", .greaterOrEqual, .integer(1990))),
      ("year <> -3", .comparison(column: "year", .notEqual, .integer(-3))),
      ("year < '12'", .comparison(column: "year", .less, .integer(12))),
      ("year > 1.5e1", .comparison(column: "year", .greater, .real(15))),
      ("year = 9223372036854775808", .comparison(column: "year", .equal, .real(0x1p63))),
      ("id = 9", .comparison(column: "id", .equal, .text("9"))),
      ("title = 'It''s'", .comparison(column: "title", .equal, .text("It's"))),
      ("seen = TRUE", .comparison(column: "seen", .equal, .integer(1))),
      (#""like" = 2"#, .comparison(column: "like", .equal, .integer(2))),
      ("director IN ('p1', 'p2')", .oneOf(column: "director", [.text("p1"), .text("p2")])),
      ("year NOT BETWEEN 1 AND 2", .not(.between(column: "year", .integer(1), .integer(2)))),
      ("title LIKE 'a!%%' ESCAPE '!'", .like(column: "title", pattern: "a!%%", escape: "!")),
      ("rating >= year", .columns("rating", .greaterOrEqual, "year")),
    ])
  func parsesPredicates(text: String, condition: FilterCondition) throws {
    #expect(try Self.filter(text) == condition)
  }

  @Test("Arguments are substituted")
  func substitutesArguments() throws {
    let arguments = FilterArguments(positional: ["A%", "1"], named: ["min": "1990"])
    #expect(
      try Self.filter("year >= :min AND title LIKE ? AND seen = ?", arguments)
        == .and(
          .and(
            .comparison(column: "year", .greaterOrEqual, .integer(1990)),
            .like(column: "title", pattern: "A%", escape: nil)),
          .comparison(column: "seen", .equal, .integer(1))))
  }

  @Test(
    "A fault is reported with its position",
    arguments: [
      ("", "1: a value is missing"),
      ("year", "1: year is not a Boolean column: compare it with a value"),
      ("year =", "7: a value is missing"),
      ("year = 1 seen", "10: expected AND, OR or the end of the filter"),
      ("(year = 1", "10: a closing parenthesis is missing"),
      ("title = 'abc", "9: this ' is never closed"),
      ("year = 12x", "8: this is not a number"),
      ("year ! 1", "6: ! is not a comparison operator"),
      ("year; DROP TABLE film", "5: unexpected character ;"),
      ("year = NULL", "8: nothing equals NULL: write IS NULL"),
      ("year = 'soon'", "8: the value is not a whole number"),
      ("seen = 2", "8: the value is not true or false"),
      ("year LIKE '19%'", "1: year holds a whole number: LIKE needs a text column"),
      ("title = year", "9: year holds a whole number, title a string"),
      ("1 = 2", "5: a column is missing"),
      ("title LIKE 'a' ESCAPE 'xy'", "23: the escape must be one character"),
      ("year = ?", "arg: the ? at position 8 has no argument"),
      ("year = :min", "arg.min: has no value"),
    ])
  func reportsFaultPosition(text: String, fault: String) {
    #expect(Self.faults(text) == [fault])
  }

  @Test("All semantic faults are reported at once")
  func reportsAllSemanticFaults() {
    let arguments = FilterArguments(positional: ["x", "y"], named: ["max": "1"])
    #expect(
      Self.faults("age > 3 AND year < ? OR nobody IS NULL", arguments) == [
        "1: Film has no column age; it has id, title, year, rating, seen, director, like",
        "arg: is not a whole number",
        "25: Film has no column nobody; it has id, title, year, rating, seen, director, like",
        "arg: the filter has 1 parameter ?, but 2 arguments are given",
        "arg.max: the filter has no parameter :max",
      ])
  }

  @Test("Depth and size are limited")
  func limitsDepthAndSize() {
    let deep = String(repeating: "(", count: 40) + "seen" + String(repeating: ")", count: 40)
    #expect(Self.faults(deep) == ["33: parentheses and NOTs are nested more than 32 deep"])
    let quantified = String(repeating: "NOT ", count: 24) + "ANY cast.name = 'x'"
    #expect(
      Self.faults(quantified) == [
        "97: ANY is in parentheses and NOTs that are nested more than 24 deep"
      ])
    let wide = (0..<300).map { _ in "seen" }.joined(separator: " OR ")
    #expect(Self.faults(wide).first?.hasSuffix("more than 200 predicates") == true)
    let list = "year IN (" + (0...1000).map(String.init).joined(separator: ",") + ")"
    #expect(Self.faults(list).first?.hasSuffix("more than 1000 values") == true)
    #expect(Self.faults(String(repeating: " ", count: 9000)).count == 1)
  }

  @Test("Arguments count towards the size of a filter, and the length of patterns is limited")
  func boundsArguments() throws {
    let long = String(repeating: "a", count: 1001)
    #expect(
      Self.faults("title LIKE '\(long)'")
        == ["12: the pattern has 1001 characters, at most 1000 are allowed"])
    #expect {
      try Filter("title LIKE ?", arguments: .init(positional: [long]), type: Self.film)
    } throws: { error in
      (error as? FilterFaults)?.all.first?.message.hasPrefix("the pattern has 1001") == true
    }
    let large = String(repeating: "a", count: 9000)
    for arguments in [
      FilterArguments(positional: [large]), FilterArguments(named: ["p": large]),
    ] {
      let text = arguments.named.isEmpty ? "title = ?" : "title = :p"
      #expect {
        try Filter(text, arguments: arguments, type: Self.film)
      } throws: { error in
        (error as? FilterFaults)?.all.first?.message
          == "the filter and its arguments have \(9000 + text.utf8.count) bytes, at most 8192 are "
          + "allowed"
      }
    }
  }

  @Test("A list of many numbers is parsed in linear time")
  func manyNumbers() {
    let many = String(repeating: "1,", count: 4_000)
    #expect(Self.faults("year IN (" + many + "1)").first?.contains("1000 values") == true)
    let long = String(repeating: "1", count: 500)
    #expect(Self.faults("year = " + long) == ["8: this is not a number"])
  }

  @Test("An order is parsed")
  func parsesAnOrder() throws {
    #expect(
      try EntityOrder("-year,title", type: Self.film).terms
        == [.init(column: "year", isDescending: true), .init(column: "title")])
    #expect(throws: EntityOrderFaults.self) { try EntityOrder("age", type: Self.film) }
    #expect(throws: EntityOrderFaults.self) { try EntityOrder("year,-year", type: Self.film) }
    #expect(throws: EntityOrderFaults.self) { try EntityOrder("", type: Self.film) }
  }

  @Test("Filters read dates in the format of the column")
  func filtersReadColumnFormat() throws {
    let type = EntityType(
      name: "Note", keyFields: ["id"],
      columns: [
        .init(name: "id", kind: .text), .init(name: "at", kind: .text, dates: .seconds),
        .init(name: "until", kind: .text, dates: .seconds),
      ])
    let arguments = FilterArguments(positional: ["1.5"])
    #expect(
      try Filter("at >= ?", arguments: arguments, type: type).condition
        == .comparison(column: "at", .greaterOrEqual, .text("1970-01-01T00:00:01.500000000Z")))
    #expect(
      try Filter("at < -1", arguments: .none, type: type).condition
        == .comparison(column: "at", .less, .text("1969-12-31T23:59:59.000000000Z")))
    #expect(throws: Never.self) { try Filter("at < until", arguments: .none, type: type) }
    for faulty in ["at = '2024-02-29'", "at LIKE '1%'", "at < id"] {
      #expect(throws: FilterFaults.self) { try Filter(faulty, arguments: .none, type: type) }
    }
  }

  @Test("Canonically equivalent texts are different values")
  func equivalentTextsDiffer() {
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    #expect(composed == decomposed)
    #expect(FilterValue.text(composed) != FilterValue.text(decomposed))
    #expect(Set([FilterValue.text(composed), .text(decomposed), .text(composed)]).count == 2)
  }
}
