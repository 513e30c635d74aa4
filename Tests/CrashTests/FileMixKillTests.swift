import Foundation
import GRDB
import LosslessJSON
import TestSupport
import Testing

extension Crashes {
  /// `kill -9` under every kind of object write: acknowledged objects are there, whole, the counted usage is
  /// the real one, and there are no stray files.
  struct FileMixKillTests {
    private static let rounds = 6
    private static let settings = """
      files:
        buckets:
          mine:
            access: user
            quota: 100GB
            userQuota: 100GB
      """

    @Test(
      "kill -9 leaves every kind of object write done or undone, never partial",
      arguments: [UInt64(404)])
    func everyKindOfWriteIsAtomic(seed: UInt64) async throws {
      var random = SeededGenerator(seed: seed)
      let folder = try ServiceFolder(
        upstream: RefusedStartTests.nowhere, settings: Self.settings)
      let ledger = FileLedger()
      let owner = try await Self.signUp(folder)
      for round in 0..<Self.rounds {
        let note = "seed \(seed), round \(round)"
        try await loadAndKill(folder, owner, ledger, random: &random)
        #expect(ledger.faults == [], "\(note)")
        try await check(folder, owner, ledger, note: note)
      }
      let answers = ledger.answers
      for kind in ["put", "part", "complete", "copy", "delete"] {
        #expect(answers[kind] ?? 0 >= Self.rounds, "seed \(seed): \(answers)")
      }
      try await removeAll(folder, owner, ledger, note: "seed \(seed)")
    }

    private static func signUp(_ folder: ServiceFolder) async throws -> FileOwner {
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      let owner = try await onOwnThread { try FileOwner(RawClient(port: port)) }
      await larder.kill()
      return owner
    }

    /// Runs the load until some more responses have come, and kills the service some milliseconds later.
    private func loadAndKill(
      _ folder: ServiceFolder, _ owner: FileOwner, _ ledger: FileLedger,
      random: inout SeededGenerator
    ) async throws {
      let larder = try await LarderProcess.serve(folder)
      let seeds = (0..<FileLoad.writers).map { _ in random.next() }
      await KilledService.load(
        larder, at: .init(after: 30..<90, delayMax: .milliseconds(15), random: &random),
        count: { ledger.answerCount },
        clients: seeds.enumerated().map { writer, seed in
          { port in
            var load = FileLoad(
              port: port, writer: writer, owner: owner, ledger: ledger,
              random: SeededGenerator(seed: seed))
            load.run()
          }
        })
    }

    private func check(
      _ folder: ServiceFolder, _ owner: FileOwner, _ ledger: FileLedger, note: String
    ) async throws {
      #expect(try StoredFiles(of: folder).faults() == [], "\(note)")
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      try await onOwnThread {
        let client = try RawClient(port: port)
        for key in ledger.keys {
          let answer = try owner.ask(client, "GET", key)
          let found = FileVersion(of: answer.body)
          #expect(answer.status == (found == nil ? 404 : 200), "\(note): \(key) \(answer.text)")
          #expect(ledger.take(found, of: key), "\(note): \(key) is \(String(describing: found))")
        }
      }
      try await expectNothingLeftOver(folder, note: note)
      await larder.kill()
      #expect(try StoredFiles(of: folder).faults() == [], "\(note)")
    }

    /// The sweep begins with the service: after it there is exactly one file for each object and part, each
    /// in its place.
    private func expectNothingLeftOver(_ folder: ServiceFolder, note: String) async throws {
      let incoming = "\(folder.dataPath)/files/incoming"
      let isSwept = await Moment.comes(withinSeconds: 20) {
        let blobs = try StoredFiles(of: folder).blobs()
        return try blobs.dead.isEmpty
          && StoredFiles.blobsOnDisk(of: folder) == blobs.referred
          && FileManager.default.contentsOfDirectory(atPath: incoming).isEmpty
      }
      let (blobs, onDisk) = (
        try StoredFiles(of: folder).blobs(), try StoredFiles.blobsOnDisk(of: folder)
      )
      #expect(isSwept, "\(note): \(blobs) in the index, \(onDisk) on the disk")
    }

    /// Deleting the last object and the last upload deletes the last file, and usage is zero.
    private func removeAll(
      _ folder: ServiceFolder, _ owner: FileOwner, _ ledger: FileLedger, note: String
    ) async throws {
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      try await onOwnThread {
        let client = try RawClient(port: port)
        for key in ledger.keys {
          #expect(try owner.ask(client, "DELETE", key).status == 204, "\(note)")
        }
        let listed = try owner.ask(client, "GET", path: "/v1/files/mine?uploads")
        let uploads = try JSONValue(parsing: listed.body)["Uploads"]?.array ?? []
        #expect(!uploads.isEmpty, "\(note): \(listed.text)")
        for upload in uploads {
          let (key, id) = (upload["Key"]?.string ?? "", upload["UploadId"]?.string ?? "")
          let gone = try owner.ask(
            client, "DELETE", path: "/v1/files/mine/\(key)?uploadId=\(id)")
          #expect(gone.status == 204, "\(note): \(gone.text)")
        }
      }
      #expect(try StoredFiles.blobsOnDisk(of: folder) == [], "\(note)")
      #expect(try await larder.terminate() == 0, "\(larder.errors)")
      let counted = try StoredFiles(of: folder).read { database in
        try Int64.fetchAll(database, sql: "SELECT bytes + objects FROM file_usage")
      }
      #expect(!counted.isEmpty && counted.allSatisfy { $0 == 0 }, "\(note): \(counted)")
    }
  }
}
