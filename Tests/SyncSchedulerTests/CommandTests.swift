import Model
import SyncScheduler
import Testing

struct CommandTests {
  typealias Asked = QueueFixture.Asked

  @Test("Cancelling an unsent mutation rejects its dependents")
  func cancelsWithDependents() throws {
    var fixture = QueueFixture()
    try fixture.add("create", .create(.test(1)))
    try fixture.add("update", .rename(.film(TemporaryID.test(1).value)))
    fixture.commit(try fixture.queue.cancelling(MutationID("create"), at: fixture.now))
    #expect(fixture.state("create") == .cancelled)
    #expect(fixture.state("update") == .rejected)
  }

  @Test("A mutation that may have reached upstream cannot be cancelled")
  func refusesToCancelSent() throws {
    var fixture = QueueFixture()
    try fixture.add("a")
    try fixture.claim("a")
    #expect(throws: CommandRefusal.alreadySent) {
      try fixture.queue.cancelling(MutationID("a"), at: fixture.now)
    }
    try fixture.settle("a", .transient(retryAfter: nil))
    #expect(throws: CommandRefusal.alreadySent) {
      try fixture.queue.cancelling(MutationID("a"), at: fixture.now)
    }
    try fixture.flushAndSend("a")
    #expect(throws: CommandRefusal.notHeld) {
      try fixture.queue.cancelling(MutationID("a"), at: fixture.now)
    }
  }

  @Test("Only a parked mutation can be discarded")
  func discardsOnlyParked() throws {
    var fixture = QueueFixture()
    try fixture.add("a")
    #expect(throws: CommandRefusal.wrongState(.queued)) {
      try fixture.queue.discarding(MutationID("a"), at: fixture.now)
    }
    try fixture.send("a", .unknown)
    fixture.commit(try fixture.queue.discarding(MutationID("a"), at: fixture.now))
    #expect(fixture.state("a") == .discarded)
  }

  @Test(
    "A sign-out applies its policy to waiting mutations",
    arguments: [
      (SignOutPolicy.drain, MutationState.queued, MutationState.queued),
      (.park, .parked, .parked),
      (.drop, .discarded, .parked),
    ])
  func signsOut(policy: SignOutPolicy, neverSent: MutationState, sent: MutationState) throws {
    var fixture = QueueFixture()
    try fixture.add("sent", .rename(.film("1")))
    try fixture.add("flying", .rename(.film("2")))
    try fixture.add("fresh")
    try fixture.send("sent", .transient(retryAfter: .seconds(60)))
    try fixture.claim("flying")
    fixture.commit(fixture.queue.signingOut(policy))
    #expect(fixture.state("fresh") == neverSent)
    #expect(fixture.state("sent") == sent)
    #expect(fixture.state("flying") == .inflight)
  }
}
