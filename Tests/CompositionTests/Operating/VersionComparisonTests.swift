import Foundation
import HTTPClient
import LosslessJSON
import TestSupport
import Testing

@testable import Composition

/// `larder check --against`: where the old version is found, and both forms of it.
struct VersionComparisonTests {
  private static let schema =
    "type Query { film(id: ID!): Film } type Film { id: ID! title: String }"
  private static let operation = "query Film($id: ID!) { film(id: $id) { id title } }"

  private static func write(_ text: String, _ path: String) throws {
    try FileManager.default.createDirectory(
      atPath: FolderPath.folder(of: path), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: path))
  }

  /// A project in a folder of its own.
  private static func project(
    _ folder: String, _ operation: String, schema: String = schema, settings: String = ""
  ) throws {
    try write(
      "upstream: {url: \"http://127.0.0.1:9/graphql\"}\n" + settings, "\(folder)/larder.yaml")
    try write(schema, "\(folder)/schema.graphql")
    try write(operation, "\(folder)/operations/film.graphql")
  }

  private static func report(
    _ folder: String, against path: String, flags: [SettingsSources.Flag] = []
  ) async throws -> VersionComparison.Report {
    let text = try String(contentsOfFile: "\(folder)/larder.yaml", encoding: .utf8)
    let loaded = try Settings.load(
      from: SettingsSources(file: .init(name: "\(folder)/larder.yaml", text: text), flags: flags))
    return try await VersionComparison(
      try Workspace.open(loaded, describesInterface: true), against: path, flags: flags
    ).run()
  }

  @Test("A project's folder is read with its own settings and schema")
  func readsProjects() async throws {
    let folder = try TestFolder("versions")
    defer { folder.remove() }
    try Self.project("\(folder.path)/new", "query Film($id: ID!) { film(id: $id) { id } }")
    // Only the old schema has the field.
    try Self.project(
      "\(folder.path)/old", "query Film($id: ID!) { film(id: $id) { id year } }",
      schema: Self.schema.replacing("title: String", with: "year: Int"))
    for suffix in ["", "/"] {
      let report = try await Self.report(
        "\(folder.path)/new", against: "\(folder.path)/old\(suffix)")
      #expect(report.isBreaking)
      #expect(report.text.contains("breaking: Film: data.film.year: the field is removed"))
    }
    let same = try await Self.report("\(folder.path)/new", against: "\(folder.path)/new")
    #expect(!same.isBreaking)
    #expect(same.text == "Compared with \(folder.path)/new: 0 breaking changes, 0 other changes.")
  }

  @Test("A folder of operations alone is read with the settings and the schema beside it")
  func readsOperations() async throws {
    let folder = try TestFolder("versions")
    defer { folder.remove() }
    try Self.project("\(folder.path)/new", "query Film($id: ID!) { film(id: $id) { id } }")
    try Self.write(Self.operation, "\(folder.path)/new/former/film.graphql")
    let report = try await Self.report("\(folder.path)/new", against: "\(folder.path)/new/former")
    #expect(report.text.contains("breaking: Film: data.film.title: the field is removed"))
    // Without a schema beside it the present one counts.
    try Self.write(Self.operation, "\(folder.path)/elsewhere/former/film.graphql")
    let other = try await Self.report(
      "\(folder.path)/new", against: "\(folder.path)/elsewhere/former")
    #expect(other.isBreaking)
  }

  @Test("Credentials in flags count for both versions, paths in them only for the present one")
  func sharesFlags() async throws {
    let folder = try TestFolder("versions")
    defer { folder.remove() }
    try Self.project("\(folder.path)/new", Self.operation)
    try Self.project("\(folder.path)/old", Self.operation)
    try Self.write(
      "query Other { film(id: 1) { id } }", "\(folder.path)/new/others/film.graphql")
    let report = try await Self.report(
      "\(folder.path)/new", against: "\(folder.path)/old",
      flags: [
        SettingsSources.Flag("upstream.headers", value: "{X-Key: secret}"),
        SettingsSources.Flag("operations", value: "\(folder.path)/new/others"),
      ])
    #expect(report.text.contains("breaking: Film: the operation is removed"))
    #expect(!report.text.contains("open to"))
  }

  @Test("A document of a running service is compared with that of the present operations")
  func readsDocuments() async throws {
    let folder = try TestFolder("versions")
    defer { folder.remove() }
    let route = "query Film($id: ID!) @route(path: \"/films/{id}\") { film(id: $id) { id title } }"
    try Self.project("\(folder.path)/old", route)
    try Self.project("\(folder.path)/new", Self.operation)
    let workspace = try Workspace.open(
      try Settings.load(
        from: SettingsSources(
          file: .init(
            name: "\(folder.path)/old/larder.yaml",
            text: "upstream: {url: \"http://127.0.0.1:9/graphql\"}\n"))),
      describesInterface: true)
    let document = try await TemporaryService.run(workspace) { service in
      try await service.request("/openapi.json").body
    }
    try Data(document).write(to: URL(filePath: "\(folder.path)/openapi.json"))
    let same = try await Self.report("\(folder.path)/old", against: "\(folder.path)/openapi.json")
    #expect(!same.isBreaking, "\(same.text)")
    let report = try await Self.report("\(folder.path)/new", against: "\(folder.path)/openapi.json")
    #expect(report.text.contains("breaking: GET /api/films/{id}: it is removed"), "\(report.text)")
  }

  @Test(
    "What is no old version is refused with what to give",
    arguments: [
      (nil, "does not exist"), ("", "is not JSON"), ("[]", "no `paths`"), ("{", "is not JSON"),
    ] as [(String?, String)])
  func refusesOthers(text: String?, part: String) async throws {
    let folder = try TestFolder("versions")
    defer { folder.remove() }
    try Self.project("\(folder.path)/new", Self.operation)
    if let text { try Self.write(text, "\(folder.path)/openapi.json") }
    let failure = await #expect(throws: StartFailure.self) {
      _ = try await Self.report("\(folder.path)/new", against: "\(folder.path)/openapi.json")
    }
    #expect(failure?.kind == (text == nil ? .noInput : .faultyOperations))
    #expect(failure?.description.contains(part) == true)
  }

  @Test("Faults of the old version are reported as such")
  func reportsOldFaults() async throws {
    let folder = try TestFolder("versions")
    defer { folder.remove() }
    try Self.project("\(folder.path)/new", Self.operation)
    try Self.project("\(folder.path)/old", "query Film { nothing }")
    let failure = await #expect(throws: StartFailure.self) {
      _ = try await Self.report("\(folder.path)/new", against: "\(folder.path)/old")
    }
    #expect(failure?.kind == .faultyOperations)
    #expect(failure?.description.hasPrefix("The old version in \(folder.path)/old") == true)
  }
}
