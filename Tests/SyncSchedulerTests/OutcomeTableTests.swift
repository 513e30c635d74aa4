import Model
import SyncScheduler
import TestSupport
import Testing

/// The table of what follows the end of an attempt: a test a row.
struct OutcomeTableTests {
  typealias Asked = QueueFixture.Asked

  @Test("An attempt that sent nothing does not count, and waits for upstream")
  func notSentDoesNotCount() throws {
    var fixture = QueueFixture()
    try fixture.add("a")
    for _ in 1...50 { try fixture.send("a", .notSent(isAway: true)) }
    let item = try fixture.row("a")
    #expect(item.state == .queued)
    #expect(item.attempts == 0)
    #expect(!item.everSent)
    #expect(item.claims == 50)
  }

  @Test("A refused credential pauses the queue until the next token")
  func refusedCredentialPauses() throws {
    var fixture = QueueFixture()
    try fixture.add("a")
    try fixture.add("b", Asked(object: .film("1")))
    try fixture.send("a", .authRefused)
    #expect(fixture.queue.control.state == .authRequired)
    #expect(fixture.ready.isEmpty)
    #expect(try fixture.row("a").attempts == 0)
    fixture.commit(fixture.queue.authenticated())
    #expect(fixture.queue.control.state == .running)
    #expect(fixture.ready == ["a"])
  }

  @Test(
    "What waited for a key goes by itself at the next start, and what upstream refused does not")
  func aKeyPausesTheQueueUntilTheNextStart() throws {
    for (outcome, goesOn) in [(SendOutcome.credentialUnreadable, true), (.authRefused, false)] {
      var fixture = QueueFixture()
      try fixture.add("a")
      try fixture.add("b", Asked(object: .film("1")))
      try fixture.send("a", outcome)
      #expect(fixture.queue.control.state == .authRequired)
      #expect(fixture.ready.isEmpty)
      #expect(try fixture.row("a").everSent == !goesOn)
      fixture.restart(boot: "next")
      #expect(fixture.queue.control.state == (goesOn ? .running : .authRequired))
      #expect(fixture.ready.contains("a") == goesOn)
    }
  }

  /// No token that the device presents would change it: waiting for one would hold all others.
  @Test("A mutation without a credential that upstream refuses is parked alone")
  func anonymousRefusalParks() throws {
    var fixture = QueueFixture()
    try fixture.add("a")
    try fixture.add("b", Asked(object: .film("1")))
    try fixture.send("a", .anonymousRefused)
    let item = try fixture.row("a")
    #expect(item.state == .parked)
    #expect(item.reason == .authRequired)
    #expect(item.attempts == 0)
    #expect(fixture.queue.control.state == .running)
    #expect(fixture.ready == ["b"])
    fixture.commit(
      try fixture.queue.retrying(item.id, at: fixture.now, policy: QueuePolicy()))
    #expect(fixture.ready.contains("a"))
    try fixture.send("a", .anonymousRefused)
    fixture.commit(try fixture.queue.discarding(item.id, at: fixture.now))
    #expect(fixture.state("a") == .discarded)
  }

  @Test("A transient failure counts as an attempt and backs off")
  func transientBacksOff() throws {
    var fixture = QueueFixture()
    try fixture.add("a")
    for attempt in 1...30 {
      try fixture.send("a", .transient(retryAfter: nil))
      let item = try fixture.row("a")
      #expect(item.state == .queued)
      #expect(item.attempts == attempt)
      #expect(item.everSent)
      let wait = fixture.now.elapsed(until: item.due.time)
      #expect(wait <= (attempt <= 10 ? .seconds(60) : .seconds(300)))
      #expect(fixture.wake == item.due.time || item.due.time <= fixture.now)
      fixture.pass(wait)
    }
  }

  @Test("Back-off has full jitter")
  func backOffIsFullJitter() {
    var random = SeededGenerator(seed: 3)
    let delays = (0..<2_000).map { _ in BackOff.delay(attempts: 9, using: &random) }
    #expect(delays.allSatisfy { $0 >= .zero && $0 <= .seconds(60) })
    #expect(delays.contains { $0 < .seconds(3) })
    #expect(delays.contains { $0 > .seconds(57) })
    #expect(BackOff.ceiling(attempts: 1) == .seconds(1))
    #expect(BackOff.ceiling(attempts: 10) == .seconds(60))
    #expect(BackOff.ceiling(attempts: 11) == .seconds(300))
  }

