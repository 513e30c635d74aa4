import Composition
import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// `data.encryption` over sockets: what clients get is the same, and what lies on the disk is not.
  struct EncryptionTests {
    private static let key = String(repeating: "5c", count: 32)
    private static let otherKey = String(repeating: "c5", count: 32)
    private static let settings = "files: {buckets: {pics: {access: public-read}}}"
    private static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")
    private static let phrase = "the cherry orchard is sold; "
    /// Long enough for several frames and pieces.
    private static let content = String(repeating: phrase, count: 25_000)

    private static func start() async throws -> RunningLarder {
      try await RunningLarder.start(
        settings: settings, isEncrypted: true, environment: ["LARDER_KEY": key])
    }

    private static func put(_ larder: RunningLarder, _ key: String, _ body: String) async throws {
      let stored = try await larder.request(
        "PUT", "/v1/files/pics/\(key)", headers: [admin, ("Content-Type", "text/plain")],
        body: body)
      #expect(stored.status == 201, "\(stored.text)")
    }

    /// The files below a folder of the data folder in which a text occurs.
    private static func files(of larder: RunningLarder, in part: String, with text: String) throws
      -> [String]
    {
      let folder = "\(larder.folder)/data/\(part)"
      return try FileManager.default.subpathsOfDirectory(atPath: folder).filter { name in
        var isFolder: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder)
        guard !isFolder.boolValue else { return false }
        return try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
          .range(of: Data(text.utf8)) != nil
      }
    }

    private static func loaded(
      _ larder: RunningLarder, data: String? = nil, isEncrypted: Bool = true
    ) throws -> Settings {
      let path = data ?? "\(larder.folder)/data"
      return try Settings.load(
        from: SettingsSources(
          file: .init(
            name: "\(larder.folder)/larder.yaml",
            text: "data: {path: \(path), encryption: \(isEncrypted)}"))
      ).settings
    }

    @Test("Objects, ranges, tags and copies are served as without encryption")
    func objectsAreTheSame() async throws {
      let larder = try await Self.start()
      try await Self.put(larder, "long", Self.content)
      try await Self.put(larder, "short", Self.phrase)
      let whole = try await larder.get("/v1/files/pics/long")
      #expect(whole.status == 200 && whole.text == Self.content)
      #expect(whole["content-length"] == "\(Self.content.utf8.count)")
      let short = try await larder.get("/v1/files/pics/short")
      #expect(short.text == Self.phrase)
      let bytes = Array(Self.content.utf8)
      for (first, last) in [(0, 0), (65_535, 65_536), (10, 20_000), (100_000, 699_999)] {
        let part = try await larder.get("/v1/files/pics/long", ("Range", "bytes=\(first)-\(last)"))
        #expect(part.status == 206)
        #expect(part.body == Array(bytes[first...last]), "\(first)-\(last)")
        #expect(part["content-range"] == "bytes \(first)-\(last)/\(bytes.count)")
        #expect(part["etag"] == whole["etag"])
      }
      let unchanged = try await larder.get(
        "/v1/files/pics/long", ("If-None-Match", whole["etag"] ?? ""))
      #expect(unchanged.status == 304)
      let head = try await larder.request("HEAD", "/v1/files/pics/long")
      #expect(head["content-length"] == "\(bytes.count)")
      await larder.stopService()
      try await larder.startService()
      #expect(try await larder.get("/v1/files/pics/long").text == Self.content)
      await larder.stop()
    }

    @Test("Neither files nor backups have a word of what is stored")
    func nothingIsPlain() async throws {
      let larder = try await Self.start()
      try await Self.put(larder, "long", Self.content)
      try await Self.put(larder, "short", Self.phrase)
      let film = try await larder.get("/api/films/f1")
      let title = try #require(
        try JSONValue(parsing: film.body)["data"]?["film"]?["title"]?.string, "\(film.text)")
      let made = try await larder.request(
        "POST", "/v1/admin/backup", headers: [Self.admin], body: #"{"name":"nightly"}"#)
      #expect(made.status == 201, "\(made.text)")
      #expect(try JSONValue(parsing: made.body)["file"] == "backups/nightly.sqlite.enc")
      #expect(try Self.files(of: larder, in: "files", with: "cherry orchard") == [])
      for text in [title, "cherry orchard", "entity_Film", "SQLite format 3"] {
        #expect(try Self.files(of: larder, in: "backups", with: text) == [], "\(text)")
      }
      // The search finds what is plain: the database holds the title.
      await larder.stopService()
      #expect(try !Self.files(of: larder, in: ".", with: title).isEmpty)
      #expect(larder.log.lines.contains { $0.message.contains("the database is not") })
      await larder.stop()
    }

    @Test("A backup is restored with the key, and with no other")
    func backupsAreRestored() async throws {
      let larder = try await Self.start()
      let film = try await larder.get("/api/films/f1")
      let settings = try Self.loaded(larder)
      let backup = try BackupCommand(
        settings, path: nil, environment: ["LARDER_KEY": Self.key]
      ).run()
      #expect(backup.hasSuffix(".sqlite.enc"))
      #expect(throws: StartFailure.self) {
        try BackupCommand(
          settings, path: nil, environment: ["LARDER_KEY": Self.otherKey]
        ).run()
      }
      let restored = "\(larder.folder)/restored"
      try FileManager.default.createDirectory(
        atPath: restored, withIntermediateDirectories: false)
      #expect(throws: StartFailure.self) {
        try DecryptBackupCommand(
          source: backup, target: "\(restored)/larder.sqlite",
          environment: ["LARDER_KEY": Self.otherKey]
        ).run()
      }
      _ = try DecryptBackupCommand(
        source: backup, target: "\(restored)/larder.sqlite",
        environment: ["LARDER_KEY": Self.key]
      ).run()
      await larder.stop()
      let again = try await RunningLarder.start(
        settings: Self.settings, upstream: "http://127.0.0.1:9/graphql", data: restored,
        isEncrypted: true, environment: ["LARDER_KEY": Self.key])
      #expect(try await again.get("/api/films/f1").text == film.text)
      await again.stop()
    }

    @Test("A start without the setting, without the key or with another one says what to do")
    func otherFormsAreRefused() async throws {
      let larder = try await Self.start()
      try await Self.put(larder, "short", Self.phrase)
      await larder.stopService()
      func fault() async throws -> String {
        do {
          try await larder.startService()
          await larder.stopService()
          return "started"
        } catch let failure as StartFailure {
          return failure.description
        }
      }
      larder.environment = [:]
      #expect(try await fault().contains("LARDER_KEY"))
      larder.environment = ["LARDER_KEY": Self.otherKey]
      #expect(try await fault().contains("not the one that sealed"))
      larder.environment = ["LARDER_KEY": Self.key]
      larder.isEncrypted = false
      #expect(try await fault().contains("convert-files"))
      let environment = ["LARDER_KEY": Self.key]
      let done = try ConvertFilesCommand(
        try Self.loaded(larder, isEncrypted: false), environment: environment
      ).run()
      #expect(done.hasPrefix("1 file "), "\(done)")
      #expect(try await fault() == "started")
      #expect(try Self.files(of: larder, in: "files", with: "cherry orchard").count == 1)
      larder.isEncrypted = true
      #expect(try await fault().contains("convert-files"))
      _ = try ConvertFilesCommand(try Self.loaded(larder), environment: environment).run()
      #expect(try Self.files(of: larder, in: "files", with: "cherry orchard") == [])
      try await larder.startService()
      #expect(try await larder.get("/v1/files/pics/short").text == Self.phrase)
      // Not while a service runs.
      #expect(throws: StartFailure.self) {
        try ConvertFilesCommand(
          try Self.loaded(larder, isEncrypted: false), environment: environment
        ).run()
      }
      #expect(try await larder.get("/v1/files/pics/short").text == Self.phrase)
      await larder.stop()
    }
  }
}
