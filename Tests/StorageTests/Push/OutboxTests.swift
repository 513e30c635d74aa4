import Model
import Storage
import Testing

/// What the outbox promises, whoever drains it.
struct OutboxTests {
  @Test func aKeyIsOneNotification() async throws {
    let world = try OutboxWorld()
    let first = world.arrival("k")
    #expect(try await world.store.take(first) == .taken)
    #expect(try await world.store.take(world.arrival("k")) == .replayed(id: first.id))
    #expect(try await world.store.take(world.arrival("k", content: 1)) == .keyReused)
    #expect(try await world.store.take(world.arrival("k", origin: "user u")) == .taken)
    #expect(try await world.fixture.count("push_notification") == 2)
  }

  @Test func aBatchIsClaimedOnceAndSettledByItsClaimAlone() async throws {
    var world = try OutboxWorld()
    let arrival = world.arrival("k")
    _ = try await world.store.take(arrival)
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
    // What comes late says nothing any more.
    #expect(try await world.settle(first, as: .failed(reason: "late")) == false)
    #expect(try await world.settle(second, as: .sent(remoteID: nil, invalidIDs: [])))
    #expect(try await world.settle(second, as: .failed(reason: "twice")) == false)
    #expect(try await world.counts(arrival.id) == [.sent: 2])
  }

  @Test func aWaitThatIsNoAttemptCountsNone() async throws {
    let world = try OutboxWorld()
    _ = try await world.store.take(world.arrival("k"))
    let first = try #require(try await world.claim())
    try await world.settle(
      first, as: .waits(until: world.now, isAttempt: false, isStrike: false, reason: "away"))
    #expect(try await world.claim()?.attempts == 0)
  }

  @Test func whatWasInFlightGoesAgainAfterAStart() async throws {
    let folder = TemporaryFolder()
    let world = try OutboxWorld(folder)
    _ = try await world.store.take(world.arrival("k"))
    let lost = try #require(try await world.claim())
    world.store.close()
    var again = try OutboxWorld(folder, segment: 2)
    #expect(try await again.claim() == nil)
    // The clock was set back meanwhile.
    again.now = Timestamp(milliseconds: 10)
    try await again.store.recoverBatches(at: again.now, waitMax: .seconds(60))
    let found = try #require(try await again.claim(boot: "boot 2"))
    #expect(found.key == lost.key)
    #expect(try await again.settle(lost, as: .failed(reason: "late")) == false)
    #expect(
      try await again.settle(found, as: .sent(remoteID: "r", invalidIDs: []), boot: "boot 2"))
    again.store.close()
  }

  @Test func noWaitOutlastsAClockThatWasSetBack() async throws {
    let world = try OutboxWorld()
    _ = try await world.store.take(world.arrival("k"))
    let now = Timestamp(milliseconds: 10)
    try await world.store.recoverBatches(at: now, waitMax: .seconds(60))
    #expect(try await world.store.nextBatchDue() == now.advanced(by: .seconds(60)))
  }

  @Test func eachIDHasItsOwnOutcome() async throws {
    let world = try OutboxWorld()
    let arrival = world.arrival("k", [["u1", "u2", "u3"], ["u4"], ["u5"], ["u6"]])
    _ = try await world.store.take(arrival)
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

  @Test func aFullOutboxTakesNoMore() async throws {
    let world = try OutboxWorld()
    let half = Array(repeating: ["u"], count: 10_000)
    #expect(try await world.store.take(world.arrival("a", half)) == .taken)
    #expect(try await world.store.take(world.arrival("b", half)) == .taken)
    #expect(try await world.store.take(world.arrival("c")) == .outboxFull)
    #expect(try await world.store.take(world.arrival("b", half)) == .replayed(id: "n_operator_b"))
    let batch = try #require(try await world.claim())
    try await world.settle(batch, as: .sent(remoteID: nil, invalidIDs: []))
    #expect(try await world.store.take(world.arrival("c")) == .taken)
  }

  @Test func whatEndedIsForgottenInTimeAndWhatWaitsIsNot() async throws {
    let world = try OutboxWorld()
    for key in ["a", "b", "c"] { _ = try await world.store.take(world.arrival(key)) }
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

  @Test func pagesGoFromTheNewest() async throws {
    let world = try OutboxWorld()
    for key in ["a", "b", "c"] { _ = try await world.store.take(world.arrival(key)) }
    let first = try #require(try await world.store.notifications(after: nil, limit: 2))
    #expect(first.map(\.id) == ["n_operator_c", "n_operator_b"])
    let rest = try await world.store.notifications(after: first.last?.id, limit: 2)
    #expect(rest?.map(\.id) == ["n_operator_a"])
    #expect(try await world.store.notifications(after: "n_?", limit: 2) == nil)
  }
}
