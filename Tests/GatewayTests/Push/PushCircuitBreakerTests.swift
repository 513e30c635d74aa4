import Model
import Testing

@testable import Gateway

struct PushCircuitBreakerTests {
  private static func at(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

  @Test("Without a pause all calls are admitted")
  func admitsAllWithoutPause() {
    var breaker = PushCircuitBreaker()
    #expect(breaker.admit(at: Self.at(0)) == .granted)
    #expect(breaker.admit(at: Self.at(0)) == .granted)
    let lets = breaker.record(at: Self.at(1), pausedFor: nil, isSuccess: true)
    #expect(!lets)
    #expect(breaker.lastSuccess == Self.at(1))
  }

  @Test("After a pause one probe is admitted")
  func admitsOneProbe() {
    var breaker = PushCircuitBreaker()
    _ = breaker.record(at: Self.at(0), pausedFor: .seconds(5), isSuccess: false)
    #expect(breaker.admit(at: Self.at(2)) == .waits(.seconds(3)))
    #expect(breaker.admit(at: Self.at(5)) == .granted)
    #expect(breaker.admit(at: Self.at(5)) == .waits(nil))
    // Still unavailable: callers waiting for the probe get the new wait.
    let lets = breaker.record(at: Self.at(6), pausedFor: .seconds(5), isSuccess: false)
    #expect(lets)
    #expect(breaker.admit(at: Self.at(7)) == .waits(.seconds(4)))
    #expect(breaker.admit(at: Self.at(11)) == .granted)
    let opens = breaker.record(at: Self.at(12), pausedFor: nil, isSuccess: true)
    #expect(opens)
    #expect(!breaker.isPaused)
    #expect(breaker.admit(at: Self.at(12)) == .granted)
  }

  @Test("An unused probe is released for another caller")
  func releasesUnusedProbe() {
    var breaker = PushCircuitBreaker()
    _ = breaker.record(at: Self.at(0), pausedFor: .seconds(1), isSuccess: false)
    #expect(breaker.admit(at: Self.at(1)) == .granted)
    breaker.releaseProbe()
    #expect(breaker.admit(at: Self.at(1)) == .granted)
  }

  /// A late response does not shorten the requested pause.
  @Test("The longest requested pause applies")
  func longestPauseApplies() {
    var breaker = PushCircuitBreaker()
    _ = breaker.record(at: Self.at(0), pausedFor: .seconds(60), isSuccess: false)
    _ = breaker.record(at: Self.at(1), pausedFor: .seconds(5), isSuccess: false)
    #expect(breaker.admit(at: Self.at(10)) == .waits(.seconds(50)))
  }
}
