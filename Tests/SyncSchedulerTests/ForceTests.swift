import Model
import SyncScheduler
import Testing

struct ForceTests {
  typealias Asked = QueueFixture.Asked

  @Test("A forced mutation overtakes mutations it does not conflict with")
  func overtakesUnrelated() throws {
    var fixture = QueueFixture()
    try fixture.add("lazy", .rename(.film("1")))
    try fixture.add("steady", .steady(.film("2")))
    try fixture.add("force", .force())
    #expect(fixture.ready == ["force"])
    try fixture.send("force")
    #expect(fixture.ready == ["lazy"])
  }

  @Test("A forced mutation is sent concurrently unless it conflicts with one in flight")
  func sendsConcurrently() throws {
    var fixture = QueueFixture()
    try fixture.add("lazy", .rename(.film("1")))
    try fixture.claim("lazy")
    try fixture.add("force", .force())
    #expect(fixture.ready == ["force"])
    try fixture.add("met", .force(.film("1")))
    try fixture.claim("force")
    #expect(fixture.ready.isEmpty)
    try fixture.settle("lazy", .applied(created: [:]))
    #expect(fixture.ready == ["met"])
  }

  @Test("A forced mutation's dependencies are sent first, in order")
  func sendsDependenciesFirst() throws {
    var fixture = QueueFixture()
    try fixture.add("unrelated", .rename(.film("1")))
    try fixture.add("first", .rename())
    try fixture.add("second", Asked(operation: "TagFilm"))
    try fixture.add("force", .force())
    for name in ["first", "second", "force", "unrelated"] {
      #expect(fixture.ready == [name])
      try fixture.send(name)
    }
  }

  @Test("Transitive dependencies are sent first too")
  func sendsTransitiveDependenciesFirst() throws {
    var fixture = QueueFixture()
    try fixture.add("before", .steady(.film("1")))
    try fixture.add("dependency", .steady(.film("9")))
    try fixture.add("force", .force())
    for name in ["before", "dependency", "force"] {
      #expect(fixture.ready == [name])
      try fixture.send(name)
    }
  }

  @Test("Back-off, debounce and pause do not delay a forced mutation's dependencies")
  func ignoresWaitsOfDependencies() throws {
    var fixture = QueueFixture()
    fixture.policy.debounce = .seconds(5)
    try fixture.add("debounced", .rename())
    fixture.commit(fixture.queue.pausing())
    #expect(fixture.ready.isEmpty)
    try fixture.add("force", .force())
    #expect(fixture.ready == ["debounced"])
    try fixture.send("debounced", .transient(retryAfter: nil))
    fixture.pass(QueuePolicy.forceSpacing)
    #expect(fixture.ready == ["debounced"])
    try fixture.send("debounced")
    #expect(fixture.ready == ["force"])
  }

  @Test("A forced mutation supersedes unsent lazy ones of its kind")
  func supersedesLazyOnes() throws {
    var fixture = QueueFixture()
    try fixture.add("lazy")
    try fixture.add("force", .force())
    #expect(fixture.ready == ["force"])
    try fixture.send("force")
    #expect(fixture.state("lazy") == .superseded)
    #expect(try fixture.row("lazy").supersededBy == MutationID("force"))
  }

  @Test("Superseded candidates are only held until the forced mutation has reached upstream")
  func holdsCandidatesUntilSent() throws {
    var fixture = QueueFixture()
    try fixture.add("lazy")
    try fixture.add("force", .force())
    try fixture.send("force", .notSent(isAway: true))
    #expect(fixture.state("lazy") == .queued)
    fixture.pass(fixture.policy.forceDeadline)
    #expect(fixture.state("force") == .expired)
    #expect(fixture.ready == ["lazy"])
  }

  @Test("A lazy mutation with a conflicting one in between is sent first")
  func sendsLazyOnesWithConflictsFirst() throws {
    var fixture = QueueFixture()
    try fixture.add("lazy")
    try fixture.add("between", .rename())
    try fixture.add("force", .force())
    for name in ["lazy", "between", "force"] {
      #expect(fixture.ready == [name])
      try fixture.send(name)
    }
  }

  @Test("A forced mutation ahead of all overtakes even conflicting ones")
  func aheadOfAllOvertakesConflicts() throws {
    var fixture = QueueFixture()
    try fixture.add("lazy", .rename())
    try fixture.add("force", Asked(mode: .force, overtakesAll: true))
    #expect(fixture.ready == ["force"])
  }

  @Test("A forced mutation ahead of all waits for the temporary ids it needs")
  func aheadOfAllWaitsForTemporaryIDs() throws {
    var fixture = QueueFixture()
    try fixture.add("create", .create(.test(1)))
    try fixture.add("lazy", .rename(.film("9")))
    var asked = Asked(mode: .force, overtakesAll: true)
    asked.mentions = [.test(1)]
    try fixture.add("force", asked)
    #expect(fixture.ready == ["create"])
    try fixture.send("create", .applied(created: [.test(1): .film("77")]))
    #expect(fixture.ready == ["force"])
  }

