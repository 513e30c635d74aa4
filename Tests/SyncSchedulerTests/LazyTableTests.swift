import Model
import SyncScheduler
import Testing

/// The table of how a lazy mutation affects queued ones of the same object: one test per row.
struct LazyTableTests {
  typealias Asked = QueueFixture.Asked

  @Test("An unsent mutation of the same operation is replaced in its place")
  func replacesInPlace() throws {
    var fixture = QueueFixture()
    try fixture.add("first")
    try fixture.add("elsewhere", Asked(object: .film("1")))
    let decision = try fixture.add("second")
    #expect(decision.supersedes == MutationID("first"))
    #expect(fixture.state("first") == .superseded)
    #expect(try fixture.row("first").supersededBy == MutationID("second"))
    #expect(try fixture.row("second").place == fixture.row("first").place)
    #expect(fixture.queue.held.map(\.id.value) == ["second", "elsewhere"])
  }

  @Test("A mutation is appended if a conflicting one is in between")
  func appendsAfterConflict() throws {
    var fixture = QueueFixture()
    try fixture.add("first")
    try fixture.add("between", .rename())
    let decision = try fixture.add("second")
    #expect(decision.supersedes == nil)
    #expect(fixture.queue.held.map(\.id.value) == ["first", "between", "second"])
  }

  @Test("A conflict with the new footprint alone prevents replacement")
  func newFootprintConflictsPreventReplacement() throws {
    var fixture = QueueFixture()
    try fixture.add("first")
    try fixture.add("between", .rename(.person("3")))
    try fixture.add("second", Asked(refs: [.person("3")]))
    #expect(fixture.queue.held.map(\.id.value) == ["first", "between", "second"])
  }

  @Test("An appended mutation is replaced in turn")
  func replacesAppended() throws {
    var fixture = QueueFixture()
    try fixture.add("first")
    try fixture.add("between", .rename())
    try fixture.add("second")
    let decision = try fixture.add("third")
    #expect(decision.supersedes == MutationID("second"))
    #expect(fixture.state("first") == .queued)
  }

  @Test("A mutation in flight has one successor, which later ones replace")
  func inFlightHasOneSuccessor() throws {
    var fixture = QueueFixture()
    try fixture.add("first")
    try fixture.claim("first")
    #expect(try fixture.add("second").supersedes == nil)
    #expect(try fixture.add("third").supersedes == MutationID("second"))
    #expect(fixture.queue.held.map(\.id.value) == ["first", "third"])
    #expect(fixture.ready.isEmpty)
    try fixture.settle("first", .applied(created: [:]))
    #expect(fixture.ready == ["third"])
  }

  @Test("A mutation that was sent once gets a successor")
  func sentOnceGetsSuccessor() throws {
    var fixture = QueueFixture()
    try fixture.add("first")
    try fixture.send("first", .transient(retryAfter: .seconds(5)))
    #expect(try fixture.add("second").supersedes == nil)
    #expect(try fixture.add("third").supersedes == MutationID("second"))
    #expect(fixture.state("first") == .queued)
  }

  @Test("An attempt that sent nothing counts as never made")
  func notSentCountsAsNeverSent() throws {
    var fixture = QueueFixture()
    try fixture.add("first")
    try fixture.send("first", .notSent(isAway: true))
    #expect(try fixture.add("second").supersedes == MutationID("first"))
  }

  /// What came while the attempt was failing merges as what comes after it.
  @Test("After an attempt that sent nothing only the latest mutation is sent")
  func unsentAttemptMergesWithSuccessor() throws {
    var fixture = QueueFixture()
    try fixture.add("first")
    try fixture.claim("first")
    try fixture.add("second")
    try fixture.add("elsewhere", Asked(object: .film("1")))
    try fixture.settle("first", .notSent(isAway: true))
    #expect(fixture.state("first") == .superseded)
    #expect(try fixture.row("first").supersededBy == MutationID("second"))
    #expect(try fixture.row("second").place == fixture.row("first").place)
    #expect(try fixture.add("third").supersedes == MutationID("second"))
    #expect(fixture.queue.held.map(\.id.value) == ["third", "elsewhere"])
    #expect(fixture.ready == ["third"])
  }

  @Test("After an attempt that sent nothing a conflicting mutation prevents merging")
  func conflictPreventsMergingAfterUnsentAttempt() throws {
    var fixture = QueueFixture()
    try fixture.add("first")
    try fixture.claim("first")
    try fixture.add("between", .rename())
    try fixture.add("second")
    try fixture.settle("first", .notSent(isAway: true))
    #expect(fixture.queue.held.map(\.id.value) == ["first", "between", "second"])
  }

  @Test("A mutation that was sent once is never merged")
  func sentOnceIsNeverMerged() throws {
    var fixture = QueueFixture()
    try fixture.add("first", Asked(rule: .sendAgain))
    try fixture.send("first", .unknown)
    try fixture.add("second")
    try fixture.flushAndSend("first", .notSent(isAway: true))
    #expect(fixture.queue.held.map(\.id.value) == ["first", "second"])
  }

