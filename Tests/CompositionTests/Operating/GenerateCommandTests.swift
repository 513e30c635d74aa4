import Foundation
import Generation
import Testing

@testable import Composition

/// Sets the user whose permissions the calling thread has for files (setfsuid(2)); only root's can change.
@_silgen_name("setfsuid")
private func setFileSystemUser(_ id: UInt32) -> Int32

/// `larder generate`: the files that it writes, leaves and removes.
struct GenerateCommandTests {
  private static let schema =
    "type Query { film(id: ID!): Film node: Node } interface Node { id: ID! } "
    + "type Film implements Node { id: ID! title: String added: Moment } scalar Moment"

  private static func folder(_ operation: String) throws -> OperationsFolder {
    try OperationsFolder(schema: schema, operations: ["a.graphql": operation])
  }

  private static func run(
    _ folder: OperationsFolder, _ settings: String = "", to output: String? = nil,
    isCheck: Bool = false
  ) throws -> GenerateCommand.Report {
    let text = "upstream: {url: \"http://127.0.0.1:9/graphql\"}\n" + settings
    let loaded = try Settings.load(
      from: SettingsSources(file: .init(name: "\(folder.path)/larder.yaml", text: text)))
    return try GenerateCommand(
      loaded, language: .swift, folder: output ?? "\(folder.path)/out", isCheck: isCheck
    ).run()
  }

  private static func names(_ folder: OperationsFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/out").sorted()
  }

  @Test("Files are written, checked, and removed when their operation is")
  func filesFollowTheOperations() throws {
    let folder = try Self.folder("query Film($id: ID!) { film(id: $id) { id title } }")
    let before = try Self.run(folder, isCheck: true)
    #expect(!before.isCurrent)
    #expect(before.text.contains("missing: Film.swift\nmissing: FilmQuery.swift\n"))
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/out"))
    #expect(try Self.run(folder).text.hasSuffix("2 written, 0 removed."))
    #expect(try Self.run(folder).text.hasSuffix("0 written, 0 removed."))
    #expect(try Self.run(folder, isCheck: true).isCurrent)

    try folder.write("mine", to: "out/Mine.swift")
    try folder.write(
      "query OneFilm($id: ID!) { film(id: $id) { id title } }", to: "operations/a.graphql")
    let stale = try Self.run(folder, isCheck: true)
    #expect(stale.text.contains("missing: OneFilmQuery.swift\nsurplus: FilmQuery.swift\n"))
    #expect(!stale.isCurrent)
    #expect(try Self.run(folder).text.hasSuffix("1 written, 1 removed."))
    #expect(try Self.names(folder) == ["Film.swift", "Mine.swift", "OneFilmQuery.swift"])
  }

  @Test("A file that was not generated is never overwritten, and nothing else is written")
  func foreignFilesAreKept() throws {
    let folder = try Self.folder("query Film($id: ID!) { film(id: $id) { id } }")
    try FileManager.default.createDirectory(
      atPath: "\(folder.path)/out", withIntermediateDirectories: true)
    try folder.write("// By hand.\n", to: "out/Film.swift")
    let failure = #expect(throws: StartFailure.self) { try Self.run(folder) }
    #expect(failure?.description.contains("out/Film.swift was not generated") == true)
    #expect(try Self.names(folder) == ["Film.swift"])
    #expect(try !Self.run(folder, isCheck: true).isCurrent)
  }

  @Test("An output that is no folder is named, checked or written", arguments: [false, true])
  func placesThatAreNoFolders(isCheck: Bool) throws {
    let folder = try Self.folder("query Film($id: ID!) { film(id: $id) { id } }")
    try folder.write("mine", to: "place")
    for output in ["place", "place/", "place/below/it"] {
      let failure = #expect(throws: StartFailure.self) {
        try Self.run(folder, to: "\(folder.path)/\(output)", isCheck: isCheck)
      }
      #expect(failure?.kind == .dataFolder)
      #expect(
        failure?.description == "\(folder.path)/place is not a folder; choose another --output.")
    }
    let failure = #expect(throws: StartFailure.self) {
      try Self.run(folder, to: "", isCheck: isCheck)
    }
    #expect(failure?.kind == .usage)
    #expect(failure?.description == "--output is empty; name a folder.")
    #expect(try String(contentsOfFile: "\(folder.path)/place", encoding: .utf8) == "mine")
  }

  @Test("A folder that cannot be read is a fault, checked or written", arguments: [false, true])
  func unreadableFolders(isCheck: Bool) throws {
    let folder = try Self.folder("query Film($id: ID!) { film(id: $id) { id } }")
    let output = "\(folder.path)/out"
    try FileManager.default.createDirectory(
      atPath: output, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o000])
    defer {
      try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: output)
    }
    let failure = #expect(throws: StartFailure.self) {
      // Root can read every folder; this user cannot.
      let user = geteuid()
      _ = setFileSystemUser(user == 0 ? 65534 : user)
      defer { _ = setFileSystemUser(user) }
      return try Self.run(folder, isCheck: isCheck)
    }
    #expect(failure?.kind == .dataFolder)
    #expect(
      failure?.description == "The folder \(output) cannot be read: permission is missing.")
  }

  @Test("A link is kept, and is a fault unless it leads to the generated text")
  func linksAreKept() throws {
    let folder = try Self.folder("query Film($id: ID!) { film(id: $id) { id } }")
    _ = try Self.run(folder)
    let (file, target) = ("\(folder.path)/out/Film.swift", "\(folder.path)/Target.swift")
    try FileManager.default.moveItem(atPath: file, toPath: target)
    try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: target)
    #expect(try Self.run(folder, isCheck: true).isCurrent)
    #expect(try Self.run(folder).text.hasSuffix("0 written, 0 removed."))

    let stale = try String(contentsOfFile: target, encoding: .utf8) + "// Older.\n"
    try folder.write(stale, to: "Target.swift")
    #expect(try Self.run(folder, isCheck: true).text.contains("not generated: Film.swift"))
    let failure = #expect(throws: StartFailure.self) { try Self.run(folder) }
    #expect(failure?.description.contains("out/Film.swift was not generated, or is a link") == true)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file) == target)
    #expect(try String(contentsOfFile: target, encoding: .utf8) == stale)
  }

  @Test("Settings give scalars their forms; a scalar without one is noted")
  func scalarsHaveForms() throws {
    let folder = try Self.folder("query Film($id: ID!) { film(id: $id) { id added } }")
    #expect(
      try Self.run(folder).text.hasPrefix("note: values of Moment are read as any JSON value"))
    let report = try Self.run(folder, "generate: {scalars: {Moment: Date}}")
    #expect(!report.text.contains("note:"))
    let film = try String(contentsOfFile: "\(folder.path)/out/Film.swift", encoding: .utf8)
    #expect(film.contains("public var added: Date?"))
    let failure = #expect(throws: SettingsFaults.self) {
      try Self.run(folder, "generate: {scalars: {Moment: Instant}}")
    }
    #expect(failure?.description.contains("generate.scalars.Moment") == true)
  }

  @Test("Types that cannot be told apart and names that collide are faults of the operations")
  func faultsAreReported() throws {
    for (operation, message) in [
      ("query A { node { id ... on Film { title } } }", "select `__typename`"),
      ("query A { film(id: 1) { ...Film } } fragment Film on Film { id }", "have the same name"),
    ] {
      let folder = try Self.folder(operation)
      let failure = #expect(throws: StartFailure.self) { try Self.run(folder) }
      #expect(failure?.kind == .faultyOperations)
      #expect(failure?.description.contains(message) == true)
    }
  }
}
