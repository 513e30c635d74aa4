import Filtering
import Foundation
import GRDB
import LosslessJSON
import Model
import Synchronization
import Testing

@testable import Storage

/// A damaged page is detected by the first access to it.
struct DamageTests {
  private static let film = StoreFixture.types[0]

  /// Returns a store whose table of films cannot be read: its first page is garbage.
  private static func damaged() async throws -> StoreFixture {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1).film("1", ["title": "A", "year": 1990]).build())
    fixture.store.close()
    let (page, size) = try await DatabaseQueue(path: fixture.folder.databasePath)
      .writeWithoutTransaction { db in
        // Everything must be in the file, nothing in the log.
        _ = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        let table = try String.fetchOne(
          db, sql: "SELECT table_name FROM entity_type WHERE name = 'Film'")
        let page = try Int.fetchOne(
          db, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [table])
        return (page ?? 0, try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
      }
    try #require(page > 1 && size > 0)
    let file = try FileHandle(forWritingTo: URL(filePath: fixture.folder.databasePath))
    try file.seek(toOffset: UInt64((page - 1) * size))
    try file.write(contentsOf: Data(repeating: 0xff, count: size))
    try file.close()
    return try StoreFixture(fixture.folder, segment: 2)
  }

  private static let reads: [(name: String, read: @Sendable (Store) async throws -> Void)] = [
    ("one entity", { _ = try await $0.entity(.film("1"), viewer: .anonymous) }),
    (
      "a page in order",
      {
        let order = try EntityOrder("-year", type: DamageTests.film)
        _ = try await $0.page(
          EntityQuery(type: DamageTests.film, order: order, limit: 3), viewer: .anonymous)
      }
    ),
    (
      "members by key",
      {
        _ = try await $0.page(
          EntityQuery(type: DamageTests.film, members: ["1"], limit: 3), viewer: .anonymous)
      }
    ),
  ]

  @Test("Each kind of read that finds damage reports it", arguments: 0..<3)
  func everyReadReportsDamage(index: Int) async throws {
    let fixture = try await Self.damaged()
    #expect(fixture.store.damage == nil)
    let recorder = DamageRecorder()
    fixture.store.observeDamage { recorder.note($0) }
    let error = await #expect(throws: StorageError.self) {
      try await Self.reads[index].read(fixture.store)
    }
    let name = Self.reads[index].name
    if case .corrupt = error {} else { Issue.record("\(name): \(String(describing: error))") }
    #expect(error == fixture.store.damage, "\(name)")
    #expect(recorder.count == 1)
    fixture.store.close()
  }
}

/// Records the errors reported to an observer.
private final class DamageRecorder: Sendable {
  private let errors = Mutex<[StorageError]>([])
  var count: Int { errors.withLock { $0.count } }
  func note(_ error: StorageError) { errors.withLock { $0.append(error) } }
}
