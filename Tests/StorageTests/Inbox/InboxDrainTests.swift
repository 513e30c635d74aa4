import LosslessJSON
import Model
import Storage
import SyncScheduler
import Testing

struct InboxDrainTests {
  private static func submission(
    _ number: Int64, _ mutations: NewMutation..., age: Duration = .zero,
    of device: String = QueueWorld.device
  ) -> InboxSubmission {
    InboxSubmission(number: number, device: device, mutations: mutations, age: age)
  }

  private func record(_ key: String, in world: QueueWorld) async throws -> MutationRecord? {
    try await world.store.mutation(MutationID("m_\(key)"), of: QueueWorld.device)
  }

  private func problem(_ key: String, in world: QueueWorld) async throws -> JSONValue? {
    try await record(key, in: world)?.result.map { try JSONValue(checked: $0) }
  }

  @Test("Submissions are enqueued in the order of the inbox, and the store keeps the last number")
  func enqueuesInOrder() async throws {
    let world = try await QueueWorld()
    #expect(try await world.store.drainedNumber() == 0)
    let drain = try await world.store.drain(
      [
        Self.submission(3, QueueWorld.arrival("a", mode: .steady)),
        Self.submission(
          7, QueueWorld.arrival("b", mode: .steady), QueueWorld.arrival("c", mode: .steady)),
      ], timing: world.timing)
    #expect(drain.schedules[QueueWorld.device]?.ready.map(\.id) == [MutationID("m_a")])
    #expect(try await world.store.drainedNumber() == 7)
    let all = try await world.store.mutations(
      of: QueueWorld.device, states: nil, before: nil, limit: 10)
    #expect(all.map(\.mutation.id.value) == ["m_c", "m_b", "m_a"])
  }

  @Test("A submission that is moved again after a crash changes nothing")
  func drainsOnceOnly() async throws {
    let folder = TemporaryFolder()
    let world = try await QueueWorld(folder)
    let submissions = [
      Self.submission(1, QueueWorld.arrival("a", mode: .steady)),
      Self.submission(2, QueueWorld.arrival("b", mode: .steady)),
    ]
    _ = try await world.store.drain(submissions, timing: world.timing)
    let claimed = try #require(try await world.claim("a"))
    try await world.settle(claimed, as: .permanent)
    world.store.close()
    let after = try QueueWorld(reopening: folder)
    _ = try await after.store.drain(submissions, timing: after.timing)
    #expect(try await after.state("a") == .rejected)
    #expect(try await after.state("b") == .queued)
    let status = try await after.store.queueStatus(of: QueueWorld.device)
    #expect(status.pending == 1)
  }

  @Test("A submission that the queue refuses ends as rejected, with its problem")
  func refusalsAreOutcomes() async throws {
    let world = try await QueueWorld()
    var follower = LogFollower.atHead(of: world.store, world.viewer)
    _ = try await world.store.drain(
      [
        Self.submission(1, QueueWorld.arrival("a", effect: .delete)),
        Self.submission(2, QueueWorld.arrival("b")),
      ], timing: world.timing)
    let found = try #require(try await record("b", in: world))
    #expect(found.mutation.state == .rejected)
    #expect(found.mutation.reason == .refused)
    #expect(try await problem("b", in: world)?["code"] == "object_deleted")
    try await follower.takePage(from: world.store)
    #expect(follower.reported.contains("new $mutation/m_b"))
    // The deletion is not affected, and a retry of the request is a replay.
    #expect(try await world.state("a") == .queued)
    let again = try await world.enqueue(QueueWorld.arrival("b")).get()
    #expect(again.answer.first?.isReplay == true)
  }

  @Test("The mutations of one request are enqueued together or not at all")
  func aListIsWhole() async throws {
    let world = try await QueueWorld()
    _ = try await world.store.drain(
      [
        Self.submission(1, QueueWorld.arrival("a", effect: .delete)),
        Self.submission(
          2, QueueWorld.arrival("b", object: .film("2")), QueueWorld.arrival("c")),
      ], timing: world.timing)
    #expect(try await world.state("b") == .rejected)
    #expect(try await world.state("c") == .rejected)
    #expect(try await problem("b", in: world)?["code"] == "object_deleted")
  }

  @Test("A refusal within a list counts the list's own mutations")
  func aListConflictsWithItself() async throws {
    let world = try await QueueWorld()
    _ = try await world.store.drain(
      [
        Self.submission(
          1, QueueWorld.arrival("a", effect: .delete), QueueWorld.arrival("b"))
      ], timing: world.timing)
    #expect(try await world.state("a") == .rejected)
    #expect(try await world.state("b") == .rejected)
  }

  @Test("A key that another mutation has leaves both with an outcome")
  func conflictingKeysAreVisible() async throws {
    let world = try await QueueWorld()
    _ = try await world.enqueue(QueueWorld.arrival("a")).get()
    let other = QueueWorld.arrival("x", content: 9)
    let same = NewMutation(
      Mutation.Submission(
        id: MutationID("m_other"), key: "a", fingerprint: other.submission.fingerprint,
        operation: "RateFilm", upstream: "default", mode: .lazy, effect: .update,
        unknownRule: .sendAgain, object: .film("1"), footprint: Footprint(object: .film("1"))),
      payload: other.payload)
    _ = try await world.store.drain([Self.submission(1, same)], timing: world.timing)
    #expect(try await world.state("a") == .queued)
    let found = try await world.store.mutation(MutationID("m_other"), of: QueueWorld.device)
    #expect(found?.mutation.state == .rejected)
    let known = try await world.store.mutations(keys: ["a"], of: QueueWorld.device)
    #expect(known["a"]?.record.mutation.id == MutationID("m_a"))
  }

