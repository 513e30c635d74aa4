import Model
import SyncScheduler
import Testing

/// Decisions about long queues by their first mutations; `QueueExhaustionTests` compares them with whole
/// queues for every small queue.
struct QueueTailTests {
  private func queue(_ count: Int, _ asked: (Int) -> QueueFixture.Asked) throws -> QueueFixture {
    var fixture = QueueFixture()
    for number in 0..<count { try fixture.add("m\(number)", asked(number)) }
    fixture.pass(.seconds(1))
    return fixture
  }

  private func heads(_ fixture: QueueFixture) -> QueueHeads {
    QueueHeads(whole: fixture.queue, now: fixture.now, policy: fixture.policy)
  }

  @Test("The first of a thousand mutations determine the next one")
  func headDeterminesNext() throws {
    let fixture = try queue(1_000) { .steady(.film("\($0)")) }
    let head = try #require(heads(fixture).head(3))
    #expect(head.held.count == 3)
    #expect(!head.needsTail(at: fixture.now, policy: fixture.policy))
    #expect(
      head.schedule(at: fixture.now, policy: fixture.policy)
        == fixture.queue.schedule(at: fixture.now, policy: fixture.policy))
  }

  @Test("The tail is needed if the first mutations wait")
  func needsTailIfHeadWaits() throws {
    var fixture = try queue(5) { QueueFixture.Asked(object: .film("\($0)"), rule: .sendAgain) }
    try fixture.send("m0", .transient(retryAfter: .seconds(60)))
    let head = try #require(heads(fixture).head(1))
    #expect(head.needsTail(at: fixture.now, policy: fixture.policy))
    #expect(heads(fixture).faults == [])
  }

  @Test("The tail is needed for other upstreams")
  func needsTailForOtherUpstreams() throws {
    let fixture = try queue(4) { number in
      QueueFixture.Asked(object: .film("\(number)"), upstream: number < 3 ? "films" : "people")
    }
    #expect(fixture.ready == ["m0", "m3"])
    let head = try #require(heads(fixture).head(2))
    #expect(head.needsTail(at: fixture.now, policy: fixture.policy))
  }

  @Test("An expiry in the tail is noticed in time")
  func noticesExpiryInTail() throws {
    var fixture = try queue(4) { number in
      QueueFixture.Asked(object: .film("\(number)"), expiry: number == 3 ? .seconds(60) : nil)
    }
    let head = try #require(heads(fixture).head(2))
    let wake = try #require(head.schedule(at: fixture.now, policy: fixture.policy).wake)
    #expect(!head.needsTail(at: fixture.now, policy: fixture.policy))
    fixture.now = wake
    #expect(head.needsTail(at: fixture.now, policy: fixture.policy))
  }

  @Test("The tail is needed before a create settles")
  func needsTailToSettleCreate() throws {
    var fixture = QueueFixture()
    try fixture.add("create", .create(.test(1)))
    try fixture.add("other")
    try fixture.add("update", QueueFixture.Asked(object: .film(TemporaryID.test(1).value)))
    fixture.pass(.seconds(1))
    try fixture.claim("create")
    let head = try #require(heads(fixture).head(1))
    #expect(
      head.needsTail(
        toSettle: try #require(fixture.row("create").claim), as: .applied(created: [:])))
  }

  @Test("A forced mutation needs all before it")
  func forcedNeedsTail() throws {
    var fixture = try queue(4) { _ in QueueFixture.Asked(mode: .steady) }
    try fixture.add("now", .force())
    let head = try #require(heads(fixture).head(1))
    #expect(head.held.map(\.id.value) == ["m0", "now"])
    #expect(head.needsTail(at: fixture.now, policy: fixture.policy))
  }

  @Test("Loading the tail step by step gives the whole queue")
  func loadingGivesWholeQueue() throws {
    let fixture = try queue(10) { .steady(.film("\($0)")) }
    var head = try #require(heads(fixture).head(4))
    let tail = try #require(head.tail)
    // Loaded again they can overlap with held ones.
    head.extend(by: fixture.queue.held[3..<7], tail: tail.from(fixture.queue.held[7].place))
    #expect(head.held == Array(fixture.queue.held[..<7]))
    head.extend(by: fixture.queue.held[7...], tail: nil)
    #expect(head.held == fixture.queue.held)
    #expect(head.tail == nil)
  }
}
