import Foundation
import Testing

@testable import Generation

/// Whole files, compared with those in Fixtures/films/expected.
struct GeneratedFilesTests {
  @Test("Files are as expected, and no others", arguments: TargetLanguage.allCases)
  func filesAreAsExpected(language: TargetLanguage) throws {
    let files = try Sample("films").files(language)
    let folder = "films/expected/\(language.rawValue)"
    let names = try FileManager.default.contentsOfDirectory(
      atPath: Sample.folder.appending(path: folder).path)
    // Not under their own names, so that no formatter takes them for sources.
    #expect(files.keys.map { "\($0).txt" }.sorted() == names.sorted())
    for (name, text) in files where names.contains("\(name).txt") {
      #expect(try text == Sample.text("\(folder)/\(name).txt"), "\(name)")
    }
  }

  @Test("The order of the files of operations does not matter", arguments: TargetLanguage.allCases)
  func orderDoesNotMatter(language: TargetLanguage) throws {
    let schema = try Sample.text("films/schema.graphql")
    let documents = try Sample.text("films/operations.graphql").split(separator: "\n\n")
      .map(String.init)
    let first = try Sample(schema: schema, operations: documents).files(language)
    #expect(documents.count == 4)
    let other = try Sample(schema: schema, operations: documents.reversed()).files(language)
    #expect(other == first)
  }

  @Test("Every file begins with the line of a generated file", arguments: TargetLanguage.allCases)
  func filesHaveAHeader(language: TargetLanguage) throws {
    for (name, text) in try Sample("words").files(language) {
      #expect(GeneratedFile.isGenerated(text, language), "\(name)")
      #expect(name.hasSuffix(language.suffix))
      #expect(text.hasSuffix("\n"))
      #expect(!text.split(separator: "\n").contains { $0.hasSuffix(" ") && $0 != " *" }, "\(name)")
    }
  }

  @Test("Words of a language are quoted, and members that cannot be are renamed")
  func wordsAreEscaped() throws {
    let sample = try Sample("words")
    let swift = try sample.files(.swift)
    let film = try #require(swift["Film.swift"])
    #expect(film.contains("public var `class`: String?"))
    #expect(film.contains("public var self_: String?"))
    #expect(film.contains(#"case self_ = "self""#))
    let kind = try #require(swift["Kind.swift"])
    #expect(kind.contains("case `default`\n"))
    #expect(kind.contains("case unknown_\n"))
    #expect(kind.contains("case longFeature\n"))
    let odd = try #require(swift["OddQuery.swift"])
    #expect(odd.contains("public var string: String_?"))
    let kotlin = try #require(try sample.files(.kotlin)["Film.kt"])
    #expect(kotlin.contains("@SerialName(\"class\")\n    val class_: String? = null"))
    #expect(kotlin.contains("val `object`: Boolean? = null"))
    #expect(
      kotlin.components(separatedBy: "*/").count - 1 == kotlin.components(separatedBy: "/**").count
        - 1)
  }

  @Test("A new optional field or variable keeps calls of the old initializers valid")
  func oldCallsStayValid() throws {
    let call = """
      let film = Film(id: "f1", title: "Cléo")
      let call = FilmQuery(id: "f1")
      let other: some GraphQLOperation = .film(id: "f1", withCast: .some(nil))
      let filter = FilmFilter(year: 1962)
      """
    let schema = try Sample.text("films/schema.graphql")
    let operations = try Sample.text("films/operations.graphql")
    let grown = try Sample(
      schema: schema.replacing("year: Int\n", with: "year: Int\n  country: String\n")
        .replacing("input FilmFilter { ", with: "input FilmFilter { country: String "),
      operations: [
        operations.replacing("    year\n", with: "    year\n    country\n")
          .replacing("$id: ID!, $withCast", with: "$id: ID!, $size: Int, $withCast")
          .replacing("cast(limit: 3)", with: "cast(limit: $size)")
      ])
    for sample in [try Sample(schema: schema, operations: [operations]), grown] {
      try SwiftCompilerTests.expectCompiles(sample.files(.swift), besides: call)
    }
    #expect(try grown.files(.swift)["FilmQuery.swift"]?.contains("size: Int?? = nil") == true)
  }
}
