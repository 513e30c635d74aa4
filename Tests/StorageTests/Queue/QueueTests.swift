import LosslessJSON
import Model
import Storage
import SyncScheduler
import Testing

struct QueueTests {
  @Test("Enqueued mutations survive a restart")
  func enqueuedMutationsSurviveARestart() async throws {
    let folder = TemporaryFolder()
    var world = try await QueueWorld(folder)
    _ = try await world.enqueue(QueueWorld.arrival("a"), QueueWorld.arrival("b", object: nil)).get()
    world.store.close()
    let again = try StoreFixture(folder, segment: 2)
    defer { again.store.close() }
    world.now = world.now.advanced(by: .seconds(1))
    let status = try await again.store.queueStatus(of: QueueWorld.device)
    #expect(status == QueueStatus(pending: 2, parked: 0, state: .running))
    #expect(try await again.store.queueDevices(after: "", limit: 10) == [QueueWorld.device])
    let outlook = try await again.store.recover(QueueWorld.device, timing: world.timing).outlook
    #expect(outlook.ready.map(\.id) == [MutationID("m_a")])
  }

  @Test("An idempotency key makes one mutation, whatever payload repeats it")
  func anIdempotencyKeyMakesOneMutation() async throws {
    let world = try await QueueWorld()
    let first = try await world.enqueue(QueueWorld.arrival("a")).get()
    let second = try await world.enqueue(QueueWorld.arrival("a")).get()
    #expect(first.answer.map(\.isReplay) == [false])
    #expect(second.answer.map(\.isReplay) == [true])
    #expect(second.answer.first?.mutation.id == first.answer.first?.mutation.id)
    let other = try await world.enqueue(QueueWorld.arrival("a", content: 1))
    #expect(throws: ArrivalRefusal.keyReused(index: 0)) { try other.get() }
    #expect(try await world.fixture.count("mutation") == 1)
  }

  @Test("A batch of mutations is enqueued whole or not at all")
  func aBatchIsEnqueuedWholeOrNotAtAll() async throws {
    let world = try await QueueWorld()
    _ = try await world.enqueue(QueueWorld.arrival("b")).get()
    let refused = try await world.enqueue(
      QueueWorld.arrival("a", object: .film("9")), QueueWorld.arrival("b", content: 1))
    #expect(throws: ArrivalRefusal.keyReused(index: 1)) { try refused.get() }
    #expect(try await world.fixture.count("mutation") == 1)
    #expect(try await world.state("a") == nil)
  }

  @Test("A full queue refuses mutations")
  func aFullQueueRefusesMutations() async throws {
    var world = try await QueueWorld()
    world.policy.itemsMax = 1
    _ = try await world.enqueue(QueueWorld.arrival("a")).get()
    let refused = try await world.enqueue(QueueWorld.arrival("b", object: .film("2")))
    #expect(throws: ArrivalRefusal.refused(.queueFull(itemsMax: 1), index: 0)) {
      try refused.get()
    }
  }

  @Test("An outcome is written together with the response")
  func anOutcomeIsWrittenWithTheResponse() async throws {
    let world = try await QueueWorld()
    _ = try await world.enqueue(QueueWorld.arrival("a")).get()
    let claimed = try #require(try await world.claim("a"))
    #expect(try await world.state("a") == .inflight)
    try await world.settle(
      claimed, as: .applied(created: [:]),
      response: ResponseBuilder(call: 5).film("1", ["title": "New"]).build())
    #expect(try await world.state("a") == .applied)
    #expect(try await world.fixture.title(of: "1") == "New")
    let outcome = EntityKey(type: "$mutation", key: "m_a")
    let reported = try await world.fixture.fields(of: outcome, viewer: world.viewer)
    #expect(reported?["state"] == "applied")
    #expect(try await world.fixture.fields(of: outcome) == nil)
  }

  @Test("A claim of an earlier boot counts as unknown, and its late outcome is ignored")
  func aClaimOfAnEarlierBootIsIgnored() async throws {
    var world = try await QueueWorld()
    _ = try await world.enqueue(QueueWorld.arrival("a")).get()
    let claimed = try #require(try await world.claim("a"))
    world.boot = "boot 2"
    _ = try await world.store.recover(QueueWorld.device, timing: world.timing)
    #expect(try await world.state("a") == .queued)
    #expect(try await world.settle(claimed, as: .applied(created: [:])) == nil)
    #expect(try await world.state("a") == .queued)
  }

  @Test("A mutation in flight that must not be sent twice is parked after a start")
  func aMutationThatMustNotBeSentTwiceIsParkedAfterAStart() async throws {
    var world = try await QueueWorld()
    _ = try await world.enqueue(QueueWorld.arrival("a", rule: .park)).get()
    _ = try #require(try await world.claim("a"))
    world.boot = "boot 2"
    _ = try await world.store.recover(QueueWorld.device, timing: world.timing)
    #expect(try await world.state("a") == .parked)
    _ = try await world.store.command(
      .discard(MutationID("m_a")), on: QueueWorld.device, timing: world.timing
    ).get()
    #expect(try await world.state("a") == .discarded)
  }

  @Test("A superseded mutation shares the outcome of its successor")
  func aSupersededMutationSharesTheOutcome() async throws {
    let world = try await QueueWorld()
    _ = try await world.enqueue(QueueWorld.arrival("a")).get()
    let second = try await world.enqueue(QueueWorld.arrival("b", content: 1)).get()
    #expect(second.answer.first?.supersedes == MutationID("m_a"))
    let claimed = try #require(try await world.claim("b"))
    try await world.settle(claimed, as: .applied(created: [:]))
    let record = try await world.store.mutation(MutationID("m_a"), of: QueueWorld.device)
    #expect(record?.mutation.state == .superseded)
    #expect(record?.sharedState == .applied)
    let reported = try await world.fixture.fields(
      of: EntityKey(type: "$mutation", key: "m_a"), viewer: world.viewer)
    #expect(reported?["sharedState"] == "applied")
  }

  @Test("Removing a device removes its queue")
  func removingADeviceRemovesItsQueue() async throws {
    let world = try await QueueWorld()
    let overlay = OverlayChange(
      .merge, .film("1"), fields: Array(#"{"title":"Mine"}"#.utf8))
    _ = try await world.enqueue(QueueWorld.arrival("a", overlays: [overlay])).get()
    _ = try await world.store.remove(device: QueueWorld.device)
    for table in ["mutation", "overlay", "queue", "temporary_id"] {
      #expect(try await world.fixture.count(table) == 0, "\(table)")
    }
    let refused = try await world.enqueue(QueueWorld.arrival("b"))
    #expect(throws: ArrivalRefusal.deviceGone) { try refused.get() }
  }
}
