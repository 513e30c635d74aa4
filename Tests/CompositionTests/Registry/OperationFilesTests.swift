import Foundation
import Testing
import Upstream

@testable import Composition

/// The files of the operations' folder that are no operations, and a folder without any.
struct OperationFilesTests {
  private static let schema = "type Query { version: String film: Film } type Film { id: ID! }"
  private static let query = "query A { version }"

  /// The messages of warnings by the file's path within the folder.
  private static func warnings(_ files: [String: String]) throws -> [String: String] {
    let folder = try OperationsFolder(schema: schema, operations: files)
    let workspace = try folder.open()
    let report = CheckReport(workspace)
    for warning in workspace.warnings {
      #expect(report.text.contains(warning.description))
      #expect(report.json().contains("\"warnings\":[{"))
    }
    return Dictionary(
      uniqueKeysWithValues: workspace.warnings.map {
        (String($0.path.dropFirst("\(folder.path)/".count)), $0.message)
      })
  }

  @Test(
    "A file that only looks like operations is a warning that names the ending",
    arguments: [
      ("b.gql", "b.graphql"), ("sub.gql/B.GQL", "B.graphql"), ("b.GraphQL", "b.graphql"),
      ("b.graphqls", "b.graphql"), ("a.b.gqls", "a.b.graphql"),
    ])
  func warnsOfOtherEndings(name: String, right: String) throws {
    let folder = try OperationsFolder(schema: Self.schema, operations: ["a.graphql": Self.query])
    try FileManager.default.createDirectory(
      atPath: "\(folder.path)/operations/sub.gql", withIntermediateDirectories: true)
    try folder.write("query B { version }", to: "operations/\(name)")
    let workspace = try folder.open()
    let warning = try #require(workspace.warnings.first { $0.path.hasSuffix("/\(name)") })
    #expect(warning.message.hasSuffix("rename it to \(right)"))
  }

  @Test("A folder with such an ending is no such file")
  func ignoresFolders() throws {
    let folder = try OperationsFolder(schema: Self.schema, operations: ["a.graphql": Self.query])
    try FileManager.default.createDirectory(
      atPath: "\(folder.path)/operations/sub.gql", withIntermediateDirectories: true)
    #expect(try folder.open().warnings == [])
  }

  @Test("Files of other kinds and hidden ones are no findings")
  func ignoresOthers() throws {
    #expect(
      try Self.warnings([
        "a.graphql": Self.query, "README.md": "x", "gql": "x", ".b.gql": "x", "c.json": "{}",
        "f.graphql": "fragment F on Film { id }",
      ]) == [:])
  }

  @Test(
    "A file without operations and fragments is a warning", arguments: ["", "# query B { a }\n"])
  func warnsOfEmptyFiles(text: String) throws {
    let warnings = try Self.warnings(["a.graphql": Self.query, "b.graphql": text])
    #expect(
      warnings == [
        "operations/b.graphql":
          "has neither an operation nor a fragment; write one, or delete the file"
      ])
  }

  @Test("Fragments alone serve nothing, which is a warning that leads to larder init")
  func warnsWithoutOperations() throws {
    let warnings = try Self.warnings(["f.graphql": "fragment F on Film { id }"])
    #expect(warnings["operations"]?.contains("`larder init URL`") == true)
    #expect(warnings.count == 1)
  }

  @Test(
    "An empty folder and a missing one are faults that lead to larder init",
    arguments: [true, false])
  func leadsToInit(exists: Bool) throws {
    let folder = try OperationsFolder(schema: Self.schema, operations: [:])
    if !exists { try FileManager.default.removeItem(atPath: "\(folder.path)/operations") }
    let failure = #expect(throws: StartFailure.self) { _ = try folder.open() }
    #expect(failure?.kind == .faultyOperations)
    #expect(failure?.faults.count == 1)
    #expect(failure?.faults.first?.message.contains("`larder init URL`") == true)
    #expect(failure?.description.hasSuffix("\n1 fault") == true)
  }

  @Test("If all files have another ending, the fault says so, and the files are named beside it")
  func namesMisnamedFiles() throws {
    let folder = try OperationsFolder(
      schema: Self.schema, operations: ["a.gql": Self.query, "b.gql": Self.query])
    let failure = try #require(throws: StartFailure.self) { _ = try folder.open() }
    #expect(failure.faults.map(\.message) == ["contains no *.graphql file; rename those below"])
    #expect(failure.warnings.map { $0.path.suffix(5) } == ["a.gql", "b.gql"])
    #expect(failure.description.contains("a.gql: warning: "))
    #expect(failure.description.hasSuffix("\n1 fault"))
    #expect(CheckReport.json(failure).contains("rename it to b.graphql"))
  }

  @Test("Two files with one route are both named")
  func namesBothRoutes() throws {
    let folder = try OperationsFolder(
      schema: Self.schema,
      operations: [
        "a.graphql": "query A @route(path: \"/v\") { version }",
        "b.graphql": "\nquery B @route(path: \"/v\") { version }",
      ])
    let failure = try #require(throws: StartFailure.self) { _ = try folder.open() }
    let fault = try #require(failure.faults.first)
    #expect(fault.path.hasSuffix("/operations/b.graphql") && fault.line == 2)
    #expect(fault.message.contains("the route of A (\(folder.path)/operations/a.graphql:1:9)"))
  }
}
