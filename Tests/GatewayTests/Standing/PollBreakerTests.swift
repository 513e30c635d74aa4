import HTTPClient
import Model
import TestSupport
import Testing
import Upstream

@testable import Gateway

/// Polls beside an upstream whose circuit breaker opens and closes.
struct PollBreakerTests {
  private static func work(_ world: SubscriptionWorld, every: Duration) throws -> StandingWork {
    try world.standing([], polls: [PollRule(operation: "Items", every: every)])
  }

  /// Advances to the poll's next wake, and returns how long it slept.
  private static func wake(_ world: SubscriptionWorld) async throws -> Duration {
    await eventually { world.time.nextWake != nil }
    let wake = try #require(world.time.nextWake)
    let pause = wake - world.time.reading
    world.time.advance(to: wake)
    return pause
  }

  @Test("No request is sent while the breaker is open, and one soon after it admits calls again")
  func waitsForTheBreaker() async throws {
    let world = try SubscriptionWorld()
    world.http.set("1", .init(name: "one"))
    world.http.refuse(until: .seconds(100))
    let work = try Self.work(world, every: .seconds(10))
    work.start()
    var pauses: [Duration] = []
    for _ in 0..<4 {
      pauses.append(try await Self.wake(world))
      await eventually { world.time.nextWake != nil }
      #expect(world.http.calls.isEmpty)
      #expect(work.polling.first?.isPaused == true && work.polling.first?.polls == 0)
    }
    #expect(pauses.allSatisfy { $0 <= .seconds(33) }, "\(pauses)")
    #expect(world.time.reading < .seconds(100))
    _ = try await Self.wake(world)
    await eventually { work.polling.first?.polls == 1 }
    #expect(world.time.reading >= .seconds(100) && world.time.reading < .seconds(102))
    #expect(world.http.calls.count == 1)
    let status = try #require(work.polling.first)
    #expect(!status.isPaused && status.lastFailure == nil && status.lastSuccess != nil)
    #expect(try await world.name(of: "1") == "one")
    // From then on it keeps to its interval.
    #expect(try await Self.wake(world) == .seconds(10))
    await eventually { work.polling.first?.polls == 2 }
    #expect(!world.log.lines.contains { $0.message.contains("a poll failed") })
    await work.end()
  }

  @Test("A breaker that closes early is noticed within half a minute, whatever it said")
  func noticesAnEarlyClosing() async throws {
    let world = try SubscriptionWorld()
    world.http.refuse(until: .seconds(3_600))
    let work = try Self.work(world, every: .seconds(10))
    work.start()
    _ = try await Self.wake(world)
    await eventually { work.polling.first?.isPaused == true && world.time.nextWake != nil }
    world.http.refuse(until: nil)
    #expect(try await Self.wake(world) <= .seconds(33))
    await eventually { world.http.calls.count == 1 }
    await work.end()
  }

  @Test("Waiting for the breaker neither counts as a failure nor lengthens later pauses")
  func pausesAreNoFailures() async throws {
    let world = try SubscriptionWorld()
    world.http.fail(with: .connectTimedOut)
    let work = try Self.work(world, every: .seconds(8))
    work.start()
    #expect(try await Self.wake(world) == .seconds(4))
    await eventually { work.polling.first?.polls == 1 && world.time.nextWake != nil }
    #expect(world.http.calls.count == 1 && work.polling.first?.lastFailure != nil)
    world.http.refuse(until: .seconds(200))
    #expect(try await Self.wake(world) == .seconds(16))
    while world.time.reading < .seconds(200) {
      await eventually { work.polling.first?.isPaused == true && world.time.nextWake != nil }
      #expect(world.http.calls.count == 1)
      _ = try await Self.wake(world)
    }
    // It is still away: one failure more doubles the pause once more.
    await eventually { work.polling.first?.polls == 2 }
    #expect(world.http.calls.count == 2)
    world.http.fail(with: nil)
    #expect(try await Self.wake(world) == .seconds(32))
    await eventually { work.polling.first?.polls == 3 }
    #expect(work.polling.first?.lastFailure == nil)
    #expect(try await Self.wake(world) == .seconds(8))
    await work.end()
  }

  @Test("The end of the service does not wait for the breaker")
  func endsWhileRefused() async throws {
    let world = try SubscriptionWorld()
    world.http.refuse(until: .seconds(3_600))
    let work = try Self.work(world, every: .seconds(10))
    work.start()
    _ = try await Self.wake(world)
    await eventually { work.polling.first?.isPaused == true }
    await work.end()
    #expect(world.http.calls.isEmpty && world.time.nextWake == nil)
  }
}
