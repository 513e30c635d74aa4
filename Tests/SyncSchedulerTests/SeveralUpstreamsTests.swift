import Model
import SyncScheduler
import Testing

/// A queue whose mutations belong to two upstreams, one of which is in trouble.
struct SeveralUpstreamsTests {
  private typealias Asked = QueueFixture.Asked

  private static func asked(
    _ upstream: String, _ film: String, mode: MutationMode = .lazy
  ) -> QueueFixture.Asked {
    QueueFixture.Asked(object: .film(film), mode: mode, upstream: upstream)
  }

  @Test(
    "A mutation in flight to one upstream holds no mutation of the other",
    arguments: [MutationMode.lazy, .steady])
  func flightHoldsOwnUpstreamOnly(mode: MutationMode) throws {
    var fixture = QueueFixture()
    try fixture.add("hanging", Self.asked("shop", "1", mode: mode))
    try fixture.claim("hanging")
    try fixture.add("next", Self.asked("shop", "2", mode: .steady))
    try fixture.add("other", Self.asked("films", "3", mode: .steady))
    try fixture.add("later", Self.asked("films", "4", mode: .steady))
    #expect(fixture.ready == ["other"])
    try fixture.send("other")
    #expect(fixture.ready == ["later"])
    try fixture.send("later")
    #expect(fixture.ready.isEmpty)
    try fixture.settle("hanging", .applied(created: [:]))
    #expect(fixture.ready == ["next"])
  }

  @Test("Mutations in flight to one upstream leave the other its parallel ones")
  func parallelPerUpstream() throws {
    var fixture = QueueFixture()
    for film in 1...fixture.policy.parallel {
      try fixture.add("s\(film)", Self.asked("shop", "s\(film)"))
      try fixture.claim("s\(film)")
    }
    try fixture.add("s", Self.asked("shop", "s"))
    for film in 1...fixture.policy.parallel {
      try fixture.add("f\(film)", Self.asked("films", "f\(film)"))
      #expect(fixture.ready == ["f\(film)"])
      try fixture.claim("f\(film)")
    }
    try fixture.add("f", Self.asked("films", "f"))
    #expect(fixture.ready.isEmpty)
  }

  @Test("What conflicts waits for a mutation of another upstream")
  func conflictsCrossUpstreams() throws {
    var fixture = QueueFixture()
    try fixture.add("hanging", Self.asked("shop", "1"))
    try fixture.claim("hanging")
    try fixture.add("conflicting", Self.asked("films", "1"))
    try fixture.add("free", Self.asked("films", "2"))
    #expect(fixture.ready == ["free"])
    try fixture.settle("hanging", .applied(created: [:]))
    #expect(fixture.ready == ["conflicting"])
  }

  @Test("A parked steady mutation of one upstream does not hold those of the other")
  func steadyOrderPerUpstream() throws {
    var fixture = QueueFixture()
    try fixture.add("failing", Self.asked("shop", "1", mode: .steady))
    try fixture.add("shop", Self.asked("shop", "2", mode: .steady))
    try fixture.add("films", Self.asked("films", "3", mode: .steady))
    try fixture.send("failing", .transient(retryAfter: .seconds(60)))
    #expect(fixture.ready == ["films"])
    try fixture.send("films")
    #expect(fixture.ready.isEmpty)
    fixture.pass(.seconds(61))
    #expect(fixture.ready == ["failing"])
  }

  @Test("A hanging dependency of one upstream does not hold a forced mutation of the other")
  func forcedPerUpstream() throws {
    var fixture = QueueFixture()
    try fixture.add("slow", Self.asked("shop", "1", mode: .steady))
    try fixture.claim("slow")
    try fixture.add("shop", Asked(object: .film("1"), mode: .force, upstream: "shop"))
    #expect(fixture.ready.isEmpty)
    try fixture.add("first", Asked(operation: "Tag", object: .film("2"), upstream: "films"))
    try fixture.add("films", Asked(object: .film("2"), mode: .force, upstream: "films"))
    #expect(fixture.ready == ["first"])
    try fixture.send("first")
    #expect(fixture.ready == ["films"])
  }

