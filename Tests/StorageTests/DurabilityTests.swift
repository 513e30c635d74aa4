import Foundation
import GRDB
import LosslessJSON
import Model
import Storage
import Testing

struct DurabilityTests {
  private static func film(_ call: Int64, _ title: String = "A") -> NormalisedResponse {
    ResponseBuilder(call: call).film("\(call)", ["title": .string(title)]).build()
  }

  @Test("Counters and segments are kept across boots")
  func keepsCountersAndSegmentsAcrossBoots() async throws {
    let folder = TemporaryFolder()
    let first = try StoreFixture(folder, segment: 11)
    #expect(first.store.lastCall == .none)
    #expect(first.store.segments == [Segment(nonce: 11, start: .zero)])
    _ = try await first.store.apply(Self.film(7))
    first.store.close()
    let second = try StoreFixture(folder, segment: .max)
    defer { second.store.close() }
    #expect(second.store.lastCall == CallNumber(7))
    #expect(second.store.head == Revision(1))
    #expect(
      second.store.segments == [
        Segment(nonce: 11, start: .zero), Segment(nonce: .max, start: Revision(1)),
      ])
    #expect(try await second.title(of: "7") == "A")
  }

  @Test("Closing checkpoints the log and releases the folder")
  func closingCheckpointsAndReleasesTheFolder() async throws {
    let folder = TemporaryFolder()
    let fixture = try StoreFixture(folder)
    _ = try await fixture.store.apply(Self.film(1))
    fixture.store.close()
    let log = try? FileManager.default.attributesOfItem(atPath: folder.databasePath + "-wal")
    #expect((log?[.size] as? Int ?? 0) == 0)
    await #expect(throws: StorageError.closed) {
      _ = try await fixture.store.apply(Self.film(2))
    }
    await #expect(throws: StorageError.closed) {
      _ = try await fixture.store.entity(.film("1"), viewer: .anonymous)
    }
  }

  @Test("Only one store at a time can hold a folder")
  func aFolderIsHeldByOneStore() throws {
    let folder = TemporaryFolder()
    let fixture = try StoreFixture(folder)
    #expect(throws: StorageError.inUse(folder: folder.path)) {
      _ = try StoreFixture(folder, segment: 2)
    }
    fixture.store.close()
    try StoreFixture(folder, segment: 3).store.close()
  }

  @Test("The folder and its files are accessible to their owner only")
  func filesAreAccessibleToTheirOwnerOnly() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(Self.film(1))
    func mode(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    #expect(try mode(fixture.folder.path) == 0o700)
    for suffix in ["", "-wal", "-shm"] {
      #expect(try mode(fixture.folder.databasePath + suffix) == 0o600, "\(suffix)")
    }
  }

  /// A kill leaves the files as they are: copied while the store is open, they open with every
  /// commit that was reported, whole.
  @Test("Every reported commit survives a kill, whole")
  func everyReportedCommitSurvivesAKill() async throws {
    let fixture = try StoreFixture()
    let copy = TemporaryFolder()
    try FileManager.default.createDirectory(atPath: copy.path, withIntermediateDirectories: true)
    for call in 1...50 as ClosedRange<Int64> {
      let response = ResponseBuilder(call: call).film("\(call)", ["title": "A"])
        .entity(.person("\(call)"), ["id": "x"])
      _ = try await fixture.store.apply(response.build())
    }
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(
        atPath: fixture.folder.databasePath + suffix, toPath: copy.databasePath + suffix)
    }
    // A crash in the middle of a commit leaves an incomplete last frame.
    let log = try FileHandle(forWritingTo: URL(fileURLWithPath: copy.databasePath + "-wal"))
    try log.seekToEnd()
    try log.write(contentsOf: Data(repeating: 0x55, count: 3000))
    try log.close()
    let revived = try StoreFixture(copy, segment: 2)
    defer { revived.store.close() }
    #expect(revived.store.head == Revision(50))
    #expect(revived.store.lastCall == CallNumber(50))
    let tables = try await revived.store.statistics().tables
    #expect(tables.map(\.entities) == [50, 50])
  }

  @Test("A failed command does not affect others in its batch")
  func aFailedCommandAffectsNoOther() async throws {
    let fixture = try StoreFixture()
    let store = fixture.store
    await withTaskGroup(of: Void.self) { group in
      for call in 1...200 as ClosedRange<Int64> {
        group.addTask {
          let bad = ResponseBuilder(call: call).film("\(call)", ["title": "A"])
            .entity(EntityKey(type: "Unknown", key: "1"), [:])
          let response = call % 5 == 0 ? bad.build() : Self.film(call)
          let report = try? await store.apply(response)
          #expect((report == nil) == (call % 5 == 0))
        }
      }
    }
    let statistics = try await store.statistics()
    #expect(statistics.tables.first?.entities == 160)
    #expect(statistics.changes == 160)
    #expect(statistics.head == Revision(160))
  }

  /// Each commit is a page or more, so a log that is never checkpointed would have grown to
  /// megabytes.
  @Test("The write-ahead log is checkpointed and reused instead of growing")
  func theLogIsCheckpointedAndReused() async throws {
    let folder = TemporaryFolder()
    var configuration = StoreConfiguration(
      folder: folder.path, segment: 1, opened: Timestamp(milliseconds: 0))
    configuration.checkpointPages = 50
    let store = try Store.open(configuration, types: StoreFixture.types)
    func logBytes() throws -> Int {
      let log = try FileManager.default.attributesOfItem(atPath: folder.databasePath + "-wal")
      return try #require(log[.size] as? Int)
    }
    // Creating the tables writes more pages than the commits between two checkpoints do.
    let opened = try logBytes()
    for call in 1...500 as ClosedRange<Int64> { _ = try await store.apply(Self.film(call)) }
    let bytes = try logBytes()
    #expect(bytes > 0 && bytes < opened + 500_000, "\(opened), then \(bytes)")
  }

  @Test("Reads work while writes are refused")
  func readsGoOnWhileWritesAreRefused() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(Self.film(1))
    var settings = Configuration()
    settings.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: fixture.folder.databasePath, configuration: settings)
    try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    let blocked = await #expect(throws: StorageError.self) {
      _ = try await fixture.store.apply(Self.film(2))
    }
    #expect(try await fixture.title(of: "1") == "A")
    try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    guard case .failed(let code, _) = blocked else {
      Issue.record("\(String(describing: blocked))")
      return
    }
    #expect(code & 0xFF == 5)
    try await fixture.store.probe()
    let report = try await fixture.store.apply(Self.film(3))
    #expect(report.revision == Revision(2))
  }

  @Test("Observers receive commits in order, before their callers resume")
  func observersSeeCommitsInOrderBeforeCallersResume() async throws {
    let fixture = try StoreFixture()
    let recorder = ReportRecorder()
    fixture.store.observe { recorder.note($0) }
    let store = fixture.store
    await withTaskGroup(of: Void.self) { group in
      for call in 1...50 as ClosedRange<Int64> {
        group.addTask {
          guard let revision = try? await store.apply(Self.film(call)).revision else {
            Issue.record("not applied")
            return
          }
          #expect(recorder.revisions.contains(revision))
        }
      }
    }
    #expect(recorder.revisions == (1...50).map(Revision.init))
  }
}
