import Foundation
import TestSupport
import Testing

@testable import Generation

/// The part of the Swift client that generated code needs, as a module of its own: the client itself needs
/// GRDB. It is built once a run.
private enum SwiftLibrary {
  /// The folder of the module and of its library.
  static let folder = Result { try build() }

  private static func build() throws -> String {
    let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../Clients/Swift/Sources/Larder"
    ).standardizedFileURL.path
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(sources)/JSON")
      .filter { $0.hasSuffix(".swift") }.sorted()
    let files =
      names.map { "\(sources)/JSON/\($0)" }
      + ["LarderError", "Queries/Entity", "Queries/EntityLookup"].map { "\(sources)/\($0).swift" }
    let folder = try TestFolder.untilExit("swift-library")
    let (status, output) = try Checker.run(
      [
        "swiftc", "-swift-version", "6", "-parse-as-library", "-module-name", "Larder",
        "-enable-upcoming-feature", "ExistentialAny",
        "-enable-upcoming-feature", "InternalImportsByDefault",
        "-emit-module", "-emit-library", "-static",
        "-emit-module-path", "Larder.swiftmodule", "-o", "libLarder.a",
      ] + files, in: folder)
    guard status == 0 else { throw Failure(output: output) }
    return folder.path
  }

  /// The client's files do not compile.
  struct Failure: Error {
    let output: String
  }
}

/// Generated Swift, with the sources of the Swift client.
struct SwiftCompilerTests {
  /// Type-checks the files as a module that imports the library.
  static func expectCompiles(_ files: [String: String], besides call: String? = nil) throws {
    var all = files
    all["Calls.swift"] = call.map { body in
      let lines =
        body.split(separator: "\n").map { "  \($0)" } + ["  _ = (film, call, other, filter)"]
      return "import Larder\n\nfunc calls() {\n\(lines.joined(separator: "\n"))\n}\n"
    }
    let script = #"swiftc -swift-version 6 -parse-as-library -typecheck -I "$0" *.swift"#
    let (status, output) = try Checker.run(
      ["bash", "-c", script, SwiftLibrary.folder.get()], files: all)
    #expect(status == 0, "\(output)")
    #expect(!output.contains("warning:"), "\(output)")
  }

  /// Builds the files with a program, and returns what that prints.
  static func output(of program: String, with files: [String: String]) throws -> String {
    var all = files
    all["main.swift"] = "import Foundation\nimport Larder\n\n" + program
    let script = """
      set -e
      swiftc -swift-version 6 -I "$0" -L "$0" -lLarder -o program *.swift
      ./program
      """
    let (status, output) = try Checker.run(
      ["bash", "-c", script, SwiftLibrary.folder.get()], files: all)
    #expect(status == 0, "\(output)")
    return output
  }

  @Test("Generated Swift keeps unknown values, and sends null only if it is given")
  func readsAndWrites() throws {
    let program = #"""
      let text = """
        {"search": [{"__typename": "Film", "id": "f1", "title": "Cléo", "rating": {"average": 4.5}, "director": null},
          {"__typename": "Series"}]}
        """
      let response = try JSONDecoder().decode(SearchQuery.Response.self, from: Data(text.utf8))
      for item in response.search {
        switch item {
        case .film(let film): print(film.title, film.rating.average)
        case .other(let other): print(other.__typename)
        }
      }
      let film = try JSONDecoder().decode(Film.self, from: Data(#"{"id": "f1", "genre": "NOIR", "_rev": "1"}"#.utf8))
      print(film.genre == .unknown("NOIR"), film.title == nil, Genre(rawValue: "SCI_FI") == .sciFi)
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys]
      func show(_ value: some Encodable) throws { print(String(decoding: try encoder.encode(value), as: UTF8.self)) }
      try show(film)
      try show(FilmQuery(id: "f1").variables)
      try show(FilmQuery(id: "f1", withCast: .some(nil)).variables)
      try show(FilmFilter(not: FilmFilter(year: 1962), title: .some(nil)))
      print(Guest(family: "Varda", number: 7).id)
      """#
    let output = try Self.output(of: program, with: Sample("films").files(.swift))
    #expect(
      output == """
        Cléo 4.5
        Series
        true true true
        {"genre":"NOIR","id":"f1"}
        {"id":"f1"}
        {"id":"f1","withCast":null}
        {"not":{"year":1962},"title":null}
        5:Varda1:7

        """)
  }

  @Test("Generated Swift compiles", arguments: ["films", "words"])
  func compiles(sample: String) throws {
    try Self.expectCompiles(Sample(sample).files(.swift))
  }
}

/// Generated Kotlin, with the compiler and kotlinx.serialization of the package kotlin-jupyter-kernel.
@Suite(
  .enabled(
    if: PythonPeer.environment != nil
      && (try? Checker.run(["java", "-version"], files: [:]).status) == 0,
    "needs Java, and LARDER_TEST_VENV, a Python environment of Tests/requirements.txt"))
struct KotlinCompilerTests {
  private static let program = #"""
    import kotlinx.serialization.json.*
    import larder.*

    fun main() {
        val json = Json { ignoreUnknownKeys = true }
        val text = """{"search": [{"__typename": "Film", "id": "f1", "title": "A", "rating": {"average": 4.5},
            "director": null, "more": 1}, {"__typename": "Series"}]}"""
        for (item in json.decodeFromString(SearchQuery.response, text).search) {
            when (item) {
                is SearchQuery.Response.Search.Film -> println("${item.title} ${item.rating.average}")
                is SearchQuery.Response.Search.Other -> println(item.__typename)
            }
        }
        val film = json.decodeFromString(Film.serializer(), """{"id": "f1", "genre": "NOIR", "_rev": "1"}""")
        println(film.genre == Genre("NOIR"))
        println(json.encodeToString(FilmQuery.variables, FilmQuery.Variables(id = "f1")))
    }
    """#

  private static func output(_ sample: String, main: String?) async throws -> String {
    let folder = try TestFolder("kotlin")
    defer { folder.remove() }
    var files = try Sample(sample).files(.kotlin)
    files["Main.kt"] = main
    try Checker.write(files, to: folder)
    return try await PythonPeer.run("generate/kotlin.py", [folder.path])
  }

  @Test("Generated Kotlin compiles, keeps unknown values and leaves out what is null")
  func readsAndWrites() async throws {
    #expect(
      try await Self.output("films", main: Self.program) == """
        A 4.5
        Series
        true
        {"id":"f1"}

        """)
  }

  @Test("Generated Kotlin with words of the language compiles")
  func compilesWords() async throws {
    #expect(try await Self.output("words", main: nil) == "")
  }
}

/// Generated TypeScript and Kotlin, read by the parsers of tree-sitter.
@Suite(.enabled(if: PythonPeer.environment != nil, Comment(rawValue: PythonPeer.whyNot)))
struct ParserTests {
  @Test(
    "Generated code parses", arguments: ["films", "words"],
    [TargetLanguage.typescript, TargetLanguage.kotlin])
  func parses(sample: String, language: TargetLanguage) async throws {
    let folder = try TestFolder("parsing")
    defer { folder.remove() }
    let files = try Sample(sample).files(language)
    try Checker.write(files, to: folder)
    let output = try await PythonPeer.run(
      "generate/parse.py", [language.rawValue, folder.path])
    #expect(output == "\(files.count) files\n")
  }
}
