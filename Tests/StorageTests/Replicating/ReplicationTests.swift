import Foundation
import LosslessJSON
import Model
import Synchronization
import TestSupport
import Testing

@testable import Storage

/// A leader's log rows make replicas equal to it, whatever it does.
struct ReplicationTests {
  /// Writes at random.
  private struct Player {
    var generator: SeededGenerator
    var call: Int64 = 0

    mutating func pick(_ range: ClosedRange<Int>) -> Int {
      Int.random(in: range, using: &generator)
    }

    mutating func key() -> EntityKey {
      pick(0...1) == 0 ? .film("\(pick(0...30))") : .person("\(pick(0...30))")
    }

    mutating func scope() -> Scope {
      [Scope.public, .public, .user("u"), .user("v"), .device("d")][pick(0...4)]
    }

    mutating func response() -> NormalisedResponse {
      call += 1
      var builder = ResponseBuilder(
        call: call, horizon: pick(0...3) == 0 ? max(1, call - 2) : call, scope: scope())
      var keys: Set<EntityKey> = []
      for _ in 0...pick(0...5) { keys.insert(key()) }
      for key in keys.sorted(by: { ($0.type, $0.key) < ($1.type, $1.key) }) {
        let words = ["red", "blue \u{0}zero", "grün", "naïve plan", ""]
        var fields: JSONValue = ["title": .string(words[pick(0...4)] + " \(pick(0...9))")]
        if pick(0...2) == 0 { fields["year"] = .number(JSONNumber(pick(1900...2000))) }
        if pick(0...2) == 0 { fields["rating"] = .number(JSONNumber(Double(pick(0...99)) / 7)!) }
        if pick(0...3) == 0 { fields["director"] = .reference(self.key()) }
        if pick(0...3) == 0 { fields["plot"] = .string(words[pick(0...4)]) }
        builder = builder.entity(key, fields)
      }
      if pick(0...5) == 0 { builder = builder.deleting(key()) }
      if pick(0...5) == 0 { builder = builder.absent(key(), isAuthoritative: true) }
      guard pick(0...1) == 0 else { return builder.build() }
      return builder.result(
        "Films", variables: "\(pick(0...5))",
        root: ["films": .array(keys.map(JSONValue.reference))]
      ).build()
    }
  }

