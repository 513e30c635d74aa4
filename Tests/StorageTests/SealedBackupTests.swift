import Cryptography
import Foundation
import LosslessJSON
import Model
import Testing

@testable import Storage

/// Backups that are encrypted.
struct SealedBackupTests {
  private static let key = SymmetricKey(data: [UInt8](repeating: 5, count: 32))
  private static let sealing = BackupSealing(key: key) { UInt64.random(in: 0...UInt64.max) }
  private static let phrase = "the cherry orchard is sold"

  private let target = TemporaryFolder()

  init() throws {
    try FileManager.default.createDirectory(atPath: target.path, withIntermediateDirectories: true)
  }

  private var sealed: String { "\(target.path)/copy.sqlite.enc" }

  private static func write(to store: Store) async throws {
    _ = try await store.apply(
      ResponseBuilder(call: 1).film("1", ["title": .string(phrase)]).build())
  }

  private func backUp(_ fixture: StoreFixture, isOffline: Bool) async throws {
    if isOffline {
      try Store.backUp(folder: fixture.folder.path, to: sealed, sealing: Self.sealing)
    } else {
      try await fixture.store.backUp(to: sealed, sealing: Self.sealing)
    }
  }

  @Test(
    "An encrypted backup shows nothing of the database, and opens as a store once it is decrypted",
    arguments: [true, false])
  func thereAndBack(isOffline: Bool) async throws {
    let fixture = try StoreFixture()
    try await Self.write(to: fixture.store)
    try await backUp(fixture, isOffline: isOffline)
    let files = try FileManager.default.contentsOfDirectory(atPath: target.path)
    #expect(files == ["copy.sqlite.enc"])
    let bytes = try Data(contentsOf: URL(filePath: sealed))
    #expect(bytes.starts(with: Data("LARDERE1".utf8)))
    for plain in [Self.phrase, "SQLite format 3", "CREATE TABLE"] {
      #expect(bytes.range(of: Data(plain.utf8)) == nil, "\(plain)")
    }
    let mode = try FileManager.default.attributesOfItem(atPath: sealed)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    // The copy that was encrypted lay beside the database, and is gone.
    let left = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
    #expect(!left.contains { $0.contains("backup") || $0.contains("partial") }, "\(left)")
    try SealedBackup.open(sealed, to: target.databasePath, key: Self.key)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: target.path).sorted()
        == ["copy.sqlite.enc", "larder.sqlite"])
    let copy = try StoreFixture(target, segment: 2)
    defer { copy.store.close() }
    #expect(try await copy.title(of: "1") == Self.phrase)
  }

  /// What is done to a backup before it is decrypted.
  enum Damage: CaseIterable {
    case otherKey, changed, cut, emptied, plain, missing
  }

  @Test("A backup that is damaged, plain or of another key is refused", arguments: Damage.allCases)
  func refusesDamage(_ damage: Damage) async throws {
    let fixture = try StoreFixture()
    try await Self.write(to: fixture.store)
    try await backUp(fixture, isOffline: false)
    var bytes = Array(try Data(contentsOf: URL(filePath: sealed)))
    var key = Self.key
    var expected = BackupOpeningError.notAuthentic
    switch damage {
    case .otherKey: key = SymmetricKey(data: [UInt8](repeating: 6, count: 32))
    case .changed: bytes[bytes.count / 2] ^= 1
    case .cut: bytes.removeLast(16)
    case .emptied:
      bytes = []
      expected = .notEncrypted
    case .plain:
      bytes = Array("SQLite format 3".utf8) + [UInt8](repeating: 0, count: 5000)
      expected = .notEncrypted
    case .missing: break
    }
    try Data(bytes).write(to: URL(filePath: sealed))
    if damage == .missing { try FileManager.default.removeItem(atPath: sealed) }
    #expect {
      try SealedBackup.open(sealed, to: target.databasePath, key: key)
    } throws: { error in
      if damage == .missing, case .cannotRead = error as? BackupOpeningError { return true }
      return error as? BackupOpeningError == expected
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: target.path)
    #expect(left == (damage == .missing ? [] : ["copy.sqlite.enc"]))
  }

  @Test("Neither a backup nor its decryption overwrites a file")
  func nothingIsOverwritten() async throws {
    let fixture = try StoreFixture()
    try await backUp(fixture, isOffline: false)
    await #expect(throws: BackupError.exists) { try await backUp(fixture, isOffline: false) }
    try Data("precious".utf8).write(to: URL(filePath: target.databasePath))
    #expect(throws: BackupOpeningError.exists) {
      try SealedBackup.open(sealed, to: target.databasePath, key: Self.key)
    }
    #expect(FileManager.default.contents(atPath: target.databasePath) == Data("precious".utf8))
  }

  @Test("Only one encrypted backup is written at a time")
  func oneAtATime() async throws {
    let fixture = try StoreFixture()
    let folder = try #require(
      try BackupWorkFolder.take("\(fixture.folder.databasePath).backup"))
    await #expect(
      throws: BackupError.cannotWrite(reason: "another encrypted backup is being written")
    ) { try await backUp(fixture, isOffline: false) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: target.path) == [])
    #expect(FileManager.default.fileExists(atPath: folder.path))
    folder.remove()
    try await backUp(fixture, isOffline: false)
    #expect(try FileManager.default.contentsOfDirectory(atPath: target.path) == ["copy.sqlite.enc"])
  }

  /// What crashes left, with a copy of the database that is not encrypted.
  private static func leave(_ folder: String) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    for name in ["copy.sqlite", "copy.sqlite-journal", "copy.sqlite.enc"] {
      try Data(phrase.utf8).write(to: URL(filePath: "\(folder)/\(name)"))
    }
  }

  @Test(
    "A start and the next backup remove what a crash left of a backup", arguments: [true, false])
  func leftoversAreRemoved(isOffline: Bool) async throws {
    let fixture = try StoreFixture()
    let plain = "\(fixture.folder.databasePath).backup"
    try Self.leave(plain)
    try Self.leave("\(sealed).partial")
    try await backUp(fixture, isOffline: isOffline)
    #expect(!FileManager.default.fileExists(atPath: plain))
    #expect(try FileManager.default.contentsOfDirectory(atPath: target.path) == ["copy.sqlite.enc"])
    fixture.store.close()
    try Self.leave(plain)
    let again = try StoreFixture(fixture.folder, segment: 2)
    #expect(!FileManager.default.fileExists(atPath: plain))
    again.store.close()
  }

  @Test("Of a folder of backups only what crashes left is removed")
  func othersStay() throws {
    for name in ["left.partial", "used.partial", "mixed.partial"] {
      try Self.leave("\(target.path)/\(name)")
    }
    try Data().write(to: URL(filePath: "\(target.path)/mixed.partial/precious"))
    try Data().write(to: URL(filePath: "\(target.path)/file.partial"))
    let used = try #require(try BackupWorkFolder.take("\(target.path)/used.partial"))
    Store.removeBackupLeftovers(in: target.path)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: target.path).sorted()
        == ["file.partial", "mixed.partial", "used.partial"])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: "\(target.path)/mixed.partial")
        == ["precious"])
    used.remove()
  }
}
