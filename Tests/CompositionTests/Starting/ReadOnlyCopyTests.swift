import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Composition

/// The copy that a start on a read-only file system serves from.
struct ReadOnlyCopyTests {
  private static func open(_ folder: String, segment: UInt64 = 1) throws -> Store {
    try Store.open(
      StoreConfiguration(folder: folder, segment: segment, opened: Timestamp(milliseconds: 0)),
      types: [])
  }

  @Test("The copy has the database and its log, readable only by the owner")
  func copiesDatabaseAndLog() throws {
    let home = try TestFolder("copied")
    defer { home.remove() }
    let folder = home.path
    try Data("database".utf8).write(to: URL(filePath: "\(folder)/larder.sqlite"))
    try Data("log".utf8).write(to: URL(filePath: "\(folder)/larder.sqlite-wal"))
    let copy = try ReadOnlyCopy(of: folder)
    let names = try FileManager.default.contentsOfDirectory(atPath: copy.path).sorted()
    #expect(names == ["larder.sqlite", "larder.sqlite-wal"])
    let attributes = try FileManager.default.attributesOfItem(atPath: copy.path)
    #expect(attributes[.posixPermissions] as? Int == 0o700)
    copy.remove()
    #expect(!FileManager.default.fileExists(atPath: copy.path))
  }

  @Test("A folder without a database is refused")
  func refusesFolderWithoutDatabase() throws {
    let home = try TestFolder("copied")
    defer { home.remove() }
    let folder = home.path
    let failure = #expect(throws: StartFailure.self) { _ = try ReadOnlyCopy(of: folder) }
    #expect(failure?.kind == .dataFolder)
    #expect(failure?.description.contains(folder) == true)
  }

  @Test(
    "A folder that another process writes to is refused, because the copy would be inconsistent")
  func aHeldFolderIsRefused() throws {
    let home = try TestFolder("copied")
    defer { home.remove() }
    let folder = home.path
    let store = try Self.open(folder)
    let failure = #expect(throws: StartFailure.self) { _ = try ReadOnlyCopy(of: folder) }
    #expect(failure?.description.contains("another one holds it") == true)
    store.close()
    try ReadOnlyCopy(of: folder).remove()
  }

  @Test("Copies left by killed processes are removed; those in use and new ones stay")
  func leftoversAreSwept() throws {
    let home = try TestFolder("copied")
    defer { home.remove() }
    let folder = home.path
    try Self.open(folder).close()
    let (left, held, young) = (
      try ReadOnlyCopy(of: folder), try ReadOnlyCopy(of: folder), try ReadOnlyCopy(of: folder)
    )
    let store = try Self.open(held.path, segment: 2)
    for copy in [left, held] {
      for name in try FileManager.default.contentsOfDirectory(atPath: copy.path) + [""] {
        try FileManager.default.setAttributes(
          [.modificationDate: Date(timeIntervalSinceNow: -600)],
          ofItemAtPath: "\(copy.path)/\(name)")
      }
    }
    ReadOnlyCopy.sweep()
    #expect(!FileManager.default.fileExists(atPath: left.path))
    #expect(FileManager.default.fileExists(atPath: held.path))
    #expect(FileManager.default.fileExists(atPath: young.path))
    store.close()
    for copy in [held, young] { copy.remove() }
  }
}
