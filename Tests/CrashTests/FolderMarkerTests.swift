import DemoUpstream
import Foundation
import Glibc
import TestSupport
import Testing

extension Crashes {
  /// A database, write-ahead log and key that do not belong together are detected at the start, and a
  /// database that is removed is detected while the service runs.
  struct FolderMarkerTests {
    private static let nowhere = RefusedStartTests.nowhere

    private static func usedFolder(kills: Bool = false) async throws -> ServiceFolder {
      let folder = try ServiceFolder(upstream: nowhere)
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      _ = try await onOwnThread { try RawClient(port: port).registerDevice() }
      if kills { await larder.kill() } else { #expect(try await larder.terminate() == 0) }
      return folder
    }

    private static func remove(_ names: String..., from folder: ServiceFolder) throws {
      for name in names {
        let path = "\(folder.dataPath)/\(name)"
        guard FileManager.default.fileExists(atPath: path) else { continue }
        try FileManager.default.removeItem(atPath: path)
      }
    }

    /// Expects a start to be refused with a message, and nothing to be overwritten: restoring the right file
    /// restores everything.
    private static func expectRefused(
      _ folder: ServiceFolder, status: Int32, saying words: String...,
      sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
      let end = try await LarderProcess.run("serve", in: folder)
      #expect(end.status == status, "\(end.errors)", sourceLocation: sourceLocation)
      for word in words {
        #expect(end.errors.contains(word), "\(end.errors)", sourceLocation: sourceLocation)
      }
    }

    @Test("A start without the key that seals secrets ends with 78")
    func missingKey() async throws {
      let folder = try await Self.usedFolder()
      let path = "\(folder.dataPath)/larder.key"
      let key = try #require(FileManager.default.contents(atPath: path))
      try Self.remove("larder.key", from: folder)
      try await Self.expectRefused(folder, status: 78, saying: path, "Restore the file")
      #expect(!FileManager.default.fileExists(atPath: path))
      // Another key, and a file that is not a key.
      try Data(repeating: 7, count: 32).write(to: URL(filePath: path))
      try await Self.expectRefused(folder, status: 78, saying: path, "start.otherKey")
      try Self.remove("larder.key", from: folder)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      try await Self.expectRefused(folder, status: 78, saying: path, "is a folder")
      try Self.remove("larder.key", from: folder)
      try key.write(to: URL(filePath: path))
      let larder = try await LarderProcess.serve(folder)
      #expect(try await larder.terminate() == 0)
    }

    @Test("Another key is accepted only where settings allow it, and from then on")
    func acceptsAnotherKey() async throws {
      let folder = try await Self.usedFolder()
      let path = "\(folder.dataPath)/larder.key"
      try Data(repeating: 7, count: 32).write(to: URL(filePath: path))
      let text = try String(contentsOfFile: folder.settingsPath, encoding: .utf8)
      try folder.write(text + "\nstart: {otherKey: accept}\n", to: "larder.yaml")
      let first = try await LarderProcess.serve(folder)
      let isTold = await Moment.comes(withinSeconds: 5) {
        first.errors.contains("a different key was accepted")
      }
      #expect(isTold, "\(first.errors)")
      #expect(try await first.terminate() == 0)
      try folder.write(text, to: "larder.yaml")
      let second = try await LarderProcess.serve(folder)
      #expect(try await second.terminate() == 0)
    }

    @Test("A start without the database in a data folder that was used ends with 73")
    func missingDatabase() async throws {
      for names in [
        ["larder.sqlite"], ["larder.sqlite", "larder.sqlite-wal", "larder.sqlite-shm"],
      ] {
        let folder = try await Self.usedFolder()
        for name in names { try Self.remove(name, from: folder) }
        try await Self.expectRefused(folder, status: 73, saying: "missing", "larder.id")
        // An empty file is not a database either.
        try Data().write(to: URL(filePath: folder.databasePath))
        try await Self.expectRefused(folder, status: 73, saying: "missing", "larder.id")
        try Self.remove("larder.id", from: folder)
        let larder = try await LarderProcess.serve(folder)
        #expect(try await larder.terminate() == 0)
      }
    }

    /// After a crash all data of a young database can be in its log.
    @Test("A database without its write-ahead log ends a start with 73, or is complete")
    func missingLog() async throws {
      let folder = try await Self.usedFolder(kills: true)
      let log = try #require(FileManager.default.contents(atPath: folder.databasePath + "-wal"))
      try Self.remove("larder.sqlite-wal", "larder.sqlite-shm", from: folder)
      try await Self.expectRefused(folder, status: 73, saying: "write-ahead log")
      try log.write(to: URL(filePath: folder.databasePath + "-wal"))
      let larder = try await LarderProcess.serve(folder)
      #expect(try await larder.terminate() == 0)
    }

    @Test("The database of another data folder ends a start with 73")
    func otherDatabase() async throws {
      let folder = try await Self.usedFolder()
      let other = try await Self.usedFolder()
      try Self.remove("larder.sqlite", from: folder)
      try FileManager.default.copyItem(atPath: other.databasePath, toPath: folder.databasePath)
      try await Self.expectRefused(folder, status: 73, saying: "does not belong to this folder")
    }

    @Test("A service whose database is removed acknowledges no more writes and is not ready")
    func removedUnderTheService() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      let register = { () async throws -> Int in
        try await onOwnThread {
          try RawClient(port: port).request(
            "POST", "/v1/devices", headers: [("Content-Type", "application/json")],
            body: #"{"platform":"ios"}"#
          ).status
        }
      }
      #expect(try await register() == 201)
      try Self.remove("larder.sqlite", "larder.sqlite-wal", "larder.sqlite-shm", from: folder)
      #expect(try await register() == 503)
      let ready = try await onOwnThread { try RawClient(port: port).request("GET", "/readyz") }
      #expect(ready.status == 503)
      #expect(ready.text.contains(#""store":"moved""#), "\(ready.text)")
      let isTold = await Moment.comes(withinSeconds: 5) { larder.errors.contains("remedy=") }
      #expect(isTold, "\(larder.errors)")
      larder.signal(SIGTERM)
      _ = try await larder.status()
      try await Self.expectRefused(folder, status: 73, saying: "missing")
    }
  }
}
