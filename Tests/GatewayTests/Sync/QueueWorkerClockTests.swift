import HTTPTypes
import Model
import Storage
import Testing

@testable import Gateway

/// Waits of the queue under a wall clock that is set while they last.
struct QueueWorkerClockTests {
  private static let day = Duration.seconds(86_400)
  private static let debounce = Duration.seconds(10)
  /// That upstream names once, for the second attempt at `b`.
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
  /// upstream says; `later` gathers; `held` is paused and has an hour.
  private struct Scene {
    let world: WorkerWorld
    let drain: Caller
    let gather: Caller
    let paused: Caller
    let ordered: [MutationID]
    let later: MutationID
    let held: MutationID

    /// Up to where `b` waits as upstream said.
    init() async throws {
      world = try await WorkerWorld(
        policy: QueueWorkerClockTests.policy, answer: QueueWorkerClockTests.answer)
      drain = try await world.device()
      gather = try await world.device()
      paused = try await world.device()
      _ = try await world.sync.perform(.pause, by: paused)
      held = try await world.take(
        WorkerWorld.rating("held", expiresIn: .seconds(3_600)), by: paused)[0]
      later = try await world.take(WorkerWorld.rating("later", .lazy), by: gather)[0]
      ordered = try await world.take(
        WorkerWorld.rating("a"), WorkerWorld.rating("b"), WorkerWorld.rating("c"), by: drain)
      try await world.rest()
      while world.upstream.calls.count(where: { $0.film == "b" }) < 2 { try await world.step() }
    }

    func calls(_ film: String) -> [FilmUpstream.Call] {
      world.upstream.calls.filter { $0.film == film }
    }

    /// Until `b`, `c` and `later` are done.
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

  /// No wait ends earlier or later than the time says that has passed.
  @Test(arguments: [.zero - day, day])
  func aRunningQueueDoesNotSeeTheWallClock(jump: Duration) async throws {
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

  /// What an answer says counts by the order of calls, whatever time it bears.
  @Test func anAnswerThatSeemsOlderIsStored() async throws {
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
    let first = try await world.take(WorkerWorld.rating("a"), by: caller)[0]
    try await world.until { try await world.record(first, of: caller).state == .applied }
    #expect(try await stars()?.contains(#""stars":1"#) == true)
    world.time.setWall(forwardBy: .zero - Self.day)
    let second = try await world.take(WorkerWorld.rating("b"), by: caller)[0]
    try await world.until { try await world.record(second, of: caller).state == .applied }
    #expect(try await stars()?.contains(#""stars":2"#) == true)
  }

  /// Between two starts nobody can tell time that passed from a clock that was set. Set back, no
  /// wait lasts longer than the longest of its kind, and nothing loses time that it had.
  @Test func aStartAfterTheClockWasSetBackCutsWaits() async throws {
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

  /// Set forward, the day counts as passed: what was due goes at once, and only what had less than
  /// that is asked about.
  @Test func aStartAfterTheClockWasSetForwardGoesOn() async throws {
    let scene = try await Scene()
    let world = scene.world
    let patient = try await world.take(
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