  @Test("A submission above the limit that its node did not know of ends as rejected")
  func limitsAreChecked() async throws {
    var world = try await QueueWorld()
    world.policy.itemsMax = 2
    let arrivals = (1...3).map { QueueWorld.arrival("\($0)", mode: .steady) }
    let refusal = try await world.store.refusal(
      of: arrivals, by: QueueWorld.device, waiting: 0, policy: world.policy)
    #expect(refusal == .refused(.queueFull(itemsMax: 2), index: 2))
    #expect(
      try await world.store.refusal(
        of: Array(arrivals.prefix(1)), by: QueueWorld.device, waiting: 2, policy: world.policy)
        == .refused(.queueFull(itemsMax: 2), index: 0))
    #expect(
      try await world.store.refusal(
        of: Array(arrivals.prefix(2)), by: QueueWorld.device, waiting: 0, policy: world.policy)
        == nil)
    _ = try await world.store.drain(
      arrivals.enumerated().map { Self.submission(Int64($0 + 1), $1) }, timing: world.timing)
    #expect(try await world.store.queueStatus(of: QueueWorld.device).pending == 2)
    #expect(try await world.state("3") == .rejected)
    #expect(try await problem("3", in: world)?["code"] == "queue_full")
    // A submission that was moved before is none more, and all of one request are refused together.
    _ = try await world.store.drain(
      [
        Self.submission(1, arrivals[0]),
        Self.submission(
          4, QueueWorld.arrival("4", mode: .steady), QueueWorld.arrival("5", mode: .steady)),
      ], timing: world.timing)
    #expect(try await world.state("1") == .queued)
    #expect(try await world.state("4") == .rejected)
    #expect(try await world.state("5") == .rejected)
    #expect(try await world.store.queueStatus(of: QueueWorld.device).pending == 2)
  }

  @Test("A submission above the quota of the device's own data ends as rejected")
  func quotaIsChecked() async throws {
    var world = try await QueueWorld()
    let arrivals = (1...2).map { QueueWorld.arrival("\($0)", mode: .steady) }
    world.policy.quota.ownerBytesMax = 0
    _ = try await world.store.drain([Self.submission(1, arrivals[0])], timing: world.timing)
    #expect(try await world.state("1") == .rejected)
    let found = try await problem("1", in: world)
    #expect(found?["code"] == "queue_full")
    #expect(found?["detail"]?.string?.contains("bytes") == true)
    world.policy.quota = .unlimited
    _ = try await world.store.drain([Self.submission(2, arrivals[1])], timing: world.timing)
    #expect(try await world.state("2") == .queued)
  }

  @Test("A forced mutation whose deadline passed in the inbox is never sent by itself")
  func lateForcesExpire() async throws {
    let world = try await QueueWorld()
    let late = QueueWorld.arrival("late", mode: .force)
    let drain = try await world.store.drain(
      [
        Self.submission(1, late, age: .seconds(11)),
        Self.submission(
          2, QueueWorld.arrival("young", mode: .force, object: .film("2")), age: .seconds(4)),
      ], timing: world.timing)
    #expect(try await world.state("late") == .expired)
    #expect(try await record("late", in: world)?.mutation.reason == .notSent)
    #expect(drain.schedules[QueueWorld.device]?.ready.map(\.id) == [MutationID("m_young")])
    #expect(
      try await record("young", in: world)?.mutation.armedUntil
        == world.now.advanced(by: .seconds(6)))
    // The same key arms it again, unless that submission is late too.
    _ = try await world.store.drain(
      [Self.submission(3, late, age: .seconds(10))], timing: world.timing)
    #expect(try await world.state("late") == .expired)
    _ = try await world.store.drain([Self.submission(4, late)], timing: world.timing)
    #expect(try await world.state("late") == .queued)
  }

  @Test("Time in the inbox counts against a mutation's lifetime")
  func ageCounts() async throws {
    let world = try await QueueWorld()
    let arrival = QueueWorld.arrival("a")
    _ = try await world.store.drain(
      [
        Self.submission(
          1, NewMutation(arrival.submission, expiresIn: .seconds(60), payload: arrival.payload),
          age: .seconds(20))
      ], timing: world.timing)
    #expect(
      try await record("a", in: world)?.mutation.expires == world.now.advanced(by: .seconds(40)))
  }

  @Test("Submissions of a device that was removed are dropped with its queue")
  func removedDevices() async throws {
    let world = try await QueueWorld()
    _ = try await world.store.drain(
      [
        Self.submission(1, QueueWorld.arrival("x"), of: "d_gone"),
        Self.submission(2, QueueWorld.arrival("a")),
      ], timing: world.timing)
    #expect(try await world.store.drainedNumber() == 2)
    #expect(try await world.store.mutation(MutationID("m_x"), of: "d_gone") == nil)
    #expect(try await world.state("a") == .queued)
  }
}