  @Test("Retry-After is honoured and not shortened by a flush")
  func honoursRetryAfter() throws {
    var fixture = QueueFixture()
    try fixture.add("a")
    try fixture.send("a", .transient(retryAfter: .seconds(90)))
    fixture.commit(fixture.queue.flushing(at: fixture.now))
    fixture.pass(.seconds(89))
    #expect(fixture.ready.isEmpty)
    fixture.pass(.seconds(1))
    #expect(fixture.ready == ["a"])
  }

  @Test("A permanent failure rejects the mutation and the queue continues")
  func permanentRejects() throws {
    var fixture = QueueFixture()
    try fixture.add("a")
    try fixture.add("b", .rename())
    try fixture.send("a", .permanent)
    #expect(try fixture.row("a").reason == .refused)
    #expect(fixture.state("a") == .rejected)
    #expect(fixture.ready == ["b"])
  }

  @Test("A permanent failure rejects dependents too")
  func permanentRejectsDependents() throws {
    var fixture = QueueFixture()
    try fixture.add("create", .create(.test(1)))
    try fixture.add("update", .rename(.film(TemporaryID.test(1).value)))
    var second = Asked.create(.test(2))
    second.mentions = [.test(1)]
    try fixture.add("child", second)
    try fixture.add("grandchild", Asked(object: .person("3"), mentions: [.test(2)]))
    try fixture.add("unrelated", .rename(.film("5")))
    try fixture.send("create", .permanent)
    for name in ["update", "child", "grandchild"] {
      #expect(fixture.state(name) == .rejected, "\(name)")
      #expect(try fixture.row(name).reason == .dependency)
    }
    #expect(fixture.ready == ["unrelated"])
  }

  @Test("A mutation is poison after eight failures while others succeed")
  func parksPoison() throws {
    var fixture = QueueFixture()
    try fixture.add("a")
    try fixture.add("meets", .rename())
    try fixture.add("free", .rename(.film("1")))
    for strike in 1...8 {
      #expect(fixture.state("a") == .queued, "before strike \(strike)")
      fixture.othersSucceeded = fixture.now
      try fixture.flushAndSend("a", .transient(retryAfter: nil))
      fixture.pass(.seconds(1))
    }
    #expect(fixture.state("a") == .parked)
    #expect(try fixture.row("a").reason == .poison)
    #expect(fixture.ready == ["free"])
  }

  @Test("Nothing is poison while upstream fails for all")
  func outageIsNotPoison() throws {
    var fixture = QueueFixture()
    try fixture.add("a")
    for _ in 1...40 {
      try fixture.flushAndSend("a", .transient(retryAfter: nil))
      fixture.pass(.seconds(1))
    }
    #expect(fixture.state("a") == .queued)
  }

  @Test("A failing mutation is parked when it expires")
  func parksExpired() throws {
    var fixture = QueueFixture()
    try fixture.add("a", Asked(expiry: .seconds(60)))
    fixture.commit(fixture.queue.pausing())
    #expect(fixture.wake == fixture.now.advanced(by: .seconds(60)))
    fixture.pass(.seconds(60))
    #expect(fixture.state("a") == .parked)
    #expect(try fixture.row("a").reason == .overdue)
  }

  @Test("A parked mutation is sent again after a retry command")
  func retriesParked() throws {
    var fixture = QueueFixture()
    try fixture.add("a")
    try fixture.send("a", .unknown)
    #expect(fixture.ready.isEmpty)
    let changes = try fixture.queue.retrying(
      MutationID("a"), at: fixture.now, policy: fixture.policy)
    fixture.commit(changes)
    #expect(fixture.ready == ["a"])
  }

  @Test("A parked mutation is discarded with its dependents")
  func discardsWithDependents() throws {
    var fixture = QueueFixture()
    try fixture.add("create", .create(.test(1)))
    try fixture.add("update", .rename(.film(TemporaryID.test(1).value)))
    try fixture.send("create", .unknown)
    #expect(fixture.ready.isEmpty)
    fixture.commit(try fixture.queue.discarding(MutationID("create"), at: fixture.now))
    #expect(fixture.state("create") == .discarded)
    #expect(fixture.state("update") == .rejected)
    #expect(fixture.queue.isEmpty)
  }

