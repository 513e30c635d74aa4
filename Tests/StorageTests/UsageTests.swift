import Filtering
import Foundation
import GRDB
import LosslessJSON
import Model
import SyncScheduler
import Testing

@testable import Storage

/// The counted bytes of each owner, compared with the tables.
struct UsageTests {
  private let folder = TemporaryFolder()

  private func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
    var settings = Configuration()
    settings.readonly = true
    return try DatabaseQueue(path: folder.databasePath, configuration: settings).read(body)
  }

  /// Returns the counts by kind of scope and subject, without owners of zero bytes.
  private func counted() throws -> [String: Int] {
    try read { db in
      try Row.fetchAll(db, sql: "SELECT kind, subject, bytes FROM owner_usage WHERE bytes <> 0")
        .reduce(into: [:]) { $0["\($1["kind"] as Int) \($1["subject"] as String)"] = $1["bytes"] }
    }
  }

  private func unbound() throws -> Int {
    try read { try Int.fetchOne($0, sql: "SELECT bytes FROM unbound_usage") ?? -1 }
  }

  /// Returns the same by scanning every row, as no write does.
  private func recounted(types: [String]) throws -> [String: Int] {
    let queue = [
      "mutation": [
        "idempotency_key", "object_key", "footprint", "variables", "partitions", "user_credential",
        "result",
      ],
      "overlay": ["key", "fields"], "temporary_id": ["temporary", "key"],
    ].map { table, columns in
      "SELECT 2 AS kind, device AS subject, 512"
        + columns.map { " + coalesce(length(CAST(\($0) AS BLOB)), 0)" }.joined()
        + " AS bytes FROM \(table)"
    }.joined(separator: " UNION ALL ")
    let rows = types.map { type in
      """
       UNION ALL SELECT scope.kind, scope.subject, 512 + length(CAST(stored.key AS BLOB)) \
      + coalesce(length(CAST(stored.fields AS BLOB)), 0) FROM entity_\(type) AS stored \
      JOIN scope ON scope.id = stored.scope \
      WHERE scope.kind = 2 OR scope.division = 'own'
      """
    }.joined()
    return try read { db in
      try Row.fetchAll(
        db,
        sql: "SELECT kind, subject, sum(bytes) AS sum FROM (\(queue)\(rows)) GROUP BY kind, subject"
      ).reduce(into: [:]) { $0["\($1["kind"] as Int) \($1["subject"] as String)"] = $1["sum"] }
    }
  }

  private func logBytes() throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder.databasePath)-wal")
    return try #require(attributes[.size] as? Int)
  }

  // MARK: Queues

  @Test("A temporary id that resolves to another entity later is counted once")
  func aTemporaryIDIsCountedOnce() async throws {
    let world = try await QueueWorld(folder)
    let id = try #require(TemporaryID("~01ARZ3NDEKTSV4RRFFQ69G5FAV"))
    for key in ["1", "a longer key", "2"] {
      try await world.store.writer.write { db, _ in
        try TemporaryIDRows(database: db, device: "d_1").insert(
          [id: .film(key)], at: Timestamp(milliseconds: 1))
      }
      #expect(try counted() == recounted(types: []), "\(key)")
    }
    #expect(try counted()["2 d_1"] == 512 + 27 + 1)
  }

  @Test("A device over its quota is refused, and its queue stays")
  func aQueueHasAQuota() async throws {
    var world = try await QueueWorld(folder)
    let variables = #"{"id":"1","text":"\#(String(repeating: "é", count: 1_000))"}"#
    world.policy.quota = DataQuota(ownerBytesMax: 4_000, unboundBytesMax: .max)
    _ = try await world.enqueue(QueueWorld.arrival("a", variables: variables)).get()
    let used = try counted()
    #expect(try used == recounted(types: []) && used["2 d_1", default: 0] > variables.utf8.count)
    let refused = try await world.enqueue(
      QueueWorld.arrival("b", object: .film("2"), variables: variables))
    #expect(throws: ArrivalRefusal.overQuota(.owner(bytesMax: 4_000), index: 0)) {
      try refused.get()
    }
    // Nothing of the batch is stored, and the queue in memory equals that on disk.
    let list = try await world.enqueue(
      QueueWorld.arrival("c", object: .film("3")),
      QueueWorld.arrival("d", object: .film("4"), variables: variables))
    #expect(throws: ArrivalRefusal.overQuota(.owner(bytesMax: 4_000), index: 1)) { try list.get() }
    #expect(try counted() == used)
    _ = try await world.enqueue(QueueWorld.arrival("e", object: .film("5"))).get()
    #expect(try counted() == recounted(types: []))
  }

  @Test("Results and outcomes of mutations are counted, and a removed device has no bytes")
  func countsFollowTheQueue() async throws {
    let world = try await QueueWorld(folder)
    for key in ["a", "b"] {
      _ = try await world.enqueue(QueueWorld.arrival(key, object: .film(key))).get()
    }
    let claimed = try #require(try await world.claim("a"))
    try await world.settle(claimed, as: .permanent)
    let counts = try counted()
    #expect(try counts == recounted(types: []) && counts.count == 1)
    #expect(try unbound() == counts["2 d_1"])
    #expect(try await world.store.remove(device: QueueWorld.device))
    #expect(try counted().isEmpty)
    #expect(try unbound() == 0)
    #expect(try await world.fixture.count("owner_usage") == 0)
  }

  @Test("Devices without a user share a quota, and signing in takes a device out of it")
  func devicesWithoutAUserShareAQuota() async throws {
    var world = try await QueueWorld(folder)
    try await world.store.register(DeviceTests.phone("d_2"), tokenDigest: "two")
    world.policy.quota = DataQuota(ownerBytesMax: .max, unboundBytesMax: 1_000)
    _ = try await world.enqueue(QueueWorld.arrival("a")).get()
    let second = try await world.store.enqueue(
      [QueueWorld.arrival("b", variables: #"{"text":"\#(String(repeating: "x", count: 600))"}"#)],
      of: "d_2", timing: world.timing)
    #expect(throws: ArrivalRefusal.overQuota(.unbound(bytesMax: 1_000), index: 0)) {
      try second.get()
    }
    _ = try await world.store.bind(device: "d_2", to: "ada")
    let signedIn = try await world.store.enqueue(
      [QueueWorld.arrival("b", variables: #"{"text":"\#(String(repeating: "x", count: 600))"}"#)],
      of: "d_2", timing: world.timing)
    #expect(try signedIn.get().answer.count == 1)
    #expect(try unbound() == counted()["2 d_1"])
    _ = try await world.store.bind(device: QueueWorld.device, to: "eve")
    #expect(try unbound() == 0)
  }

  // MARK: Rows

  @Test("A small request that writes many rows is stopped at the quota, not at the end")
  func quotaIsKeptWhileRowsAreWritten() async throws {
    let store = try LocalWorld.open(folder)
    let inserts = (0..<100).map {
      LocalWorld.operation(.insert, LocalWorld.list, "l\($0)", ["title": "short"])
    }
    let quota = DataQuota(ownerBytesMax: 3 << 20, unboundBytesMax: .max)
    try await store.registerDevice()
    _ = try await store.writeLocal(
      inserts, schema: LocalWorld.schema, owner: LocalWorld.owner,
      now: Timestamp(milliseconds: 1), quota: quota
    ).get()
    let long = JSONValue.string(String(repeating: "x", count: 900_000))
    let before = try logBytes()
    let update = LocalOperation(
      .update, LocalWorld.list,
      .filter(
        try Filter("id IS NOT NULL", arguments: .none, type: LocalWorld.list.entityType)),
      body: LocalWorld.operation(.update, LocalWorld.list, "", ["title": long]).body)
    guard
      case .failure(.overQuota) = try await store.writeLocal(
        [update], schema: LocalWorld.schema, owner: LocalWorld.owner,
        now: Timestamp(milliseconds: 2), quota: quota)
    else {
      Issue.record("90 MB were written over a quota of 3")
      return
    }
    #expect(try logBytes() - before < 20 << 20)
  }

  @Test("Rows over the quota are not written, and an owner above it can still delete")
  func rowsHaveAQuota() async throws {
    let store = try LocalWorld.open(folder)
    try await store.registerDevice()
    func write(
      _ operation: LocalOperation, bytesMax: Int
    ) async throws -> Result<WriteCommit, WriteRefusal> {
      try await store.writeLocal(
        [operation], schema: LocalWorld.schema, owner: LocalWorld.owner,
        now: Timestamp(milliseconds: 1),
        quota: DataQuota(ownerBytesMax: bytesMax, unboundBytesMax: .max))
    }
    let long = JSONValue.string(String(repeating: "x", count: 2_000))
    let list = LocalWorld.operation(.insert, LocalWorld.list, "l1", ["title": long])
    _ = try await write(list, bytesMax: 4_000).get()
    let second = LocalWorld.operation(.insert, LocalWorld.list, "l2", ["title": long])
    guard
      case .failure(.overQuota(.owner(bytesMax: 4_000))) = try await write(
        second, bytesMax: 4_000)
    else {
      Issue.record("a row beyond the quota was written")
      return
    }
    #expect(try await store.local("List", "l2") == nil)
    let types = LocalWorld.schema.types.keys.sorted()
    #expect(try counted() == recounted(types: types))
    // The quota was lowered below the stored bytes: the row can shrink and be deleted, not grow.
    let longer = LocalWorld.operation(
      .update, LocalWorld.list, "l1", ["title": .string(String(repeating: "y", count: 2_001))])
    guard case .failure(.overQuota) = try await write(longer, bytesMax: 1_024) else {
      Issue.record("a row beyond the quota grew")
      return
    }
    let shorter = LocalWorld.operation(.update, LocalWorld.list, "l1", ["title": "short"])
    _ = try await write(shorter, bytesMax: 16).get()
    #expect(try counted() == recounted(types: types))
    _ = try await write(LocalWorld.operation(.delete, LocalWorld.list, "l1"), bytesMax: 16).get()
    // The tombstone of the deleted row is kept for a while, and counts.
    #expect(try counted() == recounted(types: types))
    #expect(try counted().values.reduce(0, +) == 512 + "l1".utf8.count)
    store.close()
  }

  @Test("A dropped table is no longer counted")
  func aDroppedTableIsNotCounted() async throws {
    let store = try LocalWorld.open(folder)
    _ = try await store.local(
      LocalWorld.operation(.insert, LocalWorld.list, "l1", ["title": "Food"])
    ).get()
    store.close()
    #expect(try counted().count == 1)
    let without = try StoreFixture(folder, segment: 2)
    try await without.store.dropTable(of: "List")
    #expect(try counted().isEmpty)
    without.store.close()
  }

  @Test("Rows and mutations of an older database are counted when it is opened")
  func existingRowsAreCounted() async throws {
    let store = try LocalWorld.open(folder)
    _ = try await store.local(
      LocalWorld.operation(.insert, LocalWorld.list, "l1", ["title": "Food"])
    ).get()
    store.close()
    let before = try counted()
    #expect(!before.isEmpty)
    try await DatabaseQueue(path: folder.databasePath).write { db in
      for trigger in try String.fetchAll(
        db, sql: "SELECT name FROM sqlite_schema WHERE type = 'trigger'")
      {
        try db.execute(sql: "DROP TRIGGER \(trigger)")
      }
      try db.execute(
        sql: """
          DROP TABLE owner_usage;
          DROP TABLE unbound_usage;
          DELETE FROM grdb_migrations WHERE identifier LIKE '%bytes of owners%';
          """)
    }
    let again = try LocalWorld.open(folder, segment: 2)
    #expect(try counted() == before)
    again.close()
  }

  @Test("A database whose triggers counted less of each row is counted again")
  func olderCountsAreCorrected() async throws {
    let store = try LocalWorld.open(folder)
    for name in ["l1", "l2"] {
      _ = try await store.local(
        LocalWorld.operation(.insert, LocalWorld.list, name, ["title": "Food"])
      ).get()
    }
    _ = try await store.local(LocalWorld.operation(.delete, LocalWorld.list, "l2")).get()
    store.close()
    let before = try counted()
    #expect(try before == recounted(types: LocalWorld.schema.types.keys.sorted()))
    try await DatabaseQueue(path: folder.databasePath).write { db in
      try db.execute(
        sql: """
          UPDATE owner_usage SET bytes = bytes / 2;
          DELETE FROM grdb_migrations WHERE identifier LIKE '%all bytes of owners';
          """)
    }
    #expect(try counted() != before)
    let again = try LocalWorld.open(folder, segment: 2)
    #expect(try counted() == before)
    _ = try await again.local(
      LocalWorld.operation(.insert, LocalWorld.list, "l3", ["title": "More"])
    ).get()
    #expect(try counted() == recounted(types: LocalWorld.schema.types.keys.sorted()))
    again.close()
  }
}