  @Test("Back-off of a busy server delays the successor too")
  func busyServerDelaysSuccessor() throws {
    var fixture = QueueFixture()
    try fixture.add("first")
    try fixture.claim("first")
    try fixture.add("second")
    try fixture.settle("first", .notSent(isAway: false))
    #expect(fixture.queue.held.map(\.id.value) == ["second"])
    #expect(fixture.ready.isEmpty)
  }

  @Test("A create whose attempt sent nothing and its delete annihilate each other")
  func unsentAttemptAnnihilates() throws {
    var fixture = QueueFixture()
    try fixture.add("create", .create(.test(1)))
    try fixture.claim("create")
    try fixture.add("delete", .delete(.film(TemporaryID.test(1).value)))
    try fixture.settle("create", .notSent(isAway: true))
    #expect(fixture.state("create") == .annihilated)
    #expect(fixture.state("delete") == .annihilated)
    #expect(fixture.queue.isEmpty)
  }

  @Test("An unsent create and its delete annihilate each other")
  func createAndDeleteAnnihilate() throws {
    var fixture = QueueFixture()
    try fixture.add("create", .create(.test(1)))
    let decision = try fixture.add("delete", .delete(.film(TemporaryID.test(1).value)))
    #expect(decision.mutation.state == .annihilated)
    #expect(fixture.state("create") == .annihilated)
    #expect(fixture.state("delete") == .annihilated)
    #expect(fixture.queue.isEmpty)
  }

  @Test("A create whose temporary id others mention is kept with its delete")
  func mentionedCreateIsKept() throws {
    var fixture = QueueFixture()
    let film = EntityKey.film(TemporaryID.test(1).value)
    try fixture.add("create", .create(.test(1)))
    try fixture.add("mention", Asked(object: .person("3"), mentions: [.test(1)]))
    try fixture.add("delete", .delete(film))
    #expect(fixture.queue.held.map(\.id.value) == ["create", "mention", "delete"])
  }

  @Test("A delete waits for its create in flight and is sent with the real id")
  func deleteWaitsForCreate() throws {
    var fixture = QueueFixture()
    try fixture.add("create", .create(.test(1)))
    try fixture.claim("create")
    try fixture.add("delete", .delete(.film(TemporaryID.test(1).value)))
    #expect(fixture.ready.isEmpty)
    try fixture.settle("create", .applied(created: [.test(1): .film("77")]))
    #expect(fixture.ready == ["delete"])
    #expect(try fixture.row("delete").object == .film("77"))
    #expect(try fixture.row("delete").footprint.tokens == [.entity(.film("77"))])
  }

  @Test("A delete is annihilated if its sent create is rejected")
  func deleteIsAnnihilatedWithRejectedCreate() throws {
    var fixture = QueueFixture()
    try fixture.add("create", .create(.test(1)))
    try fixture.send("create", .transient(retryAfter: nil))
    try fixture.add("delete", .delete(.film(TemporaryID.test(1).value)))
    try fixture.flushAndSend("create", .permanent)
    #expect(fixture.state("create") == .rejected)
    #expect(fixture.state("delete") == .annihilated)
  }

  @Test("An update and a delete are both kept")
  func keepsUpdateAndDelete() throws {
    var fixture = QueueFixture()
    try fixture.add("update")
    try fixture.add("delete", .delete(.film("9")))
    #expect(fixture.queue.held.map(\.id.value) == ["update", "delete"])
  }

  @Test("A mutation after a delete is refused", arguments: [MutationEffect.update, .create])
  func refusesAfterDelete(effect: MutationEffect) throws {
    var fixture = QueueFixture()
    try fixture.add("delete", .delete(.film("9")))
    let before = fixture.rows
    #expect(throws: EnqueueRefusal.objectDeleted(by: MutationID("delete"))) {
      try fixture.add("late", Asked(effect: effect))
    }
    #expect(fixture.rows == before)
  }

  @Test("Steady mutations are never merged")
  func neverMergesSteady() throws {
    var fixture = QueueFixture()
    try fixture.add("first", .steady(.film("9")))
    try fixture.add("second", .steady(.film("9")))
    try fixture.add("third", Asked(operation: "LogView"))
    #expect(fixture.queue.held.map(\.id.value) == ["first", "second", "third"])
  }

  @Test("Mutations without an object are never replaced")
  func neverReplacesWithoutObject() throws {
    var fixture = QueueFixture()
    try fixture.add("first", Asked(object: nil))
    try fixture.add("second", Asked(object: nil))
    #expect(fixture.queue.held.count == 2)
  }

  @Test("A full queue refuses only mutations that would make it longer")
  func fullQueueRefusesGrowth() throws {
    var fixture = QueueFixture()
    fixture.policy.itemsMax = 2
    try fixture.add("first", Asked(object: .film("1")))
    try fixture.add("second", Asked(object: .film("2")))
    #expect(throws: EnqueueRefusal.queueFull(itemsMax: 2)) {
      try fixture.add("third", Asked(object: .film("3")))
    }
    #expect(try fixture.add("again", Asked(object: .film("2"))).supersedes != nil)
  }
}
