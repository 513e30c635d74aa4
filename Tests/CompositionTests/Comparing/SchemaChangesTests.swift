import Foundation
import GraphQL
import TestSupport
import Testing

@testable import Composition

struct SchemaChangesTests {
  private static let base = """
    type Query { film(id: ID!, day: Int = 1): Film  old: Int }
    type Film implements Node { id: ID!  title: String }
    interface Node { id: ID! }
    enum Genre { DRAMA COMEDY }
    union Found = Film | Person
    type Person { id: ID! }
    input Filter { genre: Genre }
    """

  private static func changes(_ new: String) throws -> SchemaChanges {
    SchemaChanges(from: try Schema.build(sdl: base), to: try Schema.build(sdl: new))
  }

  @Test(
    "Each difference between schemas is named",
    arguments: [
      ("title: String", "title: String  year: Int", ["+ Film.year: Int"]),
      ("  title: String", "", ["- Film.title: String"]),
      ("title: String", "title: String!", ["~ Film.title: String is now String!"]),
      ("day: Int = 1", "day: Int = 2", ["~ Query.film(day:) has the default 2, which was 1"]),
      ("day: Int = 1", "day: Int", ["~ Query.film(day:) has the default none, which was 1"]),
      (", day: Int = 1", "", ["- Query.film(day:) Int"]),
      ("day: Int = 1", "day: Float = 1", ["~ Query.film(day:) Int is now Float"]),
      ("id: ID!, day", "id: ID!, at: ID!, day", ["+ Query.film(at:) ID!, required"]),
      ("COMEDY", "CRIME", ["- enum value Genre.COMEDY", "+ enum value Genre.CRIME"]),
      ("Film | Person", "Film", ["- member Person of union Found"]),
      ("genre: Genre", "genre: Genre!", ["~ Filter.genre: Genre is now Genre!"]),
      ("genre: Genre", "genre: Genre year: Int", ["+ Filter.year Int"]),
      (
        "type Person { id: ID! }",
        "interface Person { id: ID! }  type P implements Person { id: ID! }",
        ["~ Person: type is now interface", "+ type P"]
      ),
      (" implements Node", "", ["- interface Node of Film"]),
      (
        "old: Int", "old: Int @deprecated(reason: \"Use new.\")",
        ["~ Query.old is now deprecated: Use new."]
      ),
      ("old: Int", "old: Int @deprecated(reason: \"\")", ["~ Query.old is now deprecated"]),
      (
        "enum Genre", "type Mutation { a: Int } enum Genre",
        ["+ the mutation type Mutation", "+ type Mutation"]
      ),
      ("type Person", "\"\"\"Someone.\"\"\" type Person", []),
    ] as [(String, String, [String])])
  func namesDifferences(old: String, new: String, expected: [String]) throws {
    #expect(Self.base.contains(old))
    var sdl = Self.base.replacing(old, with: new)
    // A union has no interface as a member.
    if new.hasPrefix("interface Person") { sdl = sdl.replacing("Film | Person", with: "Film | P") }
    let lines = try Self.changes(sdl).all.map { "\($0.kind.rawValue) \($0.text)" }
      .filter { !$0.contains("union Found") || expected.contains($0) }
    #expect(lines == expected)
  }

  @Test("A removed type is one difference, and an unchanged schema has none")
  func countsTypes() throws {
    #expect(try Self.changes(Self.base).isEmpty)
    let without = try Self.changes(Self.base.replacing("input Filter { genre: Genre }", with: ""))
    #expect(without.all.map(\.text) == ["input Filter"])
    #expect(without.report == "- input Filter\n0 added, 1 removed, 0 changed")
  }

  @Test("A long report ends with how much is left, and no text of upstream breaks its lines")
  func boundsReports() throws {
    let many = (0..<300).map { "f\($0): Int" }.joined(separator: " ")
    let report = try Self.changes(Self.base.replacing("old: Int", with: "old: Int \(many)")).report
    #expect(report.split(separator: "\n").count == SchemaChanges.shownMax + 2)
    #expect(report.contains("… and 100 more"))
    let hostile = #"old: Int @deprecated(reason: "a\u001B[2J\nb")"#
    let other = try Self.changes(Self.base.replacing("old: Int", with: hostile)).report
    #expect(!other.contains("\u{1B}"))
    #expect(other.split(separator: "\n").count == 2)
  }

  @Test("Directives that only the file has are named")
  func namesLostDirectives() throws {
    let old = try Schema.build(
      [
        try Parser.parse(
          Source(
            name: "old",
            body:
              #"type Query { a: A @cost(of: 1) } type A @key(fields: "b") { b: ID! @deprecated }"#))
      ], tolerating: [.knownDirectives])
    let new = try Schema.build(sdl: "type Query { a: A } type A { b: ID! }")
    #expect(
      SchemaChanges(from: old, to: new).lostDirectives == [
        "@cost(of: 1) of Query.a", #"@key(fields: "b") of A"#,
      ])
  }
}

/// The schema file beside upstream's present schema.
struct SchemaFileComparisonTests {
  private static let present =
    "type Query {\n  film: Film\n}\n\ntype Film {\n  id: ID!\n  title: String\n}\n"

  private static func comparison(_ text: String?) throws -> SchemaFileComparison {
    let folder = try TestFolder("schema-file")
    defer { folder.remove() }
    let path = "\(folder.path)/schema.graphql"
    if let text { try Data(text.utf8).write(to: URL(filePath: path)) }
    return SchemaFileComparison(path: path, present: present)
  }

  @Test("A file with the same types is current, whatever its descriptions, order and directives")
  func isCurrent() throws {
    let same =
      "type Film @key(fields: \"id\") { title: String \"The id.\" id: ID! } type Query { film: Film }"
    let comparison = try Self.comparison(same)
    #expect(comparison.isCurrent)
    #expect(comparison.checkReport.hasSuffix("is up to date."))
    let lines = comparison.reportBeforeWriting
    #expect(lines.first == "no changes but in descriptions or order")
    #expect(lines.last?.contains(#"@key(fields: "id") of Film"#) == true)
    #expect(lines.last?.contains("types.<Type>.key") == true)
    #expect(try Self.comparison(Self.present).reportBeforeWriting == ["no changes"])
  }

  @Test(
    "A file that is missing, faulty or has other types is not current, and the report says what to do",
    arguments: [
      (nil, "does not exist"), ("type Query {", "cannot be compared"),
      ("type Query { film: Film } type Film { id: ID! }", "+ Film.title: String"),
      (
        "type Query { film: Film } type Film { id: ID! title: Int }",
        "~ Film.title: Int is now String"
      ),
    ] as [(String?, String)])
  func isNotCurrent(text: String?, part: String) throws {
    let comparison = try Self.comparison(text)
    #expect(!comparison.isCurrent)
    #expect(comparison.checkReport.contains(part), "\(comparison.checkReport)")
    #expect(comparison.checkReport.contains("larder schema pull"))
  }
}
