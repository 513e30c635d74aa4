import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Crashes {
  /// `larder restore` that is killed while it puts the backup into place.
  struct RestoreKillTests {
    private static let refused = "tracing is not permitted here"

    private static func register(_ larder: LarderProcess) async throws -> String {
      let port = larder.port
      let response = try await onOwnThread {
        try RawClient(port: port).request(
          "POST", "/v1/devices", headers: [("Content-Type", "application/json")],
          body: #"{"platform":"ios"}"#)
      }
      return try #require(
        try JSONValue(parsing: Array(response.text.utf8))["deviceToken"]?.string)
    }

    private static func knows(_ device: String, _ larder: LarderProcess) async throws -> Bool {
      let port = larder.port
      return try await onOwnThread {
        try RawClient(port: port).request(
          "GET", "/v1/devices/me", headers: [("Device-Token", device)])
      }.status == 200
    }

    /// The renames are that of the folder's marker, of the former database, and of the restored one.
    @Test(
      "A service starts on the whole former database or on none, and a second restore completes the first",
      .enabled(if: SystemCalls.mayBeTraced, "\(refused)"), arguments: 1...3)
    func killedAtEachRename(number: Int) async throws {
      let source = try ServiceFolder(upstream: RefusedStartTests.nowhere)
      let first = try await LarderProcess.serve(source)
      let kept = try await Self.register(first)
      #expect(try await first.terminate() == 0)
      let backup = "\(source.path)/backup.sqlite"
      #expect(try await LarderProcess.run("backup", "--to", backup, in: source).status == 0)

      // Another folder with a database of its own, and the same key.
      let target = try ServiceFolder(upstream: RefusedStartTests.nowhere)
      try FileManager.default.createDirectory(
        atPath: target.dataPath, withIntermediateDirectories: true)
      try FileManager.default.copyItem(
        atPath: "\(source.dataPath)/larder.key", toPath: "\(target.dataPath)/larder.key")
      let former = try await LarderProcess.serve(target)
      let replaced = try await Self.register(former)
      #expect(try await former.terminate() == 0)

      let killed = try await LarderProcess.run(
        "restore", backup, "--force",
        under: [
          "strace", "--follow-forks", "--output=/dev/null", "--trace=rename",
          "--inject=rename:signal=KILL:when=\(number)",
        ], in: target)
      #expect(killed.status == 9, "\(killed)")
      do {
        let service = try await LarderProcess.serve(target)
        #expect(number == 1, "the folder's marker names the restored database already")
        #expect(try await Self.knows(replaced, service))
        #expect(try await service.terminate() == 0)
      } catch LarderProcess.Problem.notReady(let errors) {
        #expect(number > 1, "\(errors)")
        #expect(errors.contains(target.dataPath), "\(errors)")
      }

      let again = try await LarderProcess.run("restore", backup, "--force", in: target)
      #expect(again.status == 0, "\(again)")
      let service = try await LarderProcess.serve(target)
      #expect(try await Self.knows(kept, service))
      #expect(try await !Self.knows(replaced, service))
      #expect(try await service.terminate() == 0)
      #expect(!FileManager.default.fileExists(atPath: "\(target.databasePath).restore"))
    }
  }
}
