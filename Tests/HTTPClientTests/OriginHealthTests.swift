import Testing
import Transport

@testable import HTTPClient

struct OriginHealthTests {
  private static let settings: CircuitBreaker.Settings = {
    var settings = CircuitBreaker.Settings()
    settings.consecutiveFailuresMax = 3
    settings.windowRequestsMin = 6
    settings.openTime = .seconds(10)
    settings.jitter = 0
    return settings
  }()

  private var health = OriginHealth(settings: Self.settings)

  @Test("An operation that times out is refused alone, however often it is sent beside others")
  mutating func failingOperation() {
    for _ in 0..<3 { #expect(send("slow", .failed)) }
    #expect(!send("slow", .failed))
    for _ in 0..<20 { #expect(send("films", .success)) }
    // Each probe of the slow operation fails; the others never notice.
    for second in [10, 30, 70, 150, 310] {
      #expect(send("slow", .failed, at: second))
      #expect(!send("slow", .failed, at: second))
      #expect(send("films", .success, at: second))
      #expect(send("people", .success, at: second))
    }
  }

  @Test("The report names the breakers that are not closed")
  mutating func report() {
    #expect(health.report == BreakerReport(origin: .closed, operations: []))
    for _ in 0..<3 { _ = send("slow", .failed) }
    _ = send("films", .success)
    #expect(health.report == BreakerReport(origin: .closed, operations: ["slow"]))
    for name in ["a", "b", "c"] { _ = send(name, .unreachable) }
    #expect(health.report == BreakerReport(origin: .open, operations: ["slow"]))
    #expect(send("films", .success, at: 60))
    #expect(health.report == BreakerReport(origin: .closed, operations: ["slow"]))
  }

  @Test("A slow operation between good ones does not reach the origin's failure rate")
  mutating func mixedTraffic() {
    for _ in 0..<100 {
      _ = send("slow", .failed)
      #expect(send("films", .success))
    }
  }

  @Test("An operation that fails every other time, alone or beside another, closes no other")
  mutating func everyOtherTime() {
    for _ in 0..<200 {
      _ = send("live", .failed)
      _ = send("live", .success)
    }
    #expect(send("films", .success))
    for _ in 0..<200 {
      for name in ["live", "search"] {
        _ = send(name, .failed)
        _ = send(name, .success)
      }
    }
    #expect(send("films", .success))
  }

  @Test("Failures of as many operations as open a breaker open the origin's")
  mutating func differentOperations() {
    for name in ["a", "b", "c"] { #expect(send(name, .failed)) }
    #expect(!send("d", .success))
    // One probe decides for all of them.
    #expect(send("d", .success, at: 10))
    #expect(send("e", .success, at: 10))
    #expect(send("a", .success, at: 10))
  }

  @Test("No connection to the origin closes it to every operation")
  mutating func unreachable() {
    for _ in 0..<3 { #expect(send("films", .unreachable)) }
    for name in ["films", "people", ""] { #expect(!send(name, .success)) }
    #expect(send("people", .success, at: 10))
    #expect(send("films", .success, at: 10))
  }

  @Test("A probe that fails keeps the origin closed, whatever operation it was")
  mutating func failingProbe() {
    for name in ["a", "b", "c"] { #expect(send(name, .failed)) }
    #expect(send("a", .failed, at: 10))
    #expect(!send("d", .success, at: 29))
    #expect(send("d", .success, at: 30))
  }

  @Test("A request that its operation's breaker refuses is not the origin's probe")
  mutating func refusedByTheOperation() {
    for _ in 0..<3 { #expect(send("slow", .failed)) }
    // The slow one was the first of three failures of the origin.
    for _ in 0..<2 { #expect(send("films", .unreachable, at: 9)) }
    #expect(send("slow", .failed, at: 19))
    // The operation is now closed until 39, the origin until 39 too: its probe failed.
    #expect(!send("slow", .success, at: 38))
    #expect(!send("films", .success, at: 38))
    #expect(send("films", .success, at: 39))
  }

  @Test("How long an operation is refused is known without a request, and asking is no probe")
  mutating func refusals() throws {
    #expect(refusal("slow") == nil)
    for _ in 0..<3 { #expect(send("slow", .failed)) }
    #expect(refusal("slow", at: 4) == .seconds(6))
    #expect(refusal("films", at: 4) == nil)
    // The longer one of the operation's and the origin's.
    for _ in 0..<2 { #expect(send("films", .unreachable, at: 5)) }
    #expect(refusal("slow", at: 6) == .seconds(9) && refusal("films", at: 6) == .seconds(9))
    for _ in 0..<10 { #expect(refusal("slow", at: 15) == nil) }
    let probe = try health.admit("films", at: Self.time(15))
    #expect(refusal("films", at: 15) == .seconds(10), "the probe decides")
    health.record(.success, of: probe, at: Self.time(16), chance: 0.5)
    #expect(refusal("films", at: 16) == nil && send("films", .success, at: 16))
  }

  private static func time(_ second: Int) -> LoopInstant {
    LoopInstant(nanoseconds: 1) + .seconds(second)
  }

  private func refusal(_ operation: String, at second: Int = 0) -> Duration? {
    health.refusal(of: operation, at: Self.time(second))
  }

  /// Sends one request that ends at once; false if it is refused.
  private mutating func send(
    _ operation: String, _ outcome: OriginHealth.Outcome, at second: Int = 0
  ) -> Bool {
    let now = Self.time(second)
    guard let ticket = try? health.admit(operation, at: now) else { return false }
    health.record(outcome, of: ticket, at: now, chance: 0.5)
    return true
  }
}
