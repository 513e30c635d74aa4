import Testing
import Transport

@testable import HTTPClient

struct CircuitBreakerTests {
  /// One step of a story: what happens at which second, and what a request is told.
  enum Step: Sendable {
    case succeed(at: Int)
    case fail(at: Int)
    case cancel(at: Int)
    case refused(at: Int, retryAfterMilliseconds: Int)
  }

  static let settings: CircuitBreaker.Settings = {
    var settings = CircuitBreaker.Settings()
    settings.consecutiveFailuresMax = 3
    settings.failureRateMax = 0.5
    settings.windowRequestsMin = 6
    settings.window = .seconds(100)
    settings.openTime = .seconds(10)
    settings.openTimeMax = .seconds(30)
    settings.jitter = 0
    return settings
  }()

  static let stories: [(String, [Step], isClosed: Bool)] = [
    ("failures in a row open it", [.fail(at: 0), .fail(at: 0), .fail(at: 0)], false),
    (
      "a success breaks the row", [.fail(at: 0), .fail(at: 0), .succeed(at: 0), .fail(at: 0)], true
    ),
    (
      "half of the window's requests failing open it",
      [
        .fail(at: 0), .succeed(at: 0), .fail(at: 0), .succeed(at: 0), .succeed(at: 0), .fail(at: 0),
      ],
      false
    ),
    (
      "failures of an older window are forgotten",
      [
        .fail(at: 0), .succeed(at: 0), .fail(at: 0), .succeed(at: 0), .succeed(at: 0),
        .fail(at: 200),
      ], true
    ),
    (
      "open, it refuses and says for how long",
      [.fail(at: 0), .fail(at: 0), .fail(at: 0), .refused(at: 4, retryAfterMilliseconds: 6000)],
      false
    ),
    (
      "a probe that succeeds closes it",
      [.fail(at: 0), .fail(at: 0), .fail(at: 0), .succeed(at: 10), .fail(at: 10), .fail(at: 10)],
      true
    ),
    (
      "a probe that fails doubles the time",
      [
        .fail(at: 0), .fail(at: 0), .fail(at: 0), .fail(at: 10),
        .refused(at: 29, retryAfterMilliseconds: 1000), .succeed(at: 30),
      ], true
    ),
    (
      "the time grows no longer than its maximum",
      [
        .fail(at: 0), .fail(at: 0), .fail(at: 0), .fail(at: 10), .fail(at: 30),
        .refused(at: 59, retryAfterMilliseconds: 1000), .fail(at: 60),
        .refused(at: 89, retryAfterMilliseconds: 1000), .succeed(at: 90),
      ], true
    ),
    (
      "a cancelled probe makes room for another",
      [.fail(at: 0), .fail(at: 0), .fail(at: 0), .cancel(at: 10), .succeed(at: 10)], true
    ),
  ]

  @Test(
    "The breaker opens, probes and closes as scripted",
    arguments: stories)
  func followsTheScript(name: String, steps: [Step], isClosed: Bool) {
    var breaker = CircuitBreaker(settings: Self.settings)
    for step in steps {
      switch step {
      case .succeed(let second): run(&breaker, .success, at: second, name)
      case .fail(let second): run(&breaker, .failure, at: second, name)
      case .cancel(let second): run(&breaker, .neutral, at: second, name)
      case .refused(let second, let milliseconds):
        let admission = breaker.admit(at: instant(second))
        #expect(admission == .refused(retryAfter: .milliseconds(milliseconds)), "\(name)")
      }
    }
    #expect(breaker.isClosed == isClosed, "\(name)")
  }

  @Test("Only one probe is admitted at a time")
  func onlyOneProbeAtATime() throws {
    var breaker = opened()
    guard case .allowed(let probe) = breaker.admit(at: instant(10)) else {
      Issue.record("no probe")
      return
    }
    #expect(probe.isProbe)
    #expect(breaker.admit(at: instant(10)) == .refused(retryAfter: .seconds(10)))
    breaker.record(.success, of: probe, at: instant(11), chance: 0.5)
    #expect(breaker.isClosed)
  }

  @Test("Outcomes of requests from before the opening do not close the breaker")
  func lateOutcomesDoNotCloseTheBreaker() {
    var breaker = CircuitBreaker(settings: Self.settings)
    guard case .allowed(let early) = breaker.admit(at: instant(0)) else { return }
    for _ in 0..<3 { run(&breaker, .failure, at: 0, "opening") }
    guard case .allowed = breaker.admit(at: instant(10)) else {
      Issue.record("no probe")
      return
    }
    breaker.record(.success, of: early, at: instant(10), chance: 0.5)
    #expect(!breaker.isClosed)
  }

  @Test(
    "Jitter varies the open time",
    arguments: [(0.0, 8000), (0.5, 10000), (1.0, 12000)])
  func chanceSpreadsTheOpenTime(chance: Double, milliseconds: Int) {
    var settings = Self.settings
    settings.jitter = 0.2
    settings.consecutiveFailuresMax = 1
    var breaker = CircuitBreaker(settings: settings)
    guard case .allowed(let ticket) = breaker.admit(at: instant(0)) else { return }
    breaker.record(.failure, of: ticket, at: instant(0), chance: chance)
    #expect(breaker.admit(at: instant(0)) == .refused(retryAfter: .milliseconds(milliseconds)))
  }

  private func opened() -> CircuitBreaker {
    var breaker = CircuitBreaker(settings: Self.settings)
    for _ in 0..<3 { run(&breaker, .failure, at: 0, "opening") }
    return breaker
  }

  private func run(
    _ breaker: inout CircuitBreaker, _ outcome: CircuitBreaker.Outcome, at second: Int,
    _ name: String
  ) {
    guard case .allowed(let ticket) = breaker.admit(at: instant(second)) else {
      Issue.record("\(name): refused at \(second)")
      return
    }
    breaker.record(outcome, of: ticket, at: instant(second), chance: 0.5)
  }

  private func instant(_ second: Int) -> LoopInstant {
    LoopInstant(nanoseconds: 0) + .seconds(1000 + second)
  }
}