  @Test("A refused credential holds only mutations for the upstream that refused it")
  func refusalPerUpstream() throws {
    var fixture = QueueFixture()
    try fixture.add("refused", Self.asked("shop", "1"))
    try fixture.add("shop", Self.asked("shop", "2"))
    try fixture.add("films", Self.asked("films", "3"))
    try fixture.send("refused", .authRefused)
    #expect(fixture.queue.control.state == .authRequired)
    #expect(fixture.ready == ["films"])
    try fixture.send("films", .authRefused)
    #expect(fixture.ready.isEmpty)
    #expect(throws: CommandRefusal.needsCredential) { try fixture.queue.admit(.flush) }
    fixture.commit(fixture.queue.authenticated(for: "films"))
    #expect(fixture.ready == ["films"])
    #expect(fixture.queue.control.needsCredential)
    try fixture.queue.admit(.flush)
    fixture.commit(fixture.queue.authenticated(for: "shop"))
    #expect(fixture.queue.control.state == .running)
    #expect(fixture.ready == ["refused", "films"])
  }

  @Test("A queue that waits for all upstreams resumes for all with the next credential")
  func waitsForAll() throws {
    var fixture = QueueFixture()
    try fixture.add("shop", Self.asked("shop", "1"))
    try fixture.add("films", Self.asked("films", "2"))
    fixture.commit(QueueChanges(control: QueueControl(needsCredential: true)))
    #expect(fixture.ready.isEmpty)
    fixture.commit(fixture.queue.authenticated(for: "films"))
    #expect(fixture.ready == ["shop", "films"])
  }

  @Test("A mutation follows its operation to another upstream")
  func followsItsOperation() throws {
    var fixture = QueueFixture()
    try fixture.add("parked", Self.asked("default", "2"))
    try fixture.send("parked", .unknown)
    try fixture.add("moved", Self.asked("default", "1", mode: .steady))
    try fixture.add("gone", Self.asked("default", "3"))
    fixture.commit(
      fixture.queue.reviewing(
        misfits: [MutationID("gone")], fitting: [],
        moved: [
          MutationID("moved"): "films", MutationID("parked"): "shop", MutationID("gone"): "shop",
        ], at: fixture.now, policy: fixture.policy))
    #expect(try fixture.row("moved").upstream == "films")
    #expect(try fixture.row("parked").upstream == "shop")
    #expect(fixture.state("parked") == .parked)
    #expect(fixture.state("gone") == .parked)
    #expect(fixture.ready == ["moved"])
    #expect(
      fixture.queue.schedule(at: fixture.now, policy: fixture.policy).ready.map(\.upstream)
        == ["films"])
  }

  @Test("Each upstream has its own limit and its own outage")
  func limitsPerUpstream() {
    var rotation = SendRotation(
      concurrency: SendConcurrency(1, limits: ["shop": 1, "films": 2]))
    let policy = QueuePolicy()
    let now = Timestamp(milliseconds: 1_000_000)
    for number in 1...3 {
      for upstream in ["films", "shop"] {
        rotation.note(
          QueueSchedule(
            ready: [
              QueueSchedule.Ready(
                id: MutationID("\(upstream)\(number)"), upstream: upstream, place: Int64(number),
                isForced: false)
            ], wake: nil), of: "\(upstream) phone \(number)")
      }
    }
    var turns: [SendRotation.Turn] = []
    while let turn = rotation.next(at: now) { turns.append(turn) }
    #expect(turns.map(\.ready.id.value) == ["films1", "films2", "shop1"])
    rotation.ended(turns[2], as: .notSent(isAway: true), at: now, policy: policy)
    rotation.ended(turns[0], as: .applied(created: [:]), at: now, policy: policy)
    #expect(rotation.next(at: now)?.ready.id.value == "films3")
    #expect(rotation.next(at: now) == nil, "shop is away until the next probe")
  }
}
