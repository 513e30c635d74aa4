import Model
import SyncScheduler
import Testing

struct ReadinessTests {
  typealias Asked = QueueFixture.Asked

  @Test("One mutation is sent at a time by default")
  func oneAtATimeByDefault() throws {
    var fixture = QueueFixture()
    try fixture.add("a", .rename(.film("1")))
    try fixture.add("b", .rename(.film("2")))
    try fixture.claim("a")
    #expect(fixture.ready.isEmpty)
  }

  @Test("Unrelated lazy mutations are sent together if configured")
  func unrelatedLazyOnesGoTogether() throws {
    var fixture = QueueFixture()
    fixture.policy = QueuePolicy(parallel: 3)
    try fixture.add("a", .rename(.film("1")))
    try fixture.add("met", Asked(object: .film("1")))
    try fixture.add("b", .rename(.film("2")))
    try fixture.add("c", .rename(.film("3")))
    try fixture.add("d", .rename(.film("4")))
    for name in ["a", "b", "c"] {
      #expect(fixture.ready == [name])
      try fixture.claim(name)
    }
    #expect(fixture.ready.isEmpty)
  }

  @Test("Steady mutations are sent alone and not starved")
  func steadyOnesGoAlone() throws {
    var fixture = QueueFixture()
    fixture.policy = QueuePolicy(parallel: 4)
    try fixture.add("a", .rename(.film("1")))
    try fixture.add("steady", .steady(.film("2")))
    try fixture.add("b", .rename(.film("3")))
    try fixture.claim("a")
    #expect(fixture.ready.isEmpty)
    try fixture.settle("a", .applied(created: [:]))
    #expect(fixture.ready == ["steady"])
    try fixture.claim("steady")
    #expect(fixture.ready.isEmpty)
  }

  @Test("Steady mutations are totally ordered, and parked ones do not block them")
  func steadyIsATotalOrder() throws {
    var fixture = QueueFixture()
    try fixture.add("first", .steady(.film("1")))
    try fixture.add("second", .steady(.film("2")))
    try fixture.send("first", .transient(retryAfter: .seconds(60)))
    #expect(fixture.ready.isEmpty)
    fixture.pass(.seconds(60))
    try fixture.send("first", .unknown)
    #expect(fixture.state("first") == .parked)
    #expect(fixture.ready == ["second"])
  }

  @Test("A parked mutation blocks only what conflicts with it")
  func parkedBlocksOnlyConflicts() throws {
    var fixture = QueueFixture()
    try fixture.add("parked")
    try fixture.send("parked", .unknown)
    try fixture.add("met", Asked(operation: "TagFilm", object: .film("2"), refs: [.film("9")]))
    try fixture.add("free", .rename(.film("1")))
    #expect(fixture.ready == ["free"])
    try fixture.send("free")
    #expect(fixture.ready.isEmpty)
  }

  @Test("A mutation in back-off does not block unrelated ones")
  func backOffDoesNotBlockUnrelated() throws {
    var fixture = QueueFixture()
    try fixture.add("a", .rename(.film("1")))
    try fixture.add("met", Asked(object: .film("1")))
    try fixture.add("b", .rename(.film("2")))
    try fixture.send("a", .transient(retryAfter: .seconds(30)))
    #expect(fixture.ready == ["b"])
  }

  @Test("A paused queue sends nothing and resumes at once")
  func pauses() throws {
    var fixture = QueueFixture()
    try fixture.add("a")
    fixture.commit(fixture.queue.pausing())
    #expect(fixture.ready.isEmpty)
    #expect(fixture.queue.control.state == .paused)
    fixture.commit(fixture.queue.resuming())
    #expect(fixture.ready == ["a"])
  }

  @Test("The first mutation of each upstream is ready")
  func firstOfEachUpstreamIsReady() throws {
    var fixture = QueueFixture()
    try fixture.add("a", .rename(.film("1")))
    try fixture.add("b", .rename(.film("2")))
    try fixture.add("c", Asked(object: .film("3"), upstream: "other"))
    #expect(fixture.ready == ["a", "c"])
  }

  @Test("Replacements prolong the debounce at most tenfold")
  func debounceIsLimited() throws {
    var fixture = QueueFixture()
    fixture.policy.debounce = .seconds(2)
    let start = fixture.now
    try fixture.add("0")
    #expect(fixture.wake == start.advanced(by: .seconds(2)))
    var last = ""
    for number in 1... {
      fixture.pass(.seconds(1))
      guard fixture.ready.isEmpty else { break }
      last = String(number)
      try fixture.add(last)
    }
    #expect(start.elapsed(until: fixture.now) == .seconds(20))
    #expect(fixture.ready == [last])
  }

  @Test("A conflicting mutation or a flush ends the debounce")
  func debounceEndsEarly() throws {
    var fixture = QueueFixture()
    fixture.policy.debounce = .seconds(2)
    try fixture.add("a")
    try fixture.add("met", .rename())
    #expect(fixture.ready == ["a"])
    try fixture.send("a")
    #expect(fixture.ready.isEmpty)
    fixture.commit(fixture.queue.flushing(at: fixture.now))
    #expect(fixture.ready == ["met"])
  }

  @Test("A clock set back during downtime does not stall the queue")
  func clockSetBackDoesNotStall() throws {
    var fixture = QueueFixture()
    try fixture.add("a")
    try fixture.send("a", .transient(retryAfter: .seconds(60)))
    fixture.now = fixture.now.advanced(by: .seconds(-86_400))
    fixture.restart(boot: "boot-2")
    let wake = try #require(fixture.wake)
    #expect(wake <= fixture.now.advanced(by: QueuePolicy.retryAfterMax))
    fixture.pass(fixture.now.elapsed(until: wake))
    #expect(fixture.ready == ["a"])
  }

  @Test("A clock set back during downtime does not stall a forced mutation")
  func clockSetBackDoesNotStallForced() throws {
    var fixture = QueueFixture()
    try fixture.add("dependency", .rename())
    fixture.now = fixture.now.advanced(by: .seconds(-86_400))
    fixture.restart(boot: "boot-2")
    try fixture.add("force", .force())
    #expect(fixture.ready == ["dependency"])
    try fixture.send("dependency")
    #expect(fixture.ready == ["force"])
  }

  @Test("A thousand mutations of one object are sent in order")
  func drainsInOrder() throws {
    var fixture = QueueFixture()
    for number in 0..<1_000 {
      try fixture.add("m\(number)", Asked(operation: "Op\(number)"))
    }
    for number in 0..<1_000 {
      #expect(fixture.ready == ["m\(number)"])
      try fixture.send("m\(number)")
    }
    #expect(fixture.queue.isEmpty)
    #expect(fixture.wake == nil)
  }
}
