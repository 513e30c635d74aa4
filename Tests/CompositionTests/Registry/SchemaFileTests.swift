import Foundation
import Testing

@testable import Composition

/// Schemas as large as published ones, and the faults of files that cannot be read.
struct SchemaFileTests {
  private static let query = "query A { version }"
  private static let small = "type Query { version: String }"

  /// - Returns: SDL of about so many bytes, most of them descriptions as in published schemas.
  private static func schema(bytes: Int) -> String {
    let description = String(repeating: "A word of it. ", count: 3_000)
    let count = bytes / description.utf8.count
    let types = (0..<count).map { "\"\"\"\(description)\"\"\" type T\($0) { id: ID! }" }
    return small + "\n" + types.joined(separator: "\n")
  }

  @Test("A schema of several mebibytes is read")
  func aSchemaOfSeveralMebibytesIsRead() throws {
    let schema = Self.schema(bytes: 3 << 20)
    #expect(schema.utf8.count > 5 << 19)
    let folder = try OperationsFolder(schema: schema, operations: ["a.graphql": Self.query])
    #expect(throws: Never.self) { _ = try folder.open() }
  }

  @Test("The copy of an introspected schema has the same bound")
  func theKeptCopyIsRead() throws {
    let folder = try OperationsFolder(schema: nil, operations: ["a.graphql": Self.query])
    try FileManager.default.createDirectory(
      atPath: "\(folder.path)/data", withIntermediateDirectories: true)
    try folder.write(Self.schema(bytes: 3 << 20), to: "data/schema.graphql")
    #expect(throws: Never.self) { _ = try folder.open() }
  }

  @Test("The setting limits the size of the schema, and the fault names it")
  func limitsSchemaSize() throws {
    let folder = try OperationsFolder(
      schema: Self.schema(bytes: 1 << 20), operations: ["a.graphql": Self.query])
    let failure = #expect(throws: StartFailure.self) {
      _ = try folder.open("schema: {path: ./schema.graphql, bytes: 64KiB}")
    }
    #expect(
      failure?.description.contains("is larger than 65536 bytes; raise the setting `schema.bytes`")
        == true)
    #expect(throws: Never.self) { _ = try folder.open("schema: {bytes: 2MiB}") }
  }

  @Test("A missing schema is reported with its remedy")
  func reportsMissingSchema() throws {
    let folder = try OperationsFolder(schema: nil, operations: ["a.graphql": Self.query])
    let failure = #expect(throws: StartFailure.self) { _ = try folder.open() }
    #expect(failure?.description.contains("larder schema pull") == true)
  }

  @Test("An unreadable file does not hide the faults of others")
  func reportsAllFaults() throws {
    let folder = try OperationsFolder(
      schema: Self.small,
      operations: [
        "bad.graphql": "query B { nothing }", "worse.graphql": "query C { neither }",
      ])
    try FileManager.default.createDirectory(
      atPath: "\(folder.path)/operations/folder.graphql", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.path)/operations/link.graphql", withDestinationPath: "nowhere")
    try Data([0x71, 0xFF]).write(to: URL(filePath: "\(folder.path)/operations/latin.graphql"))
    let failure = #expect(throws: StartFailure.self) { _ = try folder.open() }
    let message = failure?.description ?? ""
    for part in [
      "folder.graphql: fault: is a folder", "link.graphql: fault: is a link to a missing file",
      "latin.graphql: fault: is not UTF-8", "nothing", "neither", "5 faults",
    ] {
      #expect(message.contains(part), "\(message)")
    }
  }

  @Test("The settings in force show the path and the size of the schema")
  func showsSchemaPathAndSize() throws {
    let loaded = try Settings.load(
      from: SettingsSources(
        file: .init(
          name: "larder.yaml",
          text: "upstream: {url: \"http://a/\"}\nschema: {path: ./s.graphql, bytes: 1MiB}")))
    #expect(loaded.settings.schemaFile.hasSuffix("s.graphql"))
    #expect(loaded.settings.schemaBytesMax == 1 << 20)
    let dump = SettingsDump.yaml(loaded)
    #expect(dump.contains("schema:\n  path: "))
    #expect(dump.contains("\n  bytes: 1MiB"))
  }
}
