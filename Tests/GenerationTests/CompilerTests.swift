import Foundation
import TestSupport
import Testing

@testable import Generation

/// Generated Swift, with what docs/generate.md asks of the library.
struct SwiftCompilerTests {
  /// Type-checks the library, then the files as a module that imports it.
  static func expectCompiles(_ files: [String: String], besides call: String? = nil) throws {
    var all = files
    all["Calls.swift"] = call.map { body in
      let lines =
        body.split(separator: "\n").map { "  \($0)" } + ["  _ = (film, call, other, filter)"]
      return "import Larder\n\nfunc calls() {\n\(lines.joined(separator: "\n"))\n}\n"
    }
    let library = Sample.folder.appending(path: "Larder.swift").path
    let script = """
      set -e
      mkdir library
      swiftc -swift-version 6 -parse-as-library -module-name Larder -emit-module \
        -emit-module-path library/Larder.swiftmodule "$0"
      swiftc -swift-version 6 -parse-as-library -typecheck -I library *.swift
      """
    let (status, output) = try Checker.run(["bash", "-c", script, library], files: all)
    #expect(status == 0, "\(output)")
    #expect(!output.contains("warning:"), "\(output)")
  }

  @Test("Generated Swift compiles", arguments: ["films", "words"])
  func compiles(sample: String) throws {
    try Self.expectCompiles(Sample(sample).files(.swift))
  }
}

/// Generated TypeScript and Kotlin, read by the parsers of tree-sitter.
@Suite(.enabled(if: PythonPeer.environment != nil, Comment(rawValue: PythonPeer.whyNot)))
struct ParserTests {
  @Test(
    "Generated code parses", arguments: ["films", "words"],
    [TargetLanguage.typescript, TargetLanguage.kotlin])
  func parses(sample: String, language: TargetLanguage) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "larder-parsing-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = try Sample(sample).files(language)
    for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
    let output = try await PythonPeer.run(
      "generate/parse.py", [language.rawValue, folder.path])
    #expect(output == "\(files.count) files\n")
  }
}
