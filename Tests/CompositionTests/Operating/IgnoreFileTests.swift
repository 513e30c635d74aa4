import Foundation
import TestSupport
import Testing

@testable import Composition

struct IgnoreFileTests {
  private static let whole = """
    # The database, the files and the key of the service
    data/
    # Secrets, where a file sets the environment
    .env

    """

  private static func text(_ folder: TestFolder) throws -> String {
    try String(contentsOfFile: "\(folder.path)/.gitignore", encoding: .utf8)
  }

  @Test("A folder without the file gets one, which is complete the next time")
  func writes() throws {
    let folder = try TestFolder("ignores")
    defer { folder.remove() }
    let file = IgnoreFile(in: folder.path)
    #expect(file.complete()?.hasPrefix("Written: \(folder.path)/.gitignore") == true)
    #expect(try Self.text(folder) == Self.whole)
    #expect(file.complete() == nil)
    #expect(try Self.text(folder) == Self.whole)
  }

  @Test(
    "An existing file keeps its text and gets the lines that it lacks",
    arguments: [
      ("", Self.whole), ("node_modules/\n", "node_modules/\n" + Self.whole),
      ("*.log", "*.log\n" + Self.whole), ("# data/\r\n", "# data/\r\n" + Self.whole),
      ("/data/\n.env*\n", "/data/\n.env*\n"), ("data  \r\n/.env", "data  \r\n/.env"),
      ("!data/\n*.env\n", "!data/\n*.env\n"),
      ("data/\n", "data/\n# Secrets, where a file sets the environment\n.env\n"),
    ])
  func extends(before: String, after: String) throws {
    let folder = try TestFolder("ignores")
    defer { folder.remove() }
    try Data(before.utf8).write(to: URL(filePath: "\(folder.path)/.gitignore"))
    let sentence = IgnoreFile(in: folder.path).complete()
    #expect(try Self.text(folder) == after)
    #expect((sentence == nil) == (before == after))
    if before == "data/\n" { #expect(sentence?.contains("`.env`") == true) }
  }

  @Test("What is no file of text is left as it is, and the lines are named")
  func leavesOthers() throws {
    let folder = try TestFolder("ignores")
    defer { folder.remove() }
    let path = "\(folder.path)/.gitignore"
    let manager = FileManager.default
    func expectNote() {
      let sentence = IgnoreFile(in: folder.path).complete() ?? ""
      #expect(sentence.hasPrefix("note: ") && sentence.contains("`data/`, `.env`"))
    }
    try manager.createSymbolicLink(atPath: path, withDestinationPath: "elsewhere")
    expectNote()
    #expect(try manager.destinationOfSymbolicLink(atPath: path) == "elsewhere")
    #expect(!manager.fileExists(atPath: "\(folder.path)/elsewhere"))
    try manager.removeItem(atPath: path)
    try manager.createDirectory(atPath: path, withIntermediateDirectories: false)
    expectNote()
    try manager.removeItem(atPath: path)
    try Data([0xFF, 0xFE]).write(to: URL(filePath: path))
    expectNote()
    #expect(manager.contents(atPath: path) == Data([0xFF, 0xFE]))
  }
}
