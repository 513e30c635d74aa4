import Model
import Testing

@testable import Filtering

/// Key paths through relationships to unions and interfaces.
struct MixedPathFilterTests {
  private static func type(
    _ name: String, _ columns: [(String, EntityType.Column.Kind)]
  ) -> EntityType {
    EntityType(
      name: name, keyFields: ["id"],
      columns: ([("id", .text)] + columns).map { EntityType.Column(name: $0.0, kind: $0.1) })
  }

  private static let review = type("Review", [("stars", .integer), ("subject", .reference)])
  private static let film = type(
    "Film", [("title", .text), ("year", .integer), ("maker", .reference)])
  private static let series = type("Series", [("title", .text), ("seasons", .integer)])
  private static let person = type("Person", [("name", .text)])
  private static let graph = EntityGraph(
    types: [review, film, series, person],
    relationships: [
      "Review": [
        "subject": .toOneOf(["Film", "Series", "Person"]),
        "links": .toManyOf(["Film", "Series", "Person"]), "nothing": .toOneOf(["Gone"]),
      ],
      "Film": ["maker": .toOne("Person"), "reviews": .linked(type: "Review", field: "subject")],
    ])

  private static func condition(_ text: String) throws -> FilterCondition {
    try Filter(text, arguments: .none, type: review, graph: graph).condition
  }

  private static func path(_ type: String, _ field: String) -> EntityPath {
    EntityPath(
      hops: [.init(field: "subject", target: type, isNarrowed: true)], field: field)
  }

  private static func links(_ type: String) -> MemberPath {
    MemberPath(field: "links", target: type, isNarrowed: true)
  }

  @Test("A path stands for one path for each type that has the field")
  func alternatives() throws {
    let titles = ["Film", "Series"].map { Self.path($0, "title") }
    let cases: [(String, FilterCondition)] = [
      (
        "subject.title = 'x'",
        .firstKnown(titles.map { .comparison(column: .field($0), .equal, .text("x")) })
      ),
      (
        "subject.year > 1990",
        .comparison(column: .field(Self.path("Film", "year")), .greater, .integer(1990))
      ),
      ("subject.title IS NULL", .firstKnown(titles.map { .isNull(column: $0) })),
      (
        "subject.title IS MISSING",
        .and(.isMissing(column: titles[0]), .isMissing(column: titles[1]))
      ),
      (
        "lower(subject.title) IN ('a')",
        .firstKnown(titles.map { .oneOf(column: .lower($0), [.text("a")]) })
      ),
      (
        "subject.maker.name = 'x'",
        .comparison(
          column: .field(
            EntityPath(
              hops: [
                .init(field: "subject", target: "Film", isNarrowed: true),
                .init(field: "maker", target: "Person"),
              ], field: "name")), .equal, .text("x"))
      ),
      (
        "ANY links.title = 'x'",
        .or(
          .any(Self.links("Film"), .comparison(column: "title", .equal, .text("x"))),
          .any(Self.links("Series"), .comparison(column: "title", .equal, .text("x"))))
      ),
      (
        "NONE links.year = 1",
        .not(.any(Self.links("Film"), .comparison(column: "year", .equal, .integer(1))))
      ),
      (
        "links.count = 2",
        .comparison(
          column: .total(["Film", "Series", "Person"].map(Self.links)), .equal, .integer(2))
      ),
      ("links IS NULL", .isNull(column: EntityPath(field: "links", isList: true))),
    ]
    for (text, expected) in cases { #expect(try Self.condition(text) == expected, "\(text)") }
    #expect(try Self.condition("subject.title = 'x'").reachedTypes == ["Film", "Series"])
    #expect(try Self.condition("ANY links.name = 'x'").reachedTypes == ["Person"])
    #expect(try !Self.condition("links.count = 0").isOwn)
  }

  @Test("An order takes the field of whichever type the entity has")
  func order() throws {
    let order = try EntityOrder("-subject.title", type: Self.review, graph: Self.graph)
    #expect(order.terms.first?.paths == ["Film", "Series"].map { Self.path($0, "title") })
    #expect(order.terms.first?.column == "subject.title")
    #expect(order.reachedTypes == ["Film", "Series"])
    #expect(throws: EntityOrderFaults.self) {
      try EntityOrder("links.title", type: Self.review, graph: Self.graph)
    }
  }

  @Test(
    "A field that no type has, and a value of no type's field, are faults named once",
    arguments: [
      (
        "subject.colour = 'x'",
        "none of the types of subject of Review has colour: it leads to Film, Series, Person"
      ),
      (
        "ANY links.colour = 'x'",
        "none of the types of links of Review has colour: it leads to Film, Series, Person"
      ),
      ("nothing.title = 'x'", "nothing of Review leads to no type that is stored"),
      ("subject.year = 'x'", "the value is not a whole number"),
      ("subject.title = NULL", "nothing equals NULL: write IS NULL"),
    ])
  func faults(text: String, message: String) {
    #expect(throws: FilterFaults.self) { try Self.condition(text) }
    do {
      _ = try Self.condition(text)
    } catch let faults as FilterFaults {
      #expect(faults.all.map(\.message) == [message], "\(text)")
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test("A path through too many types is refused")
  func limitsTypes() throws {
    let names = (0..<17).map { "T\($0)" }
    let types = names.map { Self.type($0, [("name", .text)]) }
    let graph = EntityGraph(
      types: [Self.review] + types,
      relationships: ["Review": ["links": .toManyOf(names), "subject": .toOneOf(names)]])
    for text in ["ANY links.name = 'x'", "subject.name = 'x'"] {
      #expect(throws: FilterFaults.self) {
        try Filter(text, arguments: .none, type: Self.review, graph: graph)
      }
    }
  }

  @Test("Two filters that differ by now() can disagree only on values between the two times")
  func difference() throws {
    func filter(_ text: String, _ milliseconds: Int64) throws -> FilterCondition {
      try Filter(
        text, arguments: .none, type: Self.review, graph: Self.graph,
        now: Timestamp(milliseconds: milliseconds)
      ).condition
    }
    let (low, high) = (
      FilterValue.text("1970-01-01T00:00:00.000Z"), FilterValue.text("1970-01-01T00:00:01.000Z")
    )
    let spans = ["Film", "Series"].map {
      FilterCondition.between(column: .field(Self.path($0, "title")), low, high)
    }
    let cases: [(String, FilterCondition?)] = [
      ("stars = 1", nil), ("id < 'x' OR NOT stars IN (1, 2)", nil),
      ("id < now()", .between(column: "id", low, high)),
      ("NOT (stars = 1 AND id >= now())", .between(column: "id", low, high)),
      ("id BETWEEN 'a' AND now()", .between(column: "id", low, high)),
      ("id IN ('a', now())", .between(column: "id", low, high)),
      ("subject.title > now()", .or(spans[0], spans[1])),
      ("ANY links.name > now()", .any(Self.links("Person"), .between(column: "name", low, high))),
    ]
    for (text, expected) in cases {
      let (earlier, later) = (try filter(text, 0), try filter(text, 1_000))
      #expect(later.difference(from: earlier) == expected, "\(text)")
      #expect(earlier.difference(from: later) == expected, "\(text)")
    }
  }
}
