import Model
import Storage
import Testing

/// The guarantees of the outbox, independent of the sender.
struct OutboxTests {
  @Test("An idempotency key stands for one notification")
  func keyIsOneNotification() async throws {
    let world = try OutboxWorld()
    let first = world.arrival("k")
    #expect(try await world.store.enqueue(first) == .taken)
    #expect(try await world.store.enqueue(world.arrival("k")) == .replayed(id: first.id))
    #expect(try await world.store.enqueue(world.arrival("k", content: 1)) == .keyReused)
    #expect(try await world.store.enqueue(world.arrival("k", origin: "user u")) == .taken)
    #expect(try await world.fixture.count("push_notification") == 2)
  }

  @Test("A batch is claimed once and only its last claim settles it")
  func onlyLastClaimSettles() async throws {
    var world = try OutboxWorld()
    let arrival = world.arrival("k")
    _ = try await world.store.enqueue(arrival)
    let first = try #require(try await world.claim())
    #expect(first.key == "k-0")
    #expect(first.userIDs == OutboxWorld.json(["u1", "u2"]))
    #expect(try await world.claim() == nil)
    #expect(try await world.store.nextBatchDue() == nil)
    let later = world.now.advanced(by: .seconds(5))
    try await world.settle(
      first, as: .waits(until: later, isAttempt: true, isStrike: true, reason: "busy"))
    #expect(try await world.claim() == nil)
    #expect(try await world.store.nextBatchDue() == later)
    world.now = later
    let second = try #require(try await world.claim())
    #expect(second.attempts == 1)
    #expect(second.strikes == 1)
    // A late result has no effect.
    #expect(try await world.settle(first, as: .failed(reason: "late")) == false)
    #expect(try await world.settle(second, as: .sent(remoteID: nil, invalidIDs: [])))
    #expect(try await world.settle(second, as: .failed(reason: "twice")) == false)
    #expect(try await world.counts(arrival.id) == [.sent: 2])
  }

  @Test("A wait that is not an attempt leaves the count unchanged")
  func waitIsNotAnAttempt() async throws {
    let world = try OutboxWorld()
    _ = try await world.store.enqueue(world.arrival("k"))
    let first = try #require(try await world.claim())
    try await world.settle(
      first, as: .waits(until: world.now, isAttempt: false, isStrike: false, reason: "away"))
    #expect(try await world.claim()?.attempts == 0)
  }

  @Test("Batches in flight are sent again after a restart")
  func inFlightBatchesAreRequeued() async throws {
    let folder = TemporaryFolder()
    let world = try OutboxWorld(folder)
    _ = try await world.store.enqueue(world.arrival("k"))
    let lost = try #require(try await world.claim())
    world.store.close()
    var again = try OutboxWorld(folder, segment: 2)
    #expect(try await again.claim() == nil)
    // The clock was set back in the meantime.
    again.now = Timestamp(milliseconds: 10)
    try await again.store.recoverBatches(at: again.now, waitMax: .seconds(60))
    let found = try #require(try await again.claim(boot: "boot 2"))
    #expect(found.key == lost.key)
    #expect(try await again.settle(lost, as: .failed(reason: "late")) == false)
    #expect(
      try await again.settle(found, as: .sent(remoteID: "r", invalidIDs: []), boot: "boot 2"))
    again.store.close()
  }

  @Test("Waiting times are limited after the clock was set back")
  func waitIsLimitedAfterClockChange() async throws {
    let world = try OutboxWorld()
    _ = try await world.store.enqueue(world.arrival("k"))
    let now = Timestamp(milliseconds: 10)
    try await world.store.recoverBatches(at: now, waitMax: .seconds(60))
    #expect(try await world.store.nextBatchDue() == now.advanced(by: .seconds(60)))
  }

  @Test("Each user id has its own state")
  func eachIDHasItsState() async throws {
    let world = try OutboxWorld()
    let arrival = world.arrival("k", [["u1", "u2", "u3"], ["u4"], ["u5"], ["u6"]])
    _ = try await world.store.enqueue(arrival)
    let ends: [BatchEnd] = [
      .sent(remoteID: "r", invalidIDs: ["u2"]), .invalid, .failed(reason: "refused"),
    ]
    for end in ends {
      let batch = try #require(try await world.claim())
      try await world.settle(batch, as: end)
    }
    let record = try #require(try await world.store.notification(arrival.id, origin: nil))
    #expect(record.batches.map(\.state) == [.sent, .invalid, .failed, .queued])
    #expect(record.batches.map(\.exceptions) == [["u2": .invalid], [:], [:], [:]])
    #expect(record.batches.map(\.reason) == [nil, nil, "refused", nil])
    #expect(record.summary.counts == [.sent: 2, .invalid: 2, .failed: 1, .queued: 1])
    #expect(record.summary.settled == nil)
    #expect(try await world.fixture.count("push_exception") == 1)
    let last = try #require(try await world.claim())
    try await world.settle(last, as: .sent(remoteID: nil, invalidIDs: []))
    let ended = try await world.store.notification(arrival.id, origin: "operator")
    #expect(ended?.summary.settled == world.now)
    #expect(try await world.store.notification(arrival.id, origin: "user u") == nil)
  }

  @Test("A full outbox refuses notifications")
  func fullOutboxRefuses() async throws {
    let world = try OutboxWorld()
    let half = Array(repeating: ["u"], count: 10_000)
    #expect(try await world.store.enqueue(world.arrival("a", half)) == .taken)
    #expect(try await world.store.enqueue(world.arrival("b", half)) == .taken)
    #expect(try await world.store.enqueue(world.arrival("c")) == .outboxFull)
    #expect(
      try await world.store.enqueue(world.arrival("b", half)) == .replayed(id: "n_operator_b"))
    let batch = try #require(try await world.claim())
    try await world.settle(batch, as: .sent(remoteID: nil, invalidIDs: []))
    #expect(try await world.store.enqueue(world.arrival("c")) == .taken)
  }

  @Test("Ended notifications are removed and waiting ones stay")
  func endedNotificationsAreRemoved() async throws {
    let world = try OutboxWorld()
    for key in ["a", "b", "c"] { _ = try await world.store.enqueue(world.arrival(key)) }
    for _ in 0..<2 {
      let batch = try #require(try await world.claim())
      try await world.settle(batch, as: .sent(remoteID: nil, invalidIDs: ["u1"]))
    }
    let after = world.now.advanced(by: .seconds(1))
    #expect(try await world.store.forgetNotifications(settledBefore: world.now, limit: 9) == false)
    #expect(try await world.store.forgetNotifications(settledBefore: after, limit: 1))
    #expect(try await world.store.forgetNotifications(settledBefore: after, limit: 9) == false)
    #expect(
      try await world.store.notifications(after: nil, limit: 9)?.map(\.id) == ["n_operator_c"])
    for table in ["push_batch", "push_batch_ids"] {
      #expect(try await world.fixture.count(table) == 1)
    }
    #expect(try await world.fixture.count("push_exception") == 0)
  }

  @Test("Pages list notifications newest first")
  func pagesAreNewestFirst() async throws {
    let world = try OutboxWorld()
    for key in ["a", "b", "c"] { _ = try await world.store.enqueue(world.arrival(key)) }
    let first = try #require(try await world.store.notifications(after: nil, limit: 2))
    #expect(first.map(\.id) == ["n_operator_c", "n_operator_b"])
    let rest = try await world.store.notifications(after: first.last?.id, limit: 2)
    #expect(rest?.map(\.id) == ["n_operator_a"])
    #expect(try await world.store.notifications(after: "n_?", limit: 2) == nil)
  }
}
