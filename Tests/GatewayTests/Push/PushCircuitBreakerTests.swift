import Model
import Testing

@testable import Gateway

struct PushCircuitBreakerTests {
  private static func at(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

  @Test func anOpenGateLetsAllThrough() {
    var gate = PushCircuitBreaker()
    #expect(gate.admit(at: Self.at(0)) == .granted)
    #expect(gate.admit(at: Self.at(0)) == .granted)
    let lets = gate.answered(at: Self.at(1), closedFor: nil, isSuccess: true)
    #expect(!lets)
    #expect(gate.lastSuccess == Self.at(1))
  }

  @Test func aClosedGateLetsOneProbe() {
    var gate = PushCircuitBreaker()
    _ = gate.answered(at: Self.at(0), closedFor: .seconds(5), isSuccess: false)
    #expect(gate.admit(at: Self.at(2)) == .waits(.seconds(3)))
    #expect(gate.admit(at: Self.at(5)) == .granted)
    #expect(gate.admit(at: Self.at(5)) == .waits(nil))
    // Still away: whoever waited for the probe learns for how long.
    let lets = gate.answered(at: Self.at(6), closedFor: .seconds(5), isSuccess: false)
    #expect(lets)
    #expect(gate.admit(at: Self.at(7)) == .waits(.seconds(4)))
    #expect(gate.admit(at: Self.at(11)) == .granted)
    let opens = gate.answered(at: Self.at(12), closedFor: nil, isSuccess: true)
    #expect(opens)
    #expect(!gate.isClosed)
    #expect(gate.admit(at: Self.at(12)) == .granted)
  }

  @Test func aProbeWithNothingToAskLeavesItToAnother() {
    var gate = PushCircuitBreaker()
    _ = gate.answered(at: Self.at(0), closedFor: .seconds(1), isSuccess: false)
    #expect(gate.admit(at: Self.at(1)) == .granted)
    gate.unused()
    #expect(gate.admit(at: Self.at(1)) == .granted)
  }

  /// An answer that comes late does not shorten what the sender asked for.
  @Test func theLongestWaitHolds() {
    var gate = PushCircuitBreaker()
    _ = gate.answered(at: Self.at(0), closedFor: .seconds(60), isSuccess: false)
    _ = gate.answered(at: Self.at(1), closedFor: .seconds(5), isSuccess: false)
    #expect(gate.admit(at: Self.at(10)) == .waits(.seconds(50)))
  }
}
