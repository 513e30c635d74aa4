import GRDB
import LosslessJSON
import Model
import Synchronization
import Testing

@testable import Storage

struct GroupedWriterTests {
  /// Makes commands wait for a held one, then releases them.
  ///
  /// - Parameters:
  ///   - failing: the indices of commands that fail after they have written.
  ///   - whileWaiting: called while all of them wait.
  /// - Returns: the counts in order of submission, nil for commands that failed, and the number of
  ///   transactions.
  private static func release(
    _ count: Int, _ store: Store, failing: Set<Int> = [], whileWaiting: () -> Void = {}
  ) async throws -> (counts: [Int?], transactions: Int) {
    let writer = store.writer
    let gate = WriterGate()
    let first = Task.immediate { try await writer.write { db, _ in gate.hold(db) } }
    #expect(gate.isReached())
    let others = (0..<count).map { place in
      Task.immediate {
        try await writer.write { db, _ in
          try db.execute(sql: "UPDATE counter SET probes = probes + 1")
          if failing.contains(place) { throw StorageError.tooCostly }
          return try Int.fetchOne(db, sql: "SELECT probes FROM counter")
        }
      }
    }
    whileWaiting()
    gate.open()
    try await first.value
    var counts: [Int?] = []
    for (place, other) in others.enumerated() {
      counts.append(failing.contains(place) ? try? await other.value : try await other.value)
    }
    return (counts, gate.commitCount - 1)
  }

  @Test("A commit is under way until its observers know it, and one that fails is not")
  func commitsAreUnderWay() async throws {
    let fixture = try StoreFixture()
    let seen = Mutex<[[Revision]]>([])
    fixture.store.observe { [store = fixture.store] report in
      seen.withLock { $0.append([store.revisionUnderWay, report.head]) }
    }
    for call in 1...2 as ClosedRange<Int64> {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: call).film("1", ["title": .string("\(call)")]).build())
      #expect(fixture.store.revisionUnderWay == .zero)
    }
    #expect(seen.withLock { $0 } == [[Revision(1), Revision(1)], [Revision(2), Revision(2)]])
    await #expect(throws: StorageError.tooCostly) {
      try await fixture.store.writer.write { _, _ -> Int in throw StorageError.tooCostly }
    }
    #expect(fixture.store.revisionUnderWay == .zero)
  }

  @Test(
    "Waiting commands share a transaction, up to the batch limit",
    arguments: [(20, 1), (GroupedWriter.batchMax, 1), (GroupedWriter.batchMax + 1, 2)])
  func waitingCommandsShareATransaction(count: Int, transactions: Int) async throws {
    let fixture = try StoreFixture()
    let done = try await Self.release(count, fixture.store)
    #expect(done.counts == Array(1...count))
    #expect(done.transactions == transactions)
  }

  @Test(
    "Failed commands are undone alone, and all others are committed",
    arguments: [Set([0]), [19], [3, 4, 11], Set(0..<20)])
  func failedCommandsAreUndoneAlone(failing: Set<Int>) async throws {
    let fixture = try StoreFixture()
    let done = try await Self.release(20, fixture.store, failing: failing)
    #expect(done.counts.filter { $0 == nil }.count == failing.count)
    #expect(done.counts.compactMap { $0 } == Array(1..<(21 - failing.count)))
    #expect(done.transactions == 1)
  }

  @Test(
    "A command that keeps notes is not repeated when another one fails",
    arguments: [(false, 2), (true, 1)])
  func aCommandWithNotesIsNotRepeated(keepsNotes: Bool, times: Int) async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let writer = fixture.store.writer
    let gate = WriterGate()
    let performed = Atomic(0)
    let first = Task.immediate { try await writer.write { db, _ in gate.hold(db) } }
    #expect(gate.isReached())
    let noting = Task.immediate {
      try await writer.write(keepsNotes: keepsNotes) { _, _ in
        _ = performed.add(1, ordering: .sequentiallyConsistent)
      }
    }
    let failing = Task.immediate { try await writer.write { _, _ in throw StorageError.tooCostly } }
    gate.open()
    try await first.value
    try await noting.value
    await #expect(throws: StorageError.self) { try await failing.value }
    #expect(performed.load(ordering: .sequentiallyConsistent) == times)
  }

  @Test("Commands that wait when the writer closes are written first")
  func waitingCommandsAreWrittenBeforeClosing() async throws {
    let fixture = try StoreFixture()
    let store = fixture.store
    let count = 3 * GroupedWriter.batchMax
    var closing: Task<Void, Never>?
    let done = try await Self.release(count, store) {
      closing = Task.detached { store.close() }
    }
    #expect(done.counts == Array(1...count))
    await closing?.value
    await #expect(throws: StorageError.closed) {
      try await store.writer.write { _, _ in }
    }
  }

  /// GRDB sets NORMAL by itself when it opens a connection in WAL mode, so the level is read inside
  /// the command.
  @Test("A batch is as durable as its most demanding command")
  func syncsAsTheMostDemandingCommandNeeds() async throws {
    let fixture = try StoreFixture()
    @Sendable func level(_ db: Database, _ memory: WriterMemory) throws -> Int? {
      try Int.fetchOne(db, sql: "PRAGMA synchronous")
    }
    let normal = 1
    let full = 2
    #expect(try await fixture.store.writer.write(.process, level) == normal)
    #expect(try await fixture.store.writer.write(.powerFailure, level) == full)
    #expect(try await fixture.store.writer.write(.process, level) == normal)
  }

  @Test("Concurrent commands each run exactly once")
  func concurrentCommandsRunOnce() async throws {
    let fixture = try StoreFixture()
    let writer = fixture.store.writer
    let ids = await withTaskGroup(of: Int?.self) { group in
      for _ in 0..<100 {
        group.addTask {
          try? await writer.write { db, _ in
            try db.execute(sql: "UPDATE counter SET probes = probes + 1")
            return try Int.fetchOne(db, sql: "SELECT probes FROM counter")
          } ?? nil
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(ids.compactMap { $0 }.sorted() == Array(1...100))
  }

  @Test("A rolled-back command takes no revision")
  func rolledBackCommandsTakeNoRevision() async throws {
    struct Refusal: Error {}
    let fixture = try StoreFixture()
    let writer = fixture.store.writer
    await #expect(throws: StorageError.self) {
      try await writer.write { db, memory in
        memory.counters.revision += 1
        _ = try memory.scopeID(.user("nobody"), db)
        throw Refusal()
      }
    }
    let (revision, scopes) = try await writer.write { db, memory in
      (memory.counters.revision, try Int.fetchOne(db, sql: "SELECT count(*) FROM scope"))
    }
    #expect(revision == 0)
    #expect(scopes == 1)
    // The number that the rolled-back command saw is not used again.
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1, scope: .user("somebody")).film("1", ["title": "A"]).build())
    #expect(
      try await fixture.title(of: "1", viewer: Viewer(layers: [.user("somebody"), .public])) == "A")
    #expect(
      try await fixture.title(of: "1", viewer: Viewer(layers: [.user("nobody"), .public])) == nil)
  }
}
