import Filtering
import LosslessJSON
import Model
import Synchronization
import TestSupport
import Testing

@testable import Storage

/// Which queries wait for a long one, and which do not.
struct QueryReadersTests {
  private static let film = StoreFixture.types[0]
  private static let costly = "title LIKE '%a%b%'"

  private func filled() async throws -> StoreFixture {
    let fixture = try StoreFixture()
    var answer = ResponseBuilder(call: 1)
    for number in 0..<50 {
      answer = answer.film("f\(number)", ["title": "aaaaaaaaaaaaaa"])
    }
    _ = try await fixture.store.apply(answer.build())
    return fixture
  }

  private static func query(_ filter: String = costly) throws -> EntityQuery {
    EntityQuery(type: film, filter: try Filter(filter, arguments: .none, type: film))
  }

  private static let still = QueryDeadline(limit: .seconds(2)) { .zero }

  @Test("Only its own lane waits for a long query")
  func othersGoOn() async throws {
    let fixture = try await filled()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    let gate = QueryGate()
    let device = Viewer(layers: [.device("d_1"), .public])
    let query = try Self.query()
    async let slow = store.page(query, viewer: device, deadline: gate.deadline())
    #expect(await gate.isReached())
    // A plain page, another caller's filter, a search, a count, a page of changes, and a write.
    let plain = EntityQuery(type: Self.film, limit: 1)
    #expect(
      try await store.page(plain, viewer: .anonymous, deadline: Self.still).items.count == 1)
    #expect(
      try await store.page(Self.query(), viewer: .anonymous, deadline: Self.still).items.isEmpty)
    #expect(
      try await store.page(
        Self.query(), viewer: Viewer(layers: [.device("d_2"), .public]), deadline: Self.still
      ).items.isEmpty)
    #expect(
      try await store.counts(of: [Self.film], viewer: .anonymous, deadline: Self.still)
        == ["Film": 50])
    let changes = ChangeQuery(
      viewer: .anonymous, position: .start, origin: nil, limit: 10)
    #expect(try await store.changes(changes, deadline: Self.still)?.entries.count == 10)
    _ = try await store.apply(ResponseBuilder(call: 2).film("f99", ["title": "b"]).build())
    _ = try await store.statistics()
    gate.open()
    #expect(try await slow.items.isEmpty)
  }

  @Test("Queries of one kind of caller leave a connection to the others")
  func kindsAreApart() async throws {
    let fixture = try await filled()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    let query = try Self.query()
    let gates = (0..<2).map { _ in QueryGate() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, gate) in gates.enumerated() {
        let device = Viewer(layers: [.device("d_\(number)"), .public])
        group.addTask {
          _ = try await store.page(query, viewer: device, deadline: gate.deadline())
        }
        #expect(await gate.isReached())
      }
      // A third device waits; public callers and users do not.
      let user = Viewer(layers: [.user("ada"), .public])
      for viewer in [Viewer.anonymous, user] {
        #expect(
          try await store.page(query, viewer: viewer, deadline: Self.still).items.isEmpty)
      }
      for gate in gates { gate.open() }
      try await group.waitForAll()
    }
  }

  @Test("A lane has a maximum of waiting queries, and more are refused at once")
  func lanesAreBounded() async throws {
    let fixture = try await filled()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    let query = try Self.query()
    let gates = (0..<2).map { _ in QueryGate() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for gate in gates {
        group.addTask {
          _ = try await store.page(query, viewer: .anonymous, deadline: gate.deadline())
        }
        #expect(await gate.isReached())
      }
      let refused = Refusals()
      for _ in 0..<QueryReaders.laneWaitingMax + 5 {
        group.addTask {
          do throws(StorageError) {
            _ = try await store.page(query, viewer: .anonymous, deadline: Self.still)
          } catch {
            refused.note(error)
          }
        }
      }
      #expect(await eventuallyHolds { refused.all.count >= 5 })
      #expect(refused.all == Array(repeating: .overloaded, count: 5))
      for gate in gates { gate.open() }
      try await group.waitForAll()
      #expect(refused.all.count == 5)
    }
  }

  @Test("Waiting callers of one kind, however many, do not block callers of another kind")
  func kindsHaveRoomOfTheirOwn() async throws {
    let fixture = try await filled()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    let query = try Self.query()
    let gates = (0..<2).map { _ in QueryGate() }
    func viewer(_ number: Int) -> Viewer { Viewer(layers: [.device("d_\(number)"), .public]) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for gate in gates {
        group.addTask {
          _ = try await store.page(query, viewer: viewer(0), deadline: gate.deadline())
        }
        #expect(await gate.isReached())
      }
      let refused = Refusals()
      let perDevice = 16
      for number in 1...QueryReaders.waitingMax / perDevice {
        for _ in 0..<perDevice {
          group.addTask {
            _ = try await store.page(query, viewer: viewer(number), deadline: Self.still)
          }
        }
      }
      #expect(
        await eventuallyHolds { store.queries.waitingCount >= QueryReaders.waitingMax })
      do throws(StorageError) {
        _ = try await store.page(query, viewer: viewer(1_000), deadline: Self.still)
      } catch {
        refused.note(error)
      }
      #expect(refused.all == [.overloaded])
      // The last connection is reserved for other kinds, and so are places to wait for it.
      _ = try await store.page(query, viewer: .anonymous, deadline: Self.still)
      for gate in gates { gate.open() }
      try await group.waitForAll()
    }
  }

  @Test("Waiting counts: a query whose time ended before it began is refused")
  func waitingCounts() async throws {
    let fixture = try await filled()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    let query = try Self.query()
    let gates = (0..<2).map { _ in QueryGate() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for gate in gates {
        group.addTask {
          await #expect(throws: StorageError.tooCostly) {
            try await store.page(query, viewer: .anonymous, deadline: gate.deadline())
          }
        }
        #expect(await gate.isReached())
      }
      // Its gate is open: its time is checked while it waits.
      let clock = QueryGate()
      clock.open()
      let late = clock.deadline()
      group.addTask {
        await #expect(throws: StorageError.overloaded) {
          try await store.page(query, viewer: .anonymous, deadline: late)
        }
      }
      #expect(await eventuallyHolds { store.queries.waitingCount > 0 })
      for gate in gates + [clock] { gate.advance(bySeconds: 3) }
      for gate in gates { gate.open() }
      try await group.waitForAll()
    }
  }

  @Test("A cancelled query is stopped")
  func cancelledQueries() async throws {
    let fixture = try await filled()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    let gate = QueryGate()
    let query = try Self.query()
    let task = Task {
      try await store.page(query, viewer: .anonymous, deadline: gate.deadline())
    }
    #expect(await gate.isReached())
    task.cancel()
    gate.open()
    await #expect(throws: StorageError.tooCostly) { try await task.value }
  }

  // MARK: Writes by filter

  private static func delete(_ filter: String) throws -> LocalOperation {
    LocalOperation(
      .delete, LocalWorld.list,
      .filter(try Filter(filter, arguments: .none, type: LocalWorld.list.entityType)))
  }

  @Test("A write with a costly filter blocks no other writer and rechecks entities changed since")
  func writesByFilter() async throws {
    let folder = TemporaryFolder()
    let store = try LocalWorld.open(folder)
    for number in 0..<5 {
      _ = try await store.local(
        LocalWorld.operation(.insert, LocalWorld.list, "l\(number)", ["title": "aab"])
      ).get()
    }
    let gate = QueryGate()
    let operation = try Self.delete("title LIKE '%a%b%'")
    async let slow = store.writeLocal(
      [operation], schema: LocalWorld.schema, owner: LocalWorld.owner,
      now: Timestamp(milliseconds: 1), deadline: gate.deadline(.seconds(60)))
    #expect(await gate.isReached())
    // Other writes while the filter runs: one row stops matching, one starts to match, one is removed.
    _ = try await store.local(
      LocalWorld.operation(.update, LocalWorld.list, "l1", ["title": "none"]),
      LocalWorld.operation(.insert, LocalWorld.list, "l8", ["title": "xaxbx"]),
      LocalWorld.operation(.insert, LocalWorld.list, "l9", ["title": "other"]),
      LocalWorld.operation(.delete, LocalWorld.list, "l2")
    ).get()
    gate.open()
    let commit = try await slow.get()
    guard case .matched(let count)? = commit.outcomes.first else {
      Issue.record("\(commit.outcomes)")
      return
    }
    #expect(count == 4)
    for (id, isThere) in [
      ("l0", false), ("l1", true), ("l2", false), ("l3", false), ("l4", false), ("l8", false),
      ("l9", true),
    ] {
      #expect(try await (store.local("List", id) != nil) == isThere, "\(id)")
    }
  }
}

private final class Refusals: Sendable {
  private let errors = Mutex<[StorageError]>([])

  func note(_ error: StorageError) { errors.withLock { $0.append(error) } }

  var all: [StorageError] { errors.withLock { $0 } }
}
