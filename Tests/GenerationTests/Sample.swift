import Foundation
import Model
import TestSupport
import Testing
import Upstream

@testable import Generation

/// Schemas, operations and local types of the folder Fixtures.
struct Sample {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Fixtures")

  let interface: ClientInterface
  let registry: OperationRegistry

  static func text(_ path: String) throws -> String {
    try String(contentsOf: folder.appending(path: path), encoding: .utf8)
  }

  /// - Parameter name: a folder with `schema.graphql`, `operations.graphql` and `local.graphql`.
  init(_ name: String) throws {
    try self.init(
      schema: Self.text("\(name)/schema.graphql"),
      operations: [Self.text("\(name)/operations.graphql")],
      local: Self.text("\(name)/local.graphql"))
  }

  /// - Parameter dates: the formats of local types' dates.
  init(
    schema: String, operations: [String], local: String? = nil, dates: [String: DateFormat] = [:]
  ) throws {
    var settings = RegistrySettings(keepsOutline: true)
    settings.describesInterface = true
    let loaded = OperationRegistry.load(
      files: operations.enumerated().map { SourceFile(path: "\($0).graphql", text: $1) },
      schemaSources: [SourceFile(path: "schema.graphql", text: schema)], settings: settings)
    for fault in loaded.faults { Issue.record(Comment(rawValue: fault.report)) }
    registry = try #require(loaded.registry)
    var interface = try #require(registry.interface)
    if let local {
      var reader = LocalSchemaReader(
        catalogue: registry.catalogue, viewNames: Set(registry.views.keys), views: registry.views,
        outline: registry.outline)
      let (types, findings) = reader.read(SourceFile(path: "local.graphql", text: local))
      for finding in findings { Issue.record(Comment(rawValue: finding.report)) }
      let schema = try #require(types)
      interface = interface.adding(
        schema.with(
          types: schema.types.mapValues { type in
            guard let format = dates[type.name] else { return type }
            return type.with(indexes: [], search: [], dates: format)
          }))
    }
    self.interface = interface
  }

  var generator: CodeGenerator { CodeGenerator(interface, scalars: ["DateTime": .date]) }

  /// The names and texts of the files of a language.
  func files(_ language: TargetLanguage) throws -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: try generator.files(language).map { ($0.name, $0.text) })
  }
}

/// A program that checks files of generated code.
enum Checker {
  /// Writes files to a folder, runs a program there, and returns its status and output.
  static func run(
    _ program: [String], files: [String: String]
  ) throws -> (status: Int32, output: String) {
    let folder = try TestFolder("generation")
    defer { folder.remove() }
    try write(files, to: folder)
    return try run(program, in: folder)
  }

  static func write(_ files: [String: String], to folder: TestFolder) throws {
    for (name, text) in files {
      try Data(text.utf8).write(to: URL(filePath: "\(folder.path)/\(name)"))
    }
  }

  /// Runs a program in a folder, and returns its status and output.
  static func run(
    _ program: [String], in folder: TestFolder
  ) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = program
    process.currentDirectoryURL = URL(filePath: folder.path)
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }
}
