import Foundation
import LosslessJSON
import Model
import Storage
import Testing

struct BackupTests {
  let target = TemporaryFolder()

  init() throws {
    try FileManager.default.createDirectory(
      atPath: target.path, withIntermediateDirectories: true)
  }

  static func write(_ id: Int, to store: Store) async throws {
    _ = try await store.apply(
      ResponseBuilder(call: Int64(id)).film("\(id)", ["title": .string("Film \(id)")]).build())
  }

  @Test("A backup opens as a store")
  func backupOpensAsStore() async throws {
    let fixture = try StoreFixture()
    try await Self.write(1, to: fixture.store)
    try await fixture.store.register(DeviceTests.phone("d_1"), tokenDigest: "one")
    try await fixture.store.backUp(to: target.databasePath)
    try await Self.write(2, to: fixture.store)
    let inspection = try Store.inspect(folder: target.path)
    #expect(inspection.problems.isEmpty)
    #expect(inspection.statistics?.tables.first { $0.type == "Film" }?.entities == 1)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: target.path) == ["larder.sqlite"])
    let mode =
      try FileManager.default.attributesOfItem(atPath: target.databasePath)[.posixPermissions]
      as? Int
    #expect(mode == 0o600)
    let copy = try StoreFixture(target, segment: 2)
    defer { copy.store.close() }
    #expect(try await copy.title(of: "1") == "Film 1")
    #expect(try await copy.title(of: "2") == nil)
    #expect(try await copy.store.device(tokenDigest: "one")?.id == "d_1")
    // The copy continues after its last revision: writes must not reuse revisions.
    try await Self.write(3, to: copy.store)
    #expect(try await copy.title(of: "3") == "Film 3")
  }

  @Test("A backup never overwrites a file")
  func existingFileIsKept() async throws {
    let fixture = try StoreFixture()
    try Data("precious".utf8).write(to: URL(filePath: target.databasePath))
    await #expect(throws: BackupError.exists) {
      try await fixture.store.backUp(to: target.databasePath)
    }
    #expect(
      FileManager.default.contents(atPath: target.databasePath) == Data("precious".utf8))
    #expect(throws: BackupError.exists) {
      try Store.backUp(folder: fixture.folder.path, to: target.databasePath)
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: target.path) == ["larder.sqlite"])
  }

  @Test("A backup to a missing folder fails with an error")
  func missingFolderFails() async throws {
    let fixture = try StoreFixture()
    await #expect {
      try await fixture.store.backUp(to: "\(target.path)/none/copy.sqlite")
    } throws: { error in
      guard case .some(.cannotWrite) = error as? BackupError else { return false }
      return true
    }
  }

  /// Each write is either completely in the copy or not at all, and none waits for the backup.
  @Test("Writes continue while a backup is made")
  func writesContinue() async throws {
    let fixture = try StoreFixture()
    for id in 1...200 { try await Self.write(id, to: fixture.store) }
    async let backup: Void = fixture.store.backUp(to: target.databasePath)
    for id in 201...400 { try await Self.write(id, to: fixture.store) }
    try await backup
    let inspection = try Store.inspect(folder: target.path)
    let statistics = try #require(inspection.statistics)
    #expect(inspection.problems.isEmpty)
    let films = try #require(statistics.tables.first { $0.type == "Film" }).entities
    #expect(200...400 ~= films)
    #expect(statistics.changes == films)
    #expect(statistics.head == Revision(Int64(films)))
  }

  @Test(
    "A data folder is copied whether a service uses it or not",
    arguments: [true, false])
  func dataFolderIsCopied(isInUse: Bool) async throws {
    let fixture = try StoreFixture()
    try await Self.write(1, to: fixture.store)
    if !isInUse { fixture.store.close() }
    try Store.backUp(folder: fixture.folder.path, to: "\(target.path)/it's a copy.sqlite")
    if isInUse { fixture.store.close() }
    try FileManager.default.moveItem(
      atPath: "\(target.path)/it's a copy.sqlite", toPath: target.databasePath)
    let copy = try StoreFixture(target, segment: 2)
    defer { copy.store.close() }
    #expect(try await copy.title(of: "1") == "Film 1")
    // The source folder is unchanged.
    let again = try StoreFixture(fixture.folder, segment: 3)
    defer { again.store.close() }
    #expect(try await again.title(of: "1") == "Film 1")
  }
}
