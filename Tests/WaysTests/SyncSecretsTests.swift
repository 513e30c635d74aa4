import DemoUpstream
import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// A user's credential in the queue: sealed, kept only while it is needed, and used only for that user.
  struct SyncSecretsTests {
    private static let secret = "user-ada-7c1e9b0d5f"
    private static let bearer = ("Authorization", "Bearer \(secret)")

    /// The files of the data folder that contain the text.
    private static func files(of larder: RunningLarder, with text: String) throws -> [String] {
      let folder = URL(filePath: "\(larder.folder)/data")
      let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      #expect(!paths.isEmpty)
      return try paths.filter { path in
        let file = folder.appending(path: path)
        guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
          return false
        }
        return try Data(contentsOf: file).range(of: Data(text.utf8)) != nil
      }
    }

    /// Reads the database directly: the service's own SQL does not show the column.
    private static func keepsCredential(of id: String, _ larder: RunningLarder) throws -> Bool {
      let folder = "\(larder.folder)/data"
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      let name = try #require(names.first { $0.hasSuffix(".sqlite") || $0.hasSuffix(".db") })
      let process = Process()
      let output = Pipe()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = [
        "python3", "-c",
        """
        import sqlite3, sys
        rows = sqlite3.connect(sys.argv[1]).execute(
          "SELECT user_credential IS NULL FROM mutation WHERE id = ?", [sys.argv[2]]).fetchall()
        print(rows[0][0])
        """, "\(folder)/\(name)", id,
      ]
      process.standardOutput = output
      try process.run()
      process.waitUntilExit()
      let text = String(
        decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      let isNull = try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
      return isNull == 0
    }

    @Test("A queued credential is readable nowhere: not in files, SQL or the log")
    func credentialIsStoredSealed() async throws {
      let world = try await SyncWorld.start()
      let larder = world.larder
      try await world.pause()
      let waiting = try await world.enqueue(SyncWorld.rating("f1"), key: "1", as: Self.bearer)
      #expect(try Self.keepsCredential(of: waiting, larder))
      let backup = try await larder.request(
        "POST", "/v1/admin/backup", headers: [OperatingTests.admin])
      #expect(backup.status < 300, "\(backup.text)")
      #expect(try Self.files(of: larder, with: Self.secret) == [])
      // A check of the search itself: it finds the mutation's id.
      #expect(try Self.files(of: larder, with: waiting).count > 1)
      let column = try await larder.post(
        "/v1/admin/sql", #"{"sql":"SELECT user_credential FROM mutation"}"#, OperatingTests.admin)
      #expect(column.status == 403, "\(column.text)")
      let rows = try await larder.post(
        "/v1/admin/sql", #"{"sql":"SELECT * FROM mutation"}"#, OperatingTests.admin)
      #expect(!rows.text.contains(Self.secret))
      // The log does not contain the credential after a failure either.
      try await larder.demo.change { $0.fail = .status(401) }
      try await world.resume()
      let queue = try await eventually {
        try await world.queue()
      } until: {
        $0["state"] == "auth_required"
      }
      #expect(queue["state"] == "auth_required")
      #expect(larder.demo.report.recent.last?["authorization"] == Self.bearer.1)
      // A query with this credential fails and is logged.
      try await larder.demo.change { $0.fail = .status(503) }
      let failed = try await larder.get("/v1/operations/Films", Self.bearer)
      #expect(failed.status >= 500, "\(failed.text)")
      #expect(!larder.log.lines.isEmpty)
      #expect(larder.log.lines.allSatisfy { !$0.text.contains(Self.secret) })
      #expect(try Self.files(of: larder, with: Self.secret) == [])
      await world.stop()
    }

    @Test("A queued credential is deleted when its mutation ends")
    func credentialIsDeletedWithItsMutation() async throws {
      let world = try await SyncWorld.start()
      let applied = try await world.enqueue(SyncWorld.rating("f1"), key: "1")
      #expect(try await world.mutation(applied, wait: 10)["state"] == "applied")
      #expect(try !Self.keepsCredential(of: applied, world.larder))
      try await world.pause()
      let cancelled = try await world.enqueue(SyncWorld.rating("f2"), key: "2")
      #expect(try Self.keepsCredential(of: cancelled, world.larder))
      let answer = try await world.command("/v1/mutations/\(cancelled)", method: "DELETE")
      #expect(answer.body["state"] == "cancelled")
      #expect(try !Self.keepsCredential(of: cancelled, world.larder))
      let replaced = try await world.enqueue(SyncWorld.rating("f3"), key: "3")
      let newer = try await world.enqueue(SyncWorld.rating("f3", stars: 1), key: "4")
      #expect(try !Self.keepsCredential(of: replaced, world.larder))
      #expect(try Self.keepsCredential(of: newer, world.larder))
      await world.stop()
    }

    @Test("A queued credential is deleted when its user signs out")
    func credentialIsDeletedAtSignOut() async throws {
      let larder = try await AccountTests.start(settings: "queue: {onLogout: drop}")
      let session = try await AccountTests.signUp(larder)
      let world = try await SyncWorld(larder)
      try await world.pause()
      let id = try await world.enqueue(SyncWorld.rating("f1"), key: "1", as: session.bearer)
      #expect(try Self.keepsCredential(of: id, larder))
      let out = try await larder.post(
        "/v1/auth/sign-out", AccountTests.refreshBody(session.refresh), world.device)
      #expect(out.status == 204, "\(out.text)")
      #expect(try await world.mutation(id)["state"] == "discarded")
      #expect(try !Self.keepsCredential(of: id, larder))
      await larder.stop()
    }

    @Test("Only a credential of the same user replaces a queued one")
    func onlyTheSameUserReplacesACredential() async throws {
      let larder = try await AccountTests.start()
      let demo = larder.demo
      let ada = try await AccountTests.signUp(larder)
      let eve = try await AccountTests.signUp(larder, "eve")
      let world = try await SyncWorld(larder)
      try await demo.change { $0.fail = .status(401) }
      let id = try await world.enqueue(SyncWorld.rating("f1"), key: "1", as: ada.bearer)
      _ = try await eventually {
        try await world.queue()
      } until: {
        $0["state"] == "auth_required"
      }
      try await demo.change { $0.fail = .off }
      let asked = demo.report["RateFilm"].requests
      let refused = try await larder.get("/v1/queue", world.device, eve.bearer)
      #expect(try AccountTests.code(refused) == "device_of_another_user")
      // Opaque tokens have no known user.
      for _ in 0..<3 {
        _ = try await larder.get("/v1/queue", world.device, ("Authorization", "Bearer opaque"))
        #expect(try await world.queue()["state"] == "auth_required")
      }
      #expect(demo.report["RateFilm"].requests == asked)
      let renewed = try AccountTests.Session(
        try await larder.post("/v1/auth/refresh", AccountTests.refreshBody(ada.refresh)))
      _ = try await larder.get("/v1/queue", world.device, renewed.bearer)
      let told = try await world.mutation(id, wait: 10)
      #expect(told["state"] == "applied", "\(told)")
      #expect(demo.report.recent.last?["authorization"] == renewed.bearer.1)
      await larder.stop()
    }
  }
}
