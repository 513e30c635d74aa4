import Foundation
import TestSupport
import Testing

@testable import Composition

struct ProjectFilesTests {
  private static let files = ProjectFiles(
    settings: "listen: 1", schema: "type Query { a: Int }",
    operations: ["A.graphql": "query A { a }", "fragments/F.graphql": "fragment F on Query { a }"])

  private static func names(_ folder: String) -> [String] {
    (FileManager.default.subpaths(atPath: folder) ?? []).sorted()
  }

  @Test("All files are written, to a folder that is created if it is missing")
  func writesAll() throws {
    let folder = try TestFolder("project")
    defer { folder.remove() }
    for place in [folder.path, "\(folder.path)/a/b"] {
      try ProjectFiles.checkPlace(place)
      try Self.files.write(to: place)
      #expect(
        Self.names(place).filter { !$0.hasPrefix("a/") && $0 != "a" } == [
          "larder.yaml", "operations", "operations/A.graphql", "operations/fragments",
          "operations/fragments/F.graphql", "schema.graphql",
        ])
    }
  }

  @Test(
    "A folder with one of the files is refused, and the file is named",
    arguments: ["larder.yaml", "schema.graphql", "operations"], [false, true])
  func refusesExisting(name: String, isLink: Bool) throws {
    let folder = try TestFolder("project")
    defer { folder.remove() }
    let path = "\(folder.path)/\(name)"
    if isLink {
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
    } else {
      try Data("x".utf8).write(to: URL(filePath: path))
    }
    let failure = #expect(throws: StartFailure.self) { try ProjectFiles.checkPlace(folder.path) }
    #expect(failure?.kind == .dataFolder)
    #expect(failure?.description.contains("already has \(name)") == true)
  }

  @Test("If one file cannot be moved into its place, none is left")
  func leavesNothing() throws {
    let folder = try TestFolder("project")
    defer { folder.remove() }
    // It has appeared since the place was checked.
    try Data("mine".utf8).write(to: URL(filePath: "\(folder.path)/larder.yaml"))
    #expect(throws: StartFailure.self) { try Self.files.write(to: folder.path) }
    #expect(Self.names(folder.path) == ["larder.yaml"])
    #expect(try String(contentsOfFile: "\(folder.path)/larder.yaml", encoding: .utf8) == "mine")
  }

  @Test("A file in place of the folder is refused")
  func refusesFiles() throws {
    let folder = try TestFolder("project")
    defer { folder.remove() }
    let path = "\(folder.path)/file"
    try Data("x".utf8).write(to: URL(filePath: path))
    #expect(throws: StartFailure.self) { try ProjectFiles.checkPlace(path) }
    #expect(throws: StartFailure.self) { try Self.files.write(to: "\(path)/inside") }
    #expect(Self.names(folder.path) == ["file"])
  }
}

struct InitHeaderTests {
  @Test("Header fields are read with blanks around the value removed")
  func reads() throws {
    let headers = try InitHeader.read(["Authorization: Bearer a:b ", "X-Key:1"])
    #expect(headers.map(\.name) == ["Authorization", "X-Key"])
    #expect(headers.map(\.value) == ["Bearer a:b", "1"])
  }

  @Test(
    "A header field that cannot be sent is refused without its value",
    arguments: [
      ["secret"], ["Host: secret"], [": secret"], ["A B\u{1}: secret"], ["X-Key:"],
      ["X-Key: secret", "x-key: secret"], ["Content-Type: secret"],
    ])
  func refuses(texts: [String]) {
    let failure = #expect(throws: StartFailure.self) { _ = try InitHeader.read(texts) }
    #expect(failure?.kind == .usage)
    #expect(failure?.description.contains("secret") == false)
    #expect(failure?.description.unicodeScalars.contains("\u{1}") == false)
  }
}
