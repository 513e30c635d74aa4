import Model
import Testing

@testable import Filtering

/// Key paths, quantifiers, text matches and `now()`.
struct PathFilterTests {
  private static let film = EntityType(
    name: "Film", keyFields: ["id"],
    columns: [
      .init(name: "id", kind: .text), .init(name: "title", kind: .text),
      .init(name: "year", kind: .integer), .init(name: "maker", kind: .reference),
      .init(name: "any", kind: .text), .init(name: "added", kind: .text, dates: .iso8601),
    ],
    lists: [.init(name: "tags", kind: .text), .init(name: "scores", kind: .integer)])
  private static let person = EntityType(
    name: "Person", keyFields: ["id"],
    columns: [
      .init(name: "id", kind: .text), .init(name: "name", kind: .text),
      .init(name: "born", kind: .integer), .init(name: "mentor", kind: .reference),
      .init(name: "seen", kind: .boolean),
    ], lists: [.init(name: "tags", kind: .text)])
  private static let graph = EntityGraph(
    types: [film, person],
    relationships: [
      "Film": [
        "maker": .toOne("Person"), "cast": .toMany("Person"),
        "subject": .toOneOf(["Film", "Person", "Unknown"]),
      ],
      "Person": [
        "mentor": .toOne("Person"), "films": .linked(type: "Film", field: "maker"),
      ],
    ])
  private static let now = Timestamp(milliseconds: 1_700_000_000_000)

  private static func condition(_ text: String) throws -> FilterCondition {
    try Filter(text, arguments: .none, type: film, graph: graph, now: now).condition
  }

  private static func faults(_ text: String, graph: EntityGraph = graph) -> [String] {
    do {
      _ = try Filter(text, arguments: .none, type: film, graph: graph)
      return []
    } catch {
      return error.all.map {
        switch $0.place {
        case .position(let position): "\(position): \($0.message)"
        case .argument(let name): "\(name): \($0.message)"
        }
      }
    }
  }

  private static let maker = EntityPath.Hop(field: "maker", target: "Person")
  private static let mentor = EntityPath.Hop(field: "mentor", target: "Person")
  private static let cast = MemberPath(field: "cast", target: "Person")