  @Test("A forced mutation is rejected with its dependency")
  func isRejectedWithItsDependency() throws {
    var fixture = QueueFixture()
    try fixture.add("lazy", .rename())
    try fixture.add("force", .force())
    try fixture.send("lazy", .permanent)
    #expect(fixture.state("force") == .rejected)
    #expect(try fixture.row("force").reason == .dependency)
  }

  @Test("An unsent forced mutation expires at its deadline, and its key arms it again")
  func expiresAndIsArmedAgain() throws {
    var fixture = QueueFixture()
    try fixture.add("force", .force())
    try fixture.send("force", .notSent(isAway: true))
    fixture.pass(.seconds(9))
    #expect(fixture.state("force") == .queued)
    fixture.pass(.seconds(1))
    let expired = try fixture.row("force")
    #expect(expired.state == .expired)
    #expect(expired.reason == .notSent)
    #expect(fixture.ready.isEmpty)
    #expect(fixture.wake == nil)
    #expect(expired.reuse(of: .test(1), at: fixture.now) == .arm)
    #expect(expired.reuse(of: .test(2), at: fixture.now) == .conflict)
    fixture.commit(fixture.queue.arming(expired, at: fixture.now, policy: fixture.policy))
    #expect(fixture.ready == ["force"])
  }

  @Test("A repeated key joins a forced mutation in flight and replays a finished one")
  func isJoinedAndReplayed() throws {
    var fixture = QueueFixture()
    try fixture.add("force", .force())
    #expect(try fixture.row("force").reuse(of: .test(1), at: fixture.now) == .replay)
    try fixture.claim("force")
    #expect(try fixture.row("force").reuse(of: .test(1), at: fixture.now) == .replay)
    try fixture.settle("force", .applied(created: [:]))
    #expect(try fixture.row("force").reuse(of: .test(1), at: fixture.now) == .replay)
  }

  @Test("A forced mutation sent without a response stays queued at its deadline")
  func sentMutationStaysAtDeadline() throws {
    var fixture = QueueFixture()
    var asked = Asked.force()
    asked.rule = .sendAgain
    try fixture.add("force", asked)
    try fixture.send("force", .unknown)
    fixture.pass(.seconds(11))
    #expect(fixture.state("force") == .queued)
    fixture.commit(fixture.queue.flushing(at: fixture.now))
    #expect(fixture.ready == ["force"])
  }

  @Test(
    "A refused credential of a forced mutation is reported at once and pauses nothing",
    arguments: [SendOutcome.authRefused, .anonymousRefused])
  func refusedCredentialExpires(outcome: SendOutcome) throws {
    var fixture = QueueFixture()
    try fixture.add("lazy", .rename(.film("1")))
    try fixture.add("force", .force())
    try fixture.send("force", outcome)
    #expect(try fixture.row("force").reason == .authRequired)
    #expect(fixture.state("force") == .expired)
    #expect(fixture.queue.control.state == .running)
    #expect(fixture.ready == ["lazy"])
  }

  @Test("A forced mutation without a credential expires even after its deadline")
  func missingCredentialExpires() throws {
    var fixture = QueueFixture()
    try fixture.add("force", .force())
    try fixture.claim("force")
    fixture.pass(.seconds(11))
    try fixture.settle("force", .anonymousRefused)
    #expect(fixture.state("force") == .expired)
    #expect(try fixture.row("force").reuse(of: .test(1), at: fixture.now) == .arm)
  }

  @Test("An expired create still blocks mutations that need its temporary id")
  func expiredCreateBlocksDependents() throws {
    var fixture = QueueFixture()
    try fixture.add("create", .create(.test(1), mode: .force))
    try fixture.add("update", .rename(.film(TemporaryID.test(1).value)))
    fixture.pass(.seconds(10))
    #expect(fixture.state("create") == .expired)
    #expect(fixture.ready.isEmpty)
    let expired = try fixture.row("create")
    fixture.commit(fixture.queue.arming(expired, at: fixture.now, policy: fixture.policy))
    #expect(fixture.ready == ["create"])
    try fixture.send("create", .applied(created: [.test(1): .film("77")]))
    #expect(fixture.ready == ["update"])
  }

  @Test("A mutation armed again waits for conflicting ones that may have reached upstream")
  func armedAgainWaitsForSentConflicts() throws {
    var fixture = QueueFixture()
    try fixture.add("force", .force())
    fixture.pass(.seconds(10))
    try fixture.add("lazy", .rename())
    try fixture.send("lazy", .transient(retryAfter: .seconds(2)))
    let expired = try fixture.row("force")
    fixture.commit(fixture.queue.arming(expired, at: fixture.now, policy: fixture.policy))
    #expect(fixture.ready.isEmpty)
    fixture.pass(.seconds(2))
    #expect(fixture.ready == ["lazy"])
    try fixture.send("lazy")
    #expect(fixture.ready == ["force"])
  }
}
