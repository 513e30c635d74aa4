import Cryptography
import Foundation
import LosslessJSON
import Model
import Testing

@testable import Storage

struct DatabaseRestoreTests {
  private static let key = SymmetricKey(data: [UInt8](repeating: 7, count: 32))
  private static let sealing = BackupSealing(key: key) { UInt64.random(in: 0...UInt64.max) }
  private static let marker = StoreMarker(folder: "abc", keyDigest: "digest")

  private let target = TemporaryFolder()
  private let backups = TemporaryFolder()
  private var aside: String { "\(target.path)/replaced-1" }
  private var markerPath: String { "\(target.path)/larder.id" }

  init() throws {
    for folder in [target, backups] {
      try FileManager.default.createDirectory(
        atPath: folder.path, withIntermediateDirectories: true)
    }
  }

  /// A backup of a store with one film.
  private func backup(
    title: String = "Kept", sealing: BackupSealing? = nil, marker: StoreMarker? = marker
  ) async throws -> String {
    let fixture = try StoreFixture()
    defer { fixture.store.close() }
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1).film("1", ["title": .string(title)]).build())
    if let marker { try await fixture.store.setMarker(marker) }
    let path = "\(backups.path)/\(title).sqlite"
    try await fixture.store.backUp(to: path, sealing: sealing)
    return path
  }

  private func restore(
    _ backup: String, key: SymmetricKey? = nil, replacing: Bool = false
  ) throws(RestoreError) -> Bool {
    try DatabaseRestore(of: backup, into: target.path, key: key)
      .place(replacing: replacing, aside: aside)
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: target.path).sorted()
  }

  private func title() async throws -> String? {
    let fixture = try StoreFixture(target, segment: 5)
    defer { fixture.store.close() }
    return try await fixture.title(of: "1")
  }

  @Test(
    "A backup becomes the database of an empty folder, encrypted or not", arguments: [true, false])
  func restoresIntoEmptyFolders(isSealed: Bool) async throws {
    let path = try await backup(sealing: isSealed ? Self.sealing : nil)
    let seen = ProgressMarks()
    let restore = try DatabaseRestore(
      of: path, into: target.path, key: Self.key, progress: seen.progress)
    #expect(restore.marker == Self.marker)
    #expect(restore.inspection.statistics?.tables.first { $0.type == "Film" }?.entities == 1)
    #expect(try restore.place(replacing: false, aside: aside) == false)
    #expect(seen.last == 1)
    #expect(try names() == ["larder.id", "larder.lock", "larder.sqlite"])
    #expect(try String(contentsOfFile: markerPath, encoding: .utf8) == "abc\n")
    let mode =
      try FileManager.default.attributesOfItem(atPath: target.databasePath)[.posixPermissions]
      as? Int
    #expect(mode == 0o600)
    #expect(try await title() == "Kept")
  }

  @Test("A database is replaced only on request, and kept aside with its write-ahead log")
  func keepsTheReplacedDatabase() async throws {
    let former = try StoreFixture(target)
    _ = try await former.store.apply(
      ResponseBuilder(call: 1).film("1", ["title": .string("Former")]).build())
    // The log is as a crash leaves it: not in the database yet.
    let copies = TemporaryFolder()
    try FileManager.default.copyItem(atPath: target.path, toPath: copies.path)
    former.store.close()
    try FileManager.default.removeItem(atPath: target.path)
    try FileManager.default.moveItem(atPath: copies.path, toPath: target.path)
    try Data("old\n".utf8).write(to: URL(filePath: markerPath))
    let before = try names()
    let path = try await backup()
    #expect(throws: RestoreError.hasDatabase) { try restore(path) }
    #expect(try names() == before)
    #expect(try String(contentsOfFile: markerPath, encoding: .utf8) == "old\n")

    #expect(try restore(path, replacing: true))
    #expect(try await title() == "Kept")
    let kept = TemporaryFolder()
    try FileManager.default.moveItem(atPath: aside, toPath: kept.path)
    #expect(FileManager.default.fileExists(atPath: kept.databasePath + "-wal"))
    let again = try StoreFixture(kept, segment: 9)
    #expect(try await again.title(of: "1") == "Former")
    again.store.close()
  }

  @Test("A folder that a service uses is refused and stays as it was")
  func refusesAFolderInUse() async throws {
    let running = try StoreFixture(target)
    let path = try await backup()
    #expect(throws: RestoreError.inUse) { try restore(path, replacing: true) }
    _ = try await running.store.apply(
      ResponseBuilder(call: 1).film("1", ["title": .string("Running")]).build())
    running.store.close()
    #expect(try !names().contains { $0.contains("restore") || $0.contains("replaced") })
    #expect(try await title() == "Running")
  }

  @Test("A file that is no sound backup is refused before anything is changed")
  func refusesOtherFiles() async throws {
    let sound = try Data(contentsOf: URL(filePath: try await backup(title: "Sound")))
    func file(_ name: String, _ data: Data) throws -> String {
      let path = "\(backups.path)/\(name)"
      try data.write(to: URL(filePath: path))
      return path
    }
    #expect(throws: RestoreError.notADatabase) { try restore(try file("empty", Data())) }
    #expect(throws: RestoreError.notADatabase) {
      try restore(try file("text", Data(repeating: 65, count: 9_000)))
    }
    #expect(throws: RestoreError.self) {
      try restore(try file("cut", sound.prefix(sound.count / 2)))
    }
    // A page in the middle is overwritten.
    var damaged = sound
    let middle = damaged.count / 2 / 4_096 * 4_096
    damaged.replaceSubrange(middle..<middle + 4_096, with: Data(repeating: 0xFF, count: 4_096))
    #expect(throws: RestoreError.self) { try restore(try file("damaged", damaged)) }
    let open = try file("open.sqlite", sound)
    _ = try file("open.sqlite-wal", Data(repeating: 1, count: 100))
    #expect(throws: RestoreError.hasLog) { try restore(open) }
    #expect(throws: RestoreError.self) { try restore("\(backups.path)/nothing") }
    #expect(try names() == [])
  }

  @Test("An encrypted backup needs its key")
  func needsTheKey() async throws {
    let path = try await backup(sealing: Self.sealing)
    let other = SymmetricKey(data: [UInt8](repeating: 8, count: 32))
    #expect(throws: RestoreError.needsKey) { try restore(path) }
    #expect(throws: RestoreError.notAuthentic) { try restore(path, key: other) }
    #expect(try names() == [])
  }

  @Test("A backup without a marker leaves none in the folder")
  func restoresWithoutMarker() async throws {
    try Data("old\n".utf8).write(to: URL(filePath: markerPath))
    #expect(try restore(try await backup(marker: nil)) == false)
    #expect(try names() == ["larder.lock", "larder.sqlite"])
    #expect(try await title() == "Kept")
  }

  @Test("What a failed exchange moved is moved back")
  func undoesAFailedExchange() async throws {
    let former = try StoreFixture(target)
    _ = try await former.store.apply(
      ResponseBuilder(call: 1).film("1", ["title": .string("Former")]).build())
    former.store.close()
    try Data("old\n".utf8).write(to: URL(filePath: markerPath))
    let prepared = try DatabaseRestore(of: try await backup(), into: target.path, key: nil)
    // The copy is gone before it is renamed, as after a hasty clean-up.
    try FileManager.default.removeItem(atPath: "\(target.databasePath).restore/copy.sqlite")
    #expect(throws: RestoreError.self) { try prepared.place(replacing: true, aside: aside) }
    #expect(!FileManager.default.fileExists(atPath: aside))
    #expect(try String(contentsOfFile: markerPath, encoding: .utf8) == "old\n")
    try FileManager.default.removeItem(atPath: markerPath)
    #expect(try await title() == "Former")
  }

  @Test("The work folder that a crash left is removed by the next start")
  func nextStartRemovesLeftovers() async throws {
    let left = "\(target.databasePath).restore"
    try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: true)
    try Data("half".utf8).write(to: URL(filePath: "\(left)/copy.sqlite"))
    try StoreFixture(target).store.close()
    #expect(!FileManager.default.fileExists(atPath: left))
  }

  @Test("Progress of a backup ends where it is whole")
  func reportsProgressOfBackups() async throws {
    let fixture = try StoreFixture()
    for id in 1...50 { try await BackupTests.write(id, to: fixture.store) }
    fixture.store.close()
    let seen = ProgressMarks()
    try Store.backUp(
      folder: fixture.folder.path, to: "\(backups.path)/sealed", sealing: Self.sealing,
      progress: seen.progress)
    #expect(seen.last == 1)
  }
}

/// The progress that long work reported.
// SAFETY: the work under test reports on the thread that waits for it.
private final class ProgressMarks: @unchecked Sendable {
  private var marks: [Double] = []

  var progress: WorkProgress {
    WorkProgress { [self] done, total in marks.append(Double(done) / Double(total)) }
  }

  var last: Double? { marks.last }
}