  @Test("Paths, quantifiers and functions are parsed")
  func parses() throws {
    let name = EntityPath(hops: [Self.maker], field: "name")
    let cases: [(String, FilterCondition)] = [
      (
        "maker.name = 'Varda'",
        .comparison(column: .field(name), .equal, .text("Varda"))
      ),
      (
        #""maker"."name" = 'x'"#, .comparison(column: .field(name), .equal, .text("x"))
      ),
      (
        "maker.mentor.mentor.born > 1920",
        .comparison(
          column: .field(EntityPath(hops: [Self.maker, Self.mentor, Self.mentor], field: "born")),
          .greater, .integer(1920))
      ),
      ("ANY cast.seen", .any(Self.cast, .truth(column: "seen"))),
      ("NONE cast.name IS NULL", .not(.any(Self.cast, .isNull(column: "name")))),
      (
        "any cast.mentor.born IN (1, 2)",
        .any(
          Self.cast,
          .oneOf(
            column: .field(EntityPath(hops: [Self.mentor], field: "born")),
            [.integer(1), .integer(2)]))
      ),
      (
        "ANY maker.films.year = 1990",
        .any(
          MemberPath(hops: [Self.maker], field: "films", target: "Film", link: "maker"),
          .comparison(column: "year", .equal, .integer(1990)))
      ),
      ("cast.count > 3", .comparison(column: .count(Self.cast), .greater, .integer(3))),
      ("cast IS MISSING", .isMissing(column: EntityPath(field: "cast", isList: true))),
      ("year IS NOT MISSING", .not(.isMissing(column: "year"))),
      ("any CONTAINS 'x'", .holds(column: "any", TextMatch(.contains, .none, "x"))),
      ("any = 'x'", .comparison(column: "any", .equal, .text("x"))),
      (
        "title NOT BEGINSWITH[cd] '\u{C9}t'",
        .not(.holds(column: "title", TextMatch(.beginsWith, .ignoringMarks, "et")))
      ),
      (
        "title endswith [C] 'X'", .holds(column: "title", TextMatch(.endsWith, .ignoringCase, "x"))
      ),
      ("lower(title) = 'x'", .comparison(column: .lower("title"), .equal, .text("x"))),
      ("5 < length(title)", .comparison(column: .length("title"), .greater, .integer(5))),
      (
        "added > now() - 7d + 12h",
        .comparison(column: "added", .greater, .text("2023-11-08T10:13:20.000000000Z"))
      ),
      (
        "title < now()", .comparison(column: "title", .less, .text("2023-11-14T22:13:20.000Z"))
      ),
    ]
    for (text, condition) in cases { #expect(try Self.condition(text) == condition, "\(text)") }
  }

  @Test(
    "A fault of a path is reported with its position",
    arguments: [
      ("maker.age = 1", "1: Person has no column age; it has id, name, born, mentor, seen, tags"),
      ("boss.name = 'x'", "1: Film has no relationship boss; it has cast, maker, subject"),
      ("title.name = 'x'", "1: Film has no relationship title; it has cast, maker, subject"),
      (
        "cast.name = 'x'",
        "1: cast.name leads to many entities: write ANY or NONE before a field of theirs, or "
          + ".count for their number"
      ),
      (
        "ANY maker.name = 'x'",
        "5: ANY and NONE need a path through a to-many relationship, such as cast.name, or to a list "
          + "of values; maker.name is none"
      ),
      (
        "tags = 'noir'",
        "1: tags is about a list of values: write ANY or NONE before the list, or .count after it for "
          + "their number"
      ),
      ("ANY tags.name = 'x'", "5: tags of Film is a list of values, which have no fields"),
      ("ANY scores = 'x'", "14: the value is not a whole number"),
      ("ANY scores CONTAINS '1'", "5: scores holds a whole number: CONTAINS needs a text column"),
      (
        "ANY cast.tags = 'x'",
        "5: tags is about a list of values: write ANY or NONE before the list, or .count after it for "
          + "their number"
      ),
      (
        "subject.colour = 'x'",
        "1: none of the types of subject of Film has colour: it leads to Film, Person"
      ),
      (
        "maker.mentor.mentor.mentor.name = 'x'",
        "1: maker.mentor.mentor.mentor.name has more than 3 relationships"
      ),
      ("maker. = 'x'", "6: a name is missing after the full stop"),
      ("maker.films IS NULL", "1: maker.films is never null or missing"),
      ("year CONTAINS '1'", "1: year holds a whole number: CONTAINS needs a text column"),
      ("lower(year) = 'x'", "1: lower(year) holds a whole number: lower() needs a text column"),
      ("upper(title) = 'x'", "1: there is no function upper: there are lower, length and now"),
      (
        "title CONTAINS[x] 'a'",
        "15: expected [c], which ignores case, or [cd], which ignores diacritics too"
      ),
      (
        "year = now()",
        "8: now() cannot be used here: time passes without a change; write the time itself"
      ),
      (
        "added > now() - 7",
        "17: a duration such as 7d, 12h, 30m or 45s is missing after -"
      ),
      ("title IS", "9: NULL or MISSING is missing"),
    ])
  func reportsFaults(text: String, fault: String) {
    #expect(Self.faults(text) == [fault])
  }

  @Test("Lists of scalars are asked for their values, their number, and whether they are known")
  func parsesLists() throws {
    let tags = ScalarsPath(field: "tags", kind: .text)
    let makers = ScalarsPath(hops: [Self.maker], field: "tags", kind: .text)
    let scores = ScalarsPath(field: "scores", kind: .integer)
    let cases: [(String, FilterCondition)] = [
      ("ANY tags = 'noir'", .anyScalar(tags, .comparison(column: "tags", .equal, .text("noir")))),
      (
        "NONE scores > 3",
        .not(.anyScalar(scores, .comparison(column: "scores", .greater, .integer(3))))
      ),
      (
        "ANY lower(maker.tags) IN ('a', 'b')",
        .anyScalar(makers, .oneOf(column: .lower("tags"), [.text("a"), .text("b")]))
      ),
      ("tags.count > 2", .comparison(column: .scalarCount(tags), .greater, .integer(2))),
      ("maker.tags.count = 0", .comparison(column: .scalarCount(makers), .equal, .integer(0))),
      ("tags IS NULL", .isNull(column: tags.path)),
      ("maker.tags IS NOT MISSING", .not(.isMissing(column: makers.path))),
    ]
    for (text, expected) in cases {
      let condition = try Self.condition(text)
      #expect(condition == expected, "\(text)")
      #expect(condition.isOwn == !text.contains("maker"), "\(text)")
      #expect(condition.reachedTypes == (text.contains("maker") ? ["Person"] : []), "\(text)")
    }
    #expect(throws: EntityOrderFaults.self) { try EntityOrder("tags", type: Self.film) }
  }

  @Test("A time that columns cannot hold, and one too far away, are refused")
  func refusesTimes() {
    for text in ["year > now()", "added > now() - 999999999d"] {
      #expect(throws: FilterFaults.self) { try Self.condition(text) }
    }
  }

  @Test("The relationships and members of one filter are limited")
  func limitsPaths() throws {
    var relationships: [String: EntityGraph.Relationship] = ["cast": .toMany("Person")]
    for number in 0..<10 { relationships["to\(number)"] = .toOne("Person") }
    let graph = EntityGraph(
      types: [Self.film, Self.person], relationships: ["Film": relationships])
    let paths = (0..<10).map { "to\($0).born = 1" }
    #expect(Self.faults(paths.prefix(8).joined(separator: " OR "), graph: graph).isEmpty)
    #expect(
      Self.faults(paths.joined(separator: " OR "), graph: graph)
        == ["129: the filter follows more than 8 relationships"])
    let members = Array(repeating: "ANY cast.born = 1", count: 17)
    #expect(Self.faults(members.dropLast().joined(separator: " OR "), graph: graph).isEmpty)
    #expect(
      Self.faults(members.joined(separator: " OR "), graph: graph).first?.hasSuffix(
        "more than 16 predicates about to-many relationships and lists") == true)
    #expect(throws: EntityOrderFaults.self) {
      try EntityOrder(
        (0..<9).map { "to\($0).born" }.prefix(8).joined(separator: ",") + ",to8.born",
        type: Self.film, graph: graph)
    }
  }

  @Test("The types that a filter or an order reaches are known, for the right to read them")
  func knowsReachedTypes() throws {
    let texts = [
      "title = 'x'": [], "maker.name = 'x'": ["Person"], "ANY cast.name = 'x'": ["Person"],
      "NOT (year = 1 OR maker.films.count = 0)": ["Film", "Person"],
      "maker.name IS MISSING": ["Person"],
    ]
    for (text, types) in texts {
      let filter = try Filter(
        text, arguments: .none, type: Self.film, graph: Self.graph, now: Self.now)
      #expect(filter.reachedTypes.sorted() == types, "\(text)")
      #expect(filter.condition.isOwn == types.isEmpty, "\(text)")
    }
    var query = EntityQuery(type: Self.film)
    query.order = try EntityOrder("-maker.name,year", type: Self.film, graph: Self.graph)
    #expect(query.reachedTypes == ["Person"])
    #expect(query.order.terms.map(\.column) == ["maker.name", "year"])
    for faulty in ["cast.name", "cast", "maker.age", "maker.name,-maker.name", "maker..name"] {
      #expect(throws: EntityOrderFaults.self) {
        try EntityOrder(faulty, type: Self.film, graph: Self.graph)
      }
    }
  }

  @Test(
    "Entries of an index are columns or paths, with a form",
    arguments: [
      ("year", ["year"], nil), ("maker.lastName", ["maker", "lastName"], nil),
      ("title[cd]", ["title"], EntityType.TextIndex.Form.withoutMarks),
      ("maker.name[c]", ["maker", "name"], .withoutCase), ("lower(title)", ["title"], .lower),
    ])
  func readsIndexes(text: String, names: [String], form: EntityType.TextIndex.Form?) throws {
    let declaration = try #require(IndexDeclaration(text))
    #expect(declaration.names == names)
    #expect(declaration.form == form)
  }

  @Test(
    "Anything else is no entry of an index",
    arguments: [
      "", "a b", "title[x]", "lower(title", "a..b", ".a", "1a", "a.b.c.d.e", "a\"", "length(a)",
    ])
  func refusesIndexes(_ text: String) {
    #expect(IndexDeclaration(text) == nil)
  }
}
