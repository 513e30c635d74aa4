import GRDB
import LosslessJSON
import Model
import Synchronization
import Testing

@testable import Storage

struct GroupedWriterTests {
  /// Has commands wait behind one, and lets them go.
  ///
  /// - Parameters:
  ///   - failing: the places of those that fail once they have written.
  ///   - meanwhile: done while all of them wait.
  /// - Returns: what they counted up to, in the order in which they came, nil for those that failed,
  ///   and their transactions.
  private static func letGo(
    _ count: Int, _ store: Store, failing: Set<Int> = [], meanwhile: () -> Void = {}
  ) async throws -> (answers: [Int?], transactions: Int) {
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
    meanwhile()
    gate.open()
    try await first.value
    var answers: [Int?] = []
    for (place, other) in others.enumerated() {
      answers.append(failing.contains(place) ? try? await other.value : try await other.value)
    }
    return (answers, gate.commitCount - 1)
  }

  @Test(arguments: [(20, 1), (GroupedWriter.batchMax, 1), (GroupedWriter.batchMax + 1, 2)])
  func whoWaitsSharesATransaction(count: Int, transactions: Int) async throws {
    let fixture = try StoreFixture()
    let done = try await Self.letGo(count, fixture.store)
    #expect(done.answers == Array(1...count))
    #expect(done.transactions == transactions)
  }

  @Test(arguments: [Set([0]), [19], [3, 4, 11], Set(0..<20)])
  func thoseThatFailAreUndoneAlone(failing: Set<Int>) async throws {
    let fixture = try StoreFixture()
    let done = try await Self.letGo(20, fixture.store, failing: failing)
    #expect(done.answers.filter { $0 == nil }.count == failing.count)
    #expect(done.answers.compactMap { $0 } == Array(1..<(21 - failing.count)))
    #expect(done.transactions == 1)
  }

  @Test(arguments: [(false, 2), (true, 1)])
  func whoKeepsNotesIsNotPerformedAgain(keepsNotes: Bool, times: Int) async throws {
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

  @Test func whoWaitsWhenItClosesIsWrittenFirst() async throws {
    let fixture = try StoreFixture()
    let store = fixture.store
    let count = 3 * GroupedWriter.batchMax
    var closing: Task<Void, Never>?
    let done = try await Self.letGo(count, store) {
      closing = Task.detached { store.close() }
    }
    #expect(done.answers == Array(1...count))
    await closing?.value
    await #expect(throws: StorageError.closed) {
      try await store.writer.write { _, _ in }
    }
  }

  /// GRDB sets NORMAL by itself when it opens a connection in WAL mode, so the level is asked of
  /// the connection inside the command.
  @Test func syncsAsTheMostDemandingCommandNeeds() async throws {
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

  @Test func groupsWaitingCommandsIntoOneTransaction() async throws {
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

  @Test func rolledBackCommandsTakeNoRevision() async throws {
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
    // The number the rolled-back command saw is not used for anybody.
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1, scope: .user("somebody")).film("1", ["title": "A"]).build())
    #expect(
      try await fixture.title(of: "1", viewer: Viewer(layers: [.user("somebody"), .public])) == "A")
    #expect(
      try await fixture.title(of: "1", viewer: Viewer(layers: [.user("nobody"), .public])) == nil)
  }
}
