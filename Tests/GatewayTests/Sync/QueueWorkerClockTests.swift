import HTTPTypes
import Model
import Storage
import SyncScheduler
import Testing

@testable import Gateway

/// The queue's waits while the wall clock is set.
struct QueueWorkerClockTests {
  private static let day = Duration.seconds(86_400)
  private static let debounce = Duration.seconds(10)
  /// The delay that upstream requests once, for the second attempt at `b`.
  private static let named = Duration.seconds(30)

  private static let policy = QueuePolicy(debounce: debounce)

  private static func answer(_ call: FilmUpstream.Call) -> FilmUpstream.Answer {
    switch (call.film, call.attempt) {
    case ("b", 1): FilmUpstream.json(503, "{}")
    case ("b", 2): FilmUpstream.json(503, "{}", [.retryAfter: "\(named.wholeSeconds)"])
    default: FilmUpstream.rated(call.film)
    }
  }

  /// Three queues: `a`, `b` and `c` in order, of which `b` backs off and then waits as long as
  /// upstream requests; `later` is debounced; `held` is paused and expires in an hour.
  private struct Scene {
    let world: WorkerWorld
    let drain: Caller
    let gather: Caller
    let paused: Caller
    let ordered: [MutationID]
    let later: MutationID
    let held: MutationID

    /// Runs until `b` waits as upstream requested.
    init() async throws {
      world = try await WorkerWorld(
        policy: QueueWorkerClockTests.policy, answer: QueueWorkerClockTests.answer)
      drain = try await world.device()
      gather = try await world.device()
      paused = try await world.device()
      _ = try await world.sync.perform(.pause, by: paused)
      held = try await world.enqueue(
        WorkerWorld.rating("held", expiresIn: .seconds(3_600)), by: paused)[0]
      later = try await world.enqueue(WorkerWorld.rating("later", .lazy), by: gather)[0]
      ordered = try await world.enqueue(
        WorkerWorld.rating("a"), WorkerWorld.rating("b"), WorkerWorld.rating("c"), by: drain)
      try await world.rest()
      while world.upstream.calls.count(where: { $0.film == "b" }) < 2 { try await world.step() }
    }

    func calls(_ film: String) -> [FilmUpstream.Call] {
      world.upstream.calls.filter { $0.film == film }
    }

    /// Runs until `b`, `c` and `later` are done.
    func drainAll() async throws {
      try await world.rest()
      let last = ["b": 3, "c": 1, "later": 1]
      while !last.allSatisfy({ film, attempt in calls(film).contains { $0.attempt == attempt } }) {
        try await world.step()
      }
    }

    func expectNothingBurnt() async throws {
      let all = [
        (ordered[0], drain, 1), (ordered[1], drain, 3), (ordered[2], drain, 1),
        (later, gather, 1),
      ]
      for (id, caller, attempts) in all {
        let mutation = try await world.record(id, of: caller)
        #expect(mutation.state == .applied)
        #expect(mutation.attempts == attempts)
        #expect(mutation.claims == attempts)
      }
    }
  }

  /// No wait ends earlier or later than by the time that has actually passed.
  @Test("A running queue ignores changes of the wall clock", arguments: [.zero - day, day])
  func runningQueueIgnoresWallClock(jump: Duration) async throws {
    let scene = try await Scene()
    let world = scene.world
    let refused = try #require(scene.calls("b").last)
    world.time.setWall(forwardBy: jump)
    try await scene.drainAll()
    #expect(scene.calls("a").count == 1)
    #expect(scene.calls("b").map(\.at).last == refused.at + Self.named)
    #expect(scene.calls("c").map(\.at) == [refused.at + Self.named])
    #expect(scene.calls("later").map(\.at) == [Self.debounce])
    try await scene.expectNothingBurnt()

    try await world.rest()
    world.time.advance(to: .seconds(3_600) - .milliseconds(1))
    try await world.rest()
    _ = try await world.sync.perform(.flush, by: scene.paused)
    #expect(try await world.record(scene.held, of: scene.paused).state == .queued)
    world.time.advance(to: .seconds(3_600))
    try await world.until {
      try await world.record(scene.held, of: scene.paused).state == .parked
    }
    let held = try await world.record(scene.held, of: scene.paused)
    #expect(held.reason == .overdue)
    #expect(held.attempts == 0)
  }

  /// Responses count by the order of calls, whatever their time.
  @Test("A response that seems older by the wall clock is stored")
  func storesResponseThatSeemsOlder() async throws {
    let world = try await WorkerWorld { call in
      FilmUpstream.rated("a", stars: call.film == "a" ? 1 : 2)
    }
    let caller = try await world.device()
    func stars() async throws -> String? {
      let key = EntityKey(type: "Film", key: "a")
      let record = try await world.store.entity(
        key, viewer: Viewer(layers: [.public]))
      return record?.layers.first.map { String(decoding: $0, as: UTF8.self) }
    }
    let first = try await world.enqueue(WorkerWorld.rating("a"), by: caller)[0]
    try await world.until { try await world.record(first, of: caller).state == .applied }
    #expect(try await stars()?.contains(#""stars":1"#) == true)
    world.time.setWall(forwardBy: .zero - Self.day)
    let second = try await world.enqueue(WorkerWorld.rating("b"), by: caller)[0]
    try await world.until { try await world.record(second, of: caller).state == .applied }
    #expect(try await stars()?.contains(#""stars":2"#) == true)
  }

  /// Between two starts, elapsed time cannot be distinguished from a clock that was set. If it was set
  /// back, no wait is longer than the longest of its kind, and no mutation expires earlier.
  @Test("A start after the clock was set back shortens waits")
  func clockSetBackShortensWaits() async throws {
    let scene = try await Scene()
    let world = scene.world
    try await world.restart(wallForwardBy: .zero - Self.day)
    let start = world.time.reading
    try await scene.drainAll()
    let again = try #require(scene.calls("b").last)
    #expect(again.at - start <= QueuePolicy.retryAfterMax)
    #expect(scene.calls("a").count == 1)
    #expect(try #require(scene.calls("later").first).at - start <= Self.debounce * 10)
    try await scene.expectNothingBurnt()
    try await world.rest()
    world.time.advance(to: start + .seconds(3_600))
    try await world.rest()
    #expect(try await world.record(scene.held, of: scene.paused).state == .queued)
  }

  /// If it was set forward, the day counts as passed: due mutations are sent immediately, and only
  /// those with less than a day left are parked.
  @Test("A start after the clock was set forward sends what is due")
  func clockSetForwardSendsDueMutations() async throws {
    let scene = try await Scene()
    let world = scene.world
    let patient = try await world.enqueue(
      WorkerWorld.rating("patient", expiresIn: Self.day * 2), by: scene.paused)[0]
    try await world.restart(wallForwardBy: Self.day)
    let start = world.time.reading
    try await scene.drainAll()
    #expect(scene.calls("b").map(\.at).last == start)
    #expect(scene.calls("c").map(\.at) == [start])
    #expect(scene.calls("later").map(\.at) == [start])
    #expect(scene.calls("a").count == 1)
    try await scene.expectNothingBurnt()
    let held = try await world.record(scene.held, of: scene.paused)
    #expect(held.state == .parked)
    #expect(held.reason == .overdue)
    #expect(try await world.record(patient, of: scene.paused).state == .queued)
  }
}
