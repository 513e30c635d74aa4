import GRDB
import Model
import SyncScheduler
import Testing

@testable import Storage

/// A long queue is read only as far as needed to decide what is sent next.
struct LongQueueTests {
  private static let count = 300

  /// Returns a store that was reopened with these mutations enqueued.
  private func reopened(
    in folder: TemporaryFolder, _ arrivals: [NewMutation]
  ) async throws -> QueueWorld {
    let first = try await QueueWorld(folder)
    for batch in stride(from: 0, to: arrivals.count, by: 100) {
      _ = try await first.store.enqueue(
        Array(arrivals[batch..<min(batch + 100, arrivals.count)]), of: QueueWorld.device,
        timing: first.timing
      ).get()
    }
    first.store.close()
    var again = try QueueWorld(reopening: folder)
    again.now = first.now.advanced(by: .seconds(1))
    again.boot = "boot 2"
    return again
  }

  private func steady(_ number: Int) -> NewMutation {
    QueueWorld.arrival("\(number)", mode: .steady, object: .film("\(number)"))
  }

  private func held(_ world: QueueWorld) async throws -> (count: Int, isWhole: Bool) {
    try await world.store.writer.write { _, memory in
      let queue = memory.queues[QueueWorld.device]
      return (queue?.held.count ?? 0, queue?.tail == nil)
    }
  }

  @Test("A long queue drains in order with only a part in memory")
  func drainsInOrderWithAFewInMemoryAtATime() async throws {
    let folder = TemporaryFolder()
    let world = try await reopened(in: folder, (0..<Self.count).map(steady))
    defer { world.store.close() }
    var outlook = try await world.store.recover(QueueWorld.device, timing: world.timing).outlook
    var sent: [String] = []
    var most = 0
    while let ready = outlook.ready.first, sent.count <= Self.count {
      most = max(most, try await held(world).count)
      let claimed = try #require(
        try await world.store.claim(ready, of: QueueWorld.device, timing: world.timing).answer)
      outlook = try await world.store.settle(
        MutationSettlement(
          claim: claimed.claim, outcome: .applied(created: [:]), othersSucceeded: nil,
          response: nil, result: nil),
        of: QueueWorld.device, timing: world.timing
      ).outlook
      sent.append(claimed.mutation.key)
    }
    #expect(sent == (0..<Self.count).map(String.init))
    #expect(most < 100)
    #expect(try await world.store.queueStatus(of: QueueWorld.device).pending == 0)
  }

  @Test("Clients' requests and commands see the whole queue")
  func clientCommandsSeeTheWholeQueue() async throws {
    let folder = TemporaryFolder()
    var world = try await reopened(in: folder, (0..<Self.count).map(steady))
    defer { world.store.close() }
    _ = try await world.store.recover(QueueWorld.device, timing: world.timing)
    #expect(try await !held(world).isWhole)
    world.policy.itemsMax = Self.count
    let refused = try await world.enqueue(steady(Self.count))
    #expect(throws: ArrivalRefusal.refused(.queueFull(itemsMax: Self.count), index: 0)) {
      try refused.get()
    }
    #expect(try await held(world) == (Self.count, true))
    _ = try await world.store.command(
      .cancel(MutationID("m_299")), on: QueueWorld.device, timing: world.timing
    ).get()
    #expect(try await world.state("299") == .cancelled)
  }

  @Test("Dependants of a create are read before it ends")
  func dependantsOfACreateAreReadBeforeItEnds() async throws {
    let folder = TemporaryFolder()
    let id = try #require(TemporaryID("~01ARZ3NDEKTSV4RRFFQ69G5FAV"))
    let new = EntityKey.film(id.value)
    let create = QueueWorld.arrival(
      "create", mode: .steady, object: new, effect: .create,
      creates: [TemporaryEntity(id: id, type: "Film")])
    let update = QueueWorld.arrival("update", mode: .steady, object: new)
    let world = try await reopened(in: folder, [create] + (0..<Self.count).map(steady) + [update])
    defer { world.store.close() }
    _ = try await world.store.recover(QueueWorld.device, timing: world.timing)
    let claimed = try #require(try await world.claim("create"))
    try await world.settle(claimed, as: .applied(created: [id: .film("77")]))
    let record = try await world.store.mutation(MutationID("m_update"), of: QueueWorld.device)
    #expect(record?.mutation.object == .film("77"))
  }

  @Test("A mutation in flight far down the queue is found at a start")
  func aDistantInFlightMutationIsFoundAtStart() async throws {
    let folder = TemporaryFolder()
    let first = try await QueueWorld(folder)
    _ = try await first.store.enqueue(
      (0..<100).map(steady), of: QueueWorld.device, timing: first.timing
    ).get()
    _ = try await first.enqueue(
      QueueWorld.arrival("now", mode: .force, object: .film("new"), rule: .park)
    ).get()
    _ = try #require(try await first.claim("now"))
    first.store.close()
    var world = try QueueWorld(reopening: folder)
    defer { world.store.close() }
    world.now = first.now.advanced(by: .seconds(1))
    world.boot = "boot 2"
    _ = try await world.store.recover(QueueWorld.device, timing: world.timing)
    #expect(try await world.state("now") == .parked)
  }

  /// The SQL rule and the model's rule must agree.
  @Test("The SQL rule for rows left unread matches the model's tail")
  func unreadRowsMatchTheModelsTail() async throws {
    let folder = TemporaryFolder()
    let world = try await reopened(in: folder, (0..<40).map(steady))
    defer { world.store.close() }
    let changes = [
      "state = 'inflight'", "state = 'parked'", "mode = 'force'", "ever_sent = 1",
      "due = due + 999999", "gathered_since = gathered_since + 999999", "ended = 1",
      "ended = 99999999999", "armed_until = 5", "expires = expires + 999999",
      "expires = expires - 5",
    ]
    let timing = world.timing
    try await world.store.writer.write { database, memory in
      for (number, change) in changes.enumerated() {
        try database.execute(
          sql: "UPDATE mutation SET \(change) WHERE id = 'm_\(number + 20)'")
      }
      let rows = MutationRows(database: database)
      let held = try rows.held(of: QueueWorld.device)
      let left = held.filter {
        !QueueTail.mayTake($0, at: timing.now, policy: timing.policy)
      }
      #expect(left.count == 9)
      let (tail, mustRead) = try rows.remainder(of: QueueWorld.device, from: .min, timing: timing)
      #expect(mustRead == left)
      #expect(tail?.firstExpiry == held.filter { !left.contains($0) }.map(\.expires).min())
      #expect(tail?.upstreams == ["default"])
    }
  }
}
