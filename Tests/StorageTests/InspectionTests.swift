import Foundation
import LosslessJSON
import Model
import Testing

@testable import Storage

struct InspectionTests {
  private static func filled(_ folder: TemporaryFolder = TemporaryFolder()) async throws
    -> StoreFixture
  {
    let fixture = try StoreFixture(folder)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1).film("1", ["title": "A"]).film("2", ["title": "B"])
        .result("Films", root: [:]).build())
    _ = try await fixture.store.apply(ResponseBuilder(call: 2).deleting(.film("2")).build())
    return fixture
  }

  private static func expectFilled(_ inspection: StoreInspection) throws {
    #expect(inspection.problems == [])
    #expect(!inspection.isNewerSchema)
    #expect(inspection.floor == .zero)
    let statistics = try #require(inspection.statistics)
    #expect(statistics.tables.map(\.type) == ["Film", "Person"])
    #expect(statistics.tables.map(\.entities) == [1, 0])
    #expect(statistics.tables.map(\.tombstones) == [1, 0])
    #expect((statistics.results, statistics.changes, statistics.scopes) == (1, 2, 1))
    #expect(statistics.head == Revision(2))
    #expect(statistics.databaseBytes > 4096)
    #expect(statistics.sqliteVersion.hasPrefix("3."))
  }

  /// The names and contents of the folder's files.
  private static func files(
    of folder: TemporaryFolder, except exception: String? = nil
  ) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where exception.map({ !name.hasSuffix($0) }) ?? true {
      files[name] = try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(name)"))
    }
    return files
  }

  @Test("Inspecting the folder of a running service writes nothing")
  func inspectsRunningService() async throws {
    let fixture = try await Self.filled()
    // Within one process SQLite shares the log's index and its read marks.
    let before = try Self.files(of: fixture.folder, except: "-shm")
    let inspection = try Store.inspect(folder: fixture.folder.path)
    #expect(inspection.isInUse)
    #expect(inspection.logBytes > 0)
    try Self.expectFilled(inspection)
    #expect(try Self.files(of: fixture.folder, except: "-shm") == before)
    // The service continues.
    let report = try await fixture.store.apply(
      ResponseBuilder(call: 3).film("3", ["title": "C"]).build())
    #expect(report.revision == Revision(3))
    fixture.store.close()
  }

  @Test("Inspecting a folder that is not in use writes nothing")
  func inspectsIdleFolder() async throws {
    let fixture = try await Self.filled()
    fixture.store.close()
    let before = try Self.files(of: fixture.folder)
    let inspection = try Store.inspect(folder: fixture.folder.path)
    #expect(!inspection.isInUse)
    #expect(inspection.logBytes == 0)
    try Self.expectFilled(inspection)
    #expect(try Self.files(of: fixture.folder) == before)
    try StoreFixture(fixture.folder, segment: 2).store.close()
  }

  /// The state after a kill: a log with its index, and no process with the lock.
  @Test("A folder is inspected after a kill")
  func inspectsAfterKill() async throws {
    let fixture = try await Self.filled()
    let copy = TemporaryFolder()
    try FileManager.default.createDirectory(atPath: copy.path, withIntermediateDirectories: true)
    for suffix in ["", "-wal", "-shm"] {
      try FileManager.default.copyItem(
        atPath: fixture.folder.databasePath + suffix, toPath: copy.databasePath + suffix)
    }
    fixture.store.close()
    let before = try Self.files(of: copy)
    let inspection = try Store.inspect(folder: copy.path)
    #expect(!inspection.isInUse)
    #expect(inspection.logBytes > 0)
    try Self.expectFilled(inspection)
    #expect(try Self.files(of: copy) == before)
  }

  /// What a crash leaves of the log, beside the index of before.
  enum LogRest: CaseIterable {
    /// Its header, and no frame.
    case header
    /// A header that was never written, and a part of a frame.
    case noise
  }

  @Test("A log without a frame that a crash left keeps no start from its database")
  func logsWithoutFrames() async throws {
    for rest in LogRest.allCases {
      let fixture = try await Self.filled()
      let marker = StoreMarker(folder: "own", keyDigest: "digest")
      try await fixture.store.setMarker(marker)
      let log = URL(fileURLWithPath: fixture.folder.databasePath + "-wal")
      let index = URL(fileURLWithPath: fixture.folder.databasePath + "-shm")
      let (header, indexBytes) = (try Data(contentsOf: log).prefix(32), try Data(contentsOf: index))
      try #require(header.count == 32)
      fixture.store.close()
      let left = rest == .header ? Data(header) : Data(repeating: 0xff, count: 100)
      try left.write(to: log)
      try indexBytes.write(to: index)
      if rest == .header {
        let inspection = try Store.inspect(folder: fixture.folder.path)
        #expect(inspection.logBytes == 32)
        try Self.expectFilled(inspection)
        #expect(try Store.marker(folder: fixture.folder.path) == marker)
        #expect(try Data(contentsOf: log) == left)
      }
      var configuration = StoreConfiguration(
        folder: fixture.folder.path, segment: 2, opened: Timestamp(milliseconds: 0))
      configuration.folderMarker = "other"
      #expect(throws: StorageError.otherDatabase(folder: fixture.folder.path)) {
        _ = try Store.open(configuration, types: StoreFixture.types)
      }
      configuration.folderMarker = "own"
      let store = try Store.open(configuration, types: StoreFixture.types)
      #expect(try await store.marker() == marker, "\(rest)")
      store.close()
    }
  }

  @Test("Folder names can contain special characters")
  func specialCharactersInNames() async throws {
    let parent = TemporaryFolder()
    let folder = TemporaryFolder(in: "\(parent.path)/50% #1?mode=rw&x=ł")
    let fixture = try await Self.filled(folder)
    try Self.expectFilled(Store.inspect(folder: "/" + folder.path))
    fixture.store.close()
    try Self.expectFilled(Store.inspect(folder: folder.path))
  }

  @Test("Damage is reported")
  func damageIsReported() async throws {
    let fixture = try StoreFixture()
    for call in 1...50 as ClosedRange<Int64> {
      let title = String(repeating: "\(call)", count: 400)
      _ = try await fixture.store.apply(
        ResponseBuilder(call: call).film("\(call)", ["title": .string(title)]).build())
    }
    fixture.store.close()
    let url = URL(fileURLWithPath: fixture.folder.databasePath)
    var bytes = try Data(contentsOf: url)
    // The header of the last page, which holds rows: its type and the number of its cells.
    bytes.replaceSubrange((bytes.count - 4096)..<(bytes.count - 4080), with: Data(count: 16))
    try bytes.write(to: url)
    let inspection = try Store.inspect(folder: fixture.folder.path)
    #expect(!inspection.problems.isEmpty)
  }

  @Test("An empty folder holds no database")
  func emptyFolder() throws {
    let folder = TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    #expect(
      throws: StorageError.cannotOpen(folder: folder.path, reason: "it holds no database")
    ) { _ = try Store.inspect(folder: folder.path) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test("Another file in place of the database is refused")
  func otherFileIsRefused() throws {
    let folder = TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    try Data("not a database, whatever its name says".utf8).write(
      to: URL(fileURLWithPath: folder.databasePath))
    #expect(throws: StorageError.self) { _ = try Store.inspect(folder: folder.path) }
  }
}