  private static func play(_ store: Store, _ player: inout Player) async throws {
    switch player.pick(0...9) {
    case 0...5: _ = try await store.apply(player.response())
    case 6:
      // Several share a transaction.
      let responses = (0..<player.pick(2...6)).map { _ in player.response() }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for response in responses { group.addTask { _ = try await store.apply(response) } }
        try await group.waitForAll()
      }
    case 7:
      player.call += 1
      _ = try await store.purge(
        player.pick(0...3) == 0 ? [.type("Person")] : [.entity(player.key())], in: nil,
        call: CallNumber(player.call), horizon: CallNumber(player.call))
    case 8:
      let id = "d\(player.pick(0...9))"
      if try await store.device(id: id) == nil {
        try await store.register(
          Device(
            id: id, platform: "android", name: "phone \(id)",
            registered: Timestamp(milliseconds: 1),
            lastUsed: Timestamp(milliseconds: 1)), tokenDigest: "digest \(id)")
      } else {
        _ = try await store.remove(device: id)
      }
    default:
      _ = try await store.evict(
        EvictionPolicy(windows: ["Films": .seconds(5)], bytesMax: 0),
        at: Timestamp(milliseconds: 1000 + player.call * 10_000),
        work: EvictionWork(left: player.pick(10...400)))
    }
  }

  @Test(
    "A replica that applied the same rows holds the same tables",
    arguments: 1...8 as ClosedRange<UInt64>)
  func replicasAreEqual(seed: UInt64) async throws {
    let cluster = try ClusterFixture()
    let (folder, replica) = try cluster.replica()
    var player = Player(generator: SeededGenerator(seed: seed))
    for round in 0..<8 {
      for _ in 0..<player.pick(1...12) { try await Self.play(cluster.leader, &player) }
      try await cluster.catchUp(replica)
      let (ours, theirs) = try (
        ClusterFixture.contents(cluster.folder), ClusterFixture.contents(folder)
      )
      #expect(ours["problems"] == ["ok"])
      for name in Set(ours.keys).union(theirs.keys) {
        #expect(ours[name] == theirs[name], "\(name) differs, seed \(seed), round \(round)")
      }
      #expect(replica.position == cluster.leader.position)
      #expect(replica.head == cluster.leader.head)
    }
    #expect(cluster.log.rows.count > 20, "seed \(seed) proves nothing")
    replica.close()
    cluster.leader.close()
  }

  @Test("Tables, columns and indexes that the leader makes come to replicas, which then reopen")
  func schemasFollow() async throws {
    let cluster = try ClusterFixture(types: StoreFixture.types)
    let (folder, replica) = try cluster.replica(types: StoreFixture.types)
    _ = try await cluster.leader.apply(
      ResponseBuilder(call: 1).film("1", ["title": "A", "year": 1999]).build())
    let wider =
      ClusterFixture.types + [
        EntityType(
          name: "Studio", keyFields: ["id"], columns: [.init(name: "id", kind: .text)],
          search: ["name"])
      ]
    try cluster.reopenLeader(types: wider)
    _ = try await cluster.leader.apply(
      ResponseBuilder(call: 2).entity(
        EntityKey(type: "Studio", key: "s"), ["id": "s", "name": "Dawn Pictures"]
      ).build())
    let applied = try #require(try await cluster.catchUp(replica))
    #expect(applied.needsReopening)
    replica.close()
    let reopened = try ClusterFixture.open(folder, .replica, types: wider)
    #expect(try ClusterFixture.contents(cluster.folder) == ClusterFixture.contents(folder))
    #expect(reopened.segments == cluster.leader.segments)
    _ = try await cluster.leader.cleanUpTables()
    try await cluster.catchUp(reopened)
    #expect(try ClusterFixture.contents(cluster.folder) == ClusterFixture.contents(folder))
    reopened.close()
    #expect(throws: StorageError.self) {
      try ClusterFixture.open(
        folder, .replica, types: [EntityType(name: "Other", keyFields: ["id"], columns: [])])
    }
    cluster.leader.close()
  }

  @Test("A replica takes no writes, and reports what the leader's commits touched")
  func replicasReport() async throws {
    let cluster = try ClusterFixture()
    let (folder, replica) = try cluster.replica()
    defer { withExtendedLifetime(folder) {} }
    let seen = Mutex<[CommitReport]>([])
    replica.observe { report in seen.withLock { $0.append(report) } }
    let response = ResponseBuilder(call: 1).film("1", ["title": "A"])
      .result("Films", root: ["film": .reference(.film("1"))]).build()
    await #expect(throws: StorageError.notLeader) { _ = try await replica.apply(response) }
    let report = try await cluster.leader.apply(response)
    try await cluster.catchUp(replica)
    let got = try #require(seen.withLock { $0 }.first)
    #expect(got.changes == report.changes)
    #expect(got.changedResult == report.changedResult)
    #expect(got.revision == report.revision)
    #expect(got.head == report.head)
    #expect(!got.isExact)
    replica.close()
    cluster.leader.close()
  }

  @Test("A write that changes nothing appends nothing")
  func nothingIsNoRow() async throws {
    let cluster = try ClusterFixture()
    let response = ResponseBuilder(call: 1).film("1", ["title": "A"]).build()
    _ = try await cluster.leader.apply(response)
    let count = cluster.log.rows.count
    _ = try await cluster.leader.device(id: "none")
    _ = try await cluster.leader.remove(device: "none")
    #expect(cluster.log.rows.count == count)
    #expect(cluster.leader.position == Int64(count))
    cluster.leader.close()
  }

  @Test("If the log is away nothing is committed, and later writes go on")
  func anUnreachableLog() async throws {
    let cluster = try ClusterFixture()
    let response = ResponseBuilder(call: 1).film("1", ["title": "A"]).build()
    let before = try ClusterFixture.contents(cluster.folder)
    cluster.log.failNext(.unavailable("gone"))
    await #expect(throws: StorageError.logUnavailable("gone")) {
      _ = try await cluster.leader.apply(response)
    }
    #expect(try ClusterFixture.contents(cluster.folder) == before)
    let report = try await cluster.leader.apply(response)
    #expect(report.changes.count == 1)
    let (folder, replica) = try cluster.replica()
    #expect(try ClusterFixture.contents(folder) == ClusterFixture.contents(cluster.folder))
    replica.close()
    cluster.leader.close()
  }

  @Test(
    "A leader in doubt, or one that was replaced, writes nothing more and says so once",
    arguments: [
      (CommitLogError.inDoubt("cut"), true), (.inDoubt("cut"), false), (.notLeader, false),
    ])
  func leadingEnds(fault: CommitLogError, isWritten: Bool) async throws {
    let cluster = try ClusterFixture()
    let ended = Mutex<[StorageError]>([])
    cluster.leader.whenLeadingEnds { error in ended.withLock { $0.append(error) } }
    let response = ResponseBuilder(call: 1).film("1", ["title": "A"]).build()
    let before = try ClusterFixture.contents(cluster.folder)
    cluster.log.failNext(fault, butWrite: isWritten)
    for _ in 0..<2 {
      await #expect(throws: StorageError(fault)) { _ = try await cluster.leader.apply(response) }
    }
    #expect(ended.withLock { $0 } == [StorageError(fault)])
    #expect(try ClusterFixture.contents(cluster.folder) == before)
    // As a replica it reads the end of the log, and has what was appended after all.
    cluster.leader.close()
    let again = try ClusterFixture.open(cluster.folder, .replica)
    try await cluster.catchUp(again)
    #expect(try await again.entity(.film("1"), viewer: .anonymous) != nil || !isWritten)
    again.close()
  }

  @Test("A snapshot that is taken while writes go on becomes a replica")
  func snapshots() async throws {
    let cluster = try ClusterFixture()
    let folder = TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    let leader = cluster.leader
    let writing = Task {
      for call in 1...200 as ClosedRange<Int64> {
        _ = try await leader.apply(
          ResponseBuilder(call: call).film("\(call % 40)", ["title": .string("A \(call)")]).build())
      }
    }
    let position = try await leader.writeSnapshot(to: folder.databasePath)
    try await writing.value
    let replica = try ClusterFixture.open(folder, .replica)
    #expect(replica.position == position)
    try await cluster.catchUp(replica)
    #expect(try ClusterFixture.contents(folder) == ClusterFixture.contents(cluster.folder))
    replica.close()
    leader.close()
  }

  @Test("Rows that do not fit are refused whole")
  func rowsThatDoNotFit() async throws {
    let cluster = try ClusterFixture()
    let (folder, replica) = try cluster.replica()
    for call in 1...3 as ClosedRange<Int64> {
      _ = try await cluster.leader.apply(
        ResponseBuilder(call: call).film("\(call)", ["title": "A"]).build())
    }
    let rows = cluster.log.rows(after: replica.position)
    let before = try ClusterFixture.contents(folder)
    var damaged = rows
    damaged[1] = ReplicatedRow(
      position: rows[1].position, epoch: rows[1].epoch, payload: Array(rows[1].payload.dropLast()))
    for faulty in [Array(rows.dropFirst()), damaged, [rows[0], rows[2]]] {
      await #expect {
        _ = try await replica.apply(faulty)
      } throws: { error in
        if case StorageError.diverged = error { true } else { false }
      }
      #expect(try ClusterFixture.contents(folder) == before)
    }
    _ = try await replica.apply(rows)
    #expect(try ClusterFixture.contents(folder) == ClusterFixture.contents(cluster.folder))
    replica.close()
    cluster.leader.close()
  }

  @Test(
    "Damaged rows are refused, whatever is wrong with them",
    arguments: 1...200 as ClosedRange<UInt64>)
  func damagedRows(seed: UInt64) async throws {
    let cluster = try ClusterFixture()
    _ = try await cluster.leader.apply(
      ResponseBuilder(call: 1).film("1", ["title": "A"]).build())
    cluster.leader.close()
    var generator = SeededGenerator(seed: seed)
    var bytes = try #require(cluster.log.rows.last)
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      let place = Int.random(in: 0..<bytes.count, using: &generator)
      switch Int.random(in: 0...2, using: &generator) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
      case 1: bytes.remove(at: place)
      default: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
      }
    }
    // Some changes are of a text or a number only; none may end the process.
    _ = try? LogPayload(bytes)
  }
}