  @Test("A mutation whose dependencies created nothing is rejected without a request")
  func missingDependencyRejects() throws {
    var fixture = QueueFixture()
    try fixture.add("a")
    let attempts = try fixture.row("a").attempts
    try fixture.send("a", .dependencyMissing)
    let item = try fixture.row("a")
    #expect(item.state == .rejected && item.reason == .dependency)
    #expect(item.attempts == attempts)
  }

  @Test("An idempotent mutation with an unknown outcome is sent again")
  func unknownOutcomeIsSentAgain() throws {
    var fixture = QueueFixture()
    try fixture.add("a", Asked(rule: .sendAgain))
    try fixture.send("a", .unknown)
    let item = try fixture.row("a")
    #expect(item.state == .queued)
    #expect(item.step == .send)
    #expect(item.everSent)
    #expect(item.id == MutationID("a"))
  }

  @Test("An unknown outcome is verified if there is a query for it")
  func unknownOutcomeIsVerified() throws {
    var fixture = QueueFixture()
    try fixture.add("a", Asked(rule: .verify(operation: "FilmRating")))
    try fixture.send("a", .unknown)
    #expect(try fixture.row("a").step == .verify)
    try fixture.send("a", .foundMissing)
    #expect(try fixture.row("a").step == .send)
    try fixture.flushAndSend("a", .unknown)
    try fixture.send("a", .transient(retryAfter: nil))
    #expect(try fixture.row("a").step == .verify)
    try fixture.flushAndSend("a", .applied(created: [:]))
    #expect(fixture.state("a") == .applied)
  }

  @Test("An unknown outcome that cannot be verified is parked")
  func unknownOutcomeIsParked() throws {
    var fixture = QueueFixture()
    try fixture.add("a")
    try fixture.send("a", .unknown)
    #expect(fixture.state("a") == .parked)
    #expect(try fixture.row("a").reason == .outcomeUnknown)
    #expect(try fixture.row("a").state.showsOverlay)
  }

  @Test(
    "A mutation in flight at a crash has an unknown outcome",
    arguments: [
      (UnknownOutcomeRule.sendAgain, MutationState.queued, MutationStep.send),
      (.verify(operation: "FilmRating"), .queued, .verify),
      (.park, .parked, .send),
    ])
  func crashIsUnknownOutcome(
    rule: UnknownOutcomeRule, state: MutationState, step: MutationStep
  ) throws {
    var fixture = QueueFixture()
    try fixture.add("a", Asked(rule: rule))
    try fixture.claim("a")
    let claim = try #require(fixture.row("a").claim)
    fixture.restart(boot: "boot-2")
    #expect(fixture.state("a") == state)
    #expect(try fixture.row("a").step == step)
    #expect(try fixture.row("a").isFrozen)
    var random = SeededGenerator(seed: 1)
    let late = fixture.queue.settling(
      claim, as: .permanent, othersSucceeded: nil, at: fixture.now,
      using: &random)
    #expect(late == nil)
  }

  @Test("A missing response is an unknown outcome")
  func missingResponseIsUnknownOutcome() throws {
    var fixture = QueueFixture()
    try fixture.add("a", Asked(rule: .sendAgain))
    try fixture.claim("a")
    #expect(fixture.wake == fixture.now.advanced(by: fixture.policy.answerDeadline))
    fixture.pass(fixture.policy.answerDeadline)
    #expect(fixture.state("a") == .queued)
    #expect(try fixture.row("a").everSent)
  }

  @Test("A create that resolves no temporary id rejects mutations that need it")
  func unresolvedRejectsDependents() throws {
    var fixture = QueueFixture()
    try fixture.add("create", .create(.test(1)))
    try fixture.add("update", .rename(.film(TemporaryID.test(1).value)))
    try fixture.send("create", .applied(created: [:]))
    #expect(fixture.state("create") == .applied)
    #expect(try fixture.row("update").reason == .unresolved)
  }
}
