import Model
import TestSupport
import Testing

struct AvailabilityGateTests {
  private static func at(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

  /// One probe at a time, as for the push sender.
  private static func single(_ pause: Duration) -> AvailabilityGate.Rules {
    AvailabilityGate.Rules(firstPause: pause, nextPause: pause)
  }

  /// Periodic probes and a number of failures, as for an upstream of the queue.
  private static let periodic = AvailabilityGate.Rules(
    failuresMax: 3, firstPause: .seconds(5), nextPause: .seconds(1), probeInterval: .seconds(5))

  // MARK: One probe at a time

  @Test("Without an outage all calls are admitted")
  func admitsAllWithoutOutage() {
    var gate = AvailabilityGate()
    #expect(gate.admit(at: Self.at(0)) == .granted)
    #expect(gate.admit(at: Self.at(0)) == .granted)
    let releases = gate.record(.success, at: Self.at(1), rules: Self.single(.zero))
    #expect(!releases)
    #expect(gate.lastSuccess == Self.at(1))
  }

  @Test("After a pause one probe is admitted")
  func admitsOneProbe() {
    var gate = AvailabilityGate()
    gate.record(.unreachable, at: Self.at(0), rules: Self.single(.seconds(5)))
    #expect(gate.admit(at: Self.at(2)) == .waits(.seconds(3)))
    #expect(gate.admit(at: Self.at(5)) == .granted)
    #expect(gate.admit(at: Self.at(5)) == .waits(nil))
    // Still unavailable: callers waiting for the probe get the new wait.
    let stillOut = gate.record(.unreachable, at: Self.at(6), rules: Self.single(.seconds(5)))
    #expect(stillOut)
    #expect(gate.admit(at: Self.at(7)) == .waits(.seconds(4)))
    #expect(gate.admit(at: Self.at(11)) == .granted)
    let isOver = gate.record(.success, at: Self.at(12), rules: Self.single(.zero))
    #expect(isOver)
    #expect(gate.isAvailable)
    #expect(gate.admit(at: Self.at(12)) == .granted)
  }

  @Test("An unused probe is released for another caller")
  func releasesUnusedProbe() {
    var gate = AvailabilityGate()
    gate.record(.unreachable, at: Self.at(0), rules: Self.single(.seconds(1)))
    #expect(gate.admit(at: Self.at(1)) == .granted)
    gate.cancelStart(at: Self.at(1))
    #expect(gate.admit(at: Self.at(1)) == .granted)
  }

  @Test("A call without a probe that was not made does not end the pause")
  func unusedCallKeepsPause() {
    var gate = AvailabilityGate()
    #expect(gate.admit(at: Self.at(0)) == .granted)
    gate.record(.unreachable, at: Self.at(0), rules: Self.single(.seconds(10)))
    gate.cancelStart(at: Self.at(1))
    #expect(gate.admit(at: Self.at(2)) == .waits(.seconds(8)))
  }

  /// A late response does not shorten the requested pause.
  @Test("The longest requested pause applies")
  func longestPauseApplies() {
    var gate = AvailabilityGate()
    gate.record(.unreachable, at: Self.at(0), rules: Self.single(.seconds(60)))
    gate.record(.unreachable, at: Self.at(1), rules: Self.single(.seconds(5)))
    #expect(gate.admit(at: Self.at(10)) == .waits(.seconds(50)))
  }

  @Test("A refusal ends an outage, and is no success")
  func refusalEndsOutage() {
    var gate = AvailabilityGate()
    gate.record(.unreachable, at: Self.at(0), rules: Self.single(.seconds(5)))
    let isOver = gate.record(.refusal, at: Self.at(1), rules: Self.single(.zero))
    #expect(isOver)
    #expect(gate.isAvailable)
    #expect(gate.lastSuccess == nil)
  }

  // MARK: Periodic probes

  @Test("Too many failures in a row begin an outage, also with responses")
  func failuresBeginOutage() {
    for isResponse in [true, false] {
      var gate = AvailabilityGate()
      for second in 0..<2 {
        gate.record(
          .failure(isResponse: isResponse), at: Self.at(Int64(second)), rules: Self.periodic)
        #expect(gate.isAvailable)
      }
      gate.record(.failure(isResponse: isResponse), at: Self.at(2), rules: Self.periodic)
      #expect(!gate.isAvailable)
      #expect(gate.nextProbe == Self.at(7))
    }
  }

  @Test(
    "A success or a refusal interrupts a row of failures, a call that was not sent does not",
    arguments: [
      (AvailabilityGate.Outcome.success, true), (.refusal, true), (.nothingSent, false),
    ])
  func rowIsInterrupted(outcome: AvailabilityGate.Outcome, isAvailable: Bool) {
    var gate = AvailabilityGate()
    for _ in 0..<2 {
      gate.record(.failure(isResponse: true), at: Self.at(0), rules: Self.periodic)
    }
    gate.record(outcome, at: Self.at(1), rules: Self.periodic)
    gate.record(.failure(isResponse: true), at: Self.at(2), rules: Self.periodic)
    #expect(gate.isAvailable == isAvailable)
  }

  @Test("A probe in progress does not delay the next")
  func probesArePeriodic() {
    var gate = AvailabilityGate()
    gate.record(.unreachable, at: Self.at(0), rules: Self.periodic)
    #expect(!gate.admits(at: Self.at(4)))
    #expect(gate.admit(at: Self.at(5)) == .granted)
    #expect(gate.admit(at: Self.at(6)) == .waits(.seconds(4)))
    #expect(gate.admit(at: Self.at(10)) == .granted)
  }

  @Test("After a failed probe the next one waits for the shorter pause at least")
  func failedProbePauses() {
    var gate = AvailabilityGate()
    gate.record(.unreachable, at: Self.at(0), rules: Self.periodic)
    gate.start(at: Self.at(5))
    gate.record(.unreachable, at: Self.at(6), rules: Self.periodic)
    #expect(gate.nextProbe == Self.at(10))
    // One that took longer than the interval.
    gate.record(.nothingSent, at: Self.at(12), rules: Self.periodic)
    #expect(gate.nextProbe == Self.at(13))
  }

  @Test("After a probe that was not made, the next one is due at once")
  func unusedProbeIsDue() {
    var gate = AvailabilityGate()
    gate.record(.unreachable, at: Self.at(0), rules: Self.periodic)
    gate.start(at: Self.at(5))
    gate.cancelStart(at: Self.at(6))
    #expect(gate.admits(at: Self.at(6)))
  }

  @Test("A call that was not sent begins no outage")
  func nothingSentIsNoOutage() {
    var gate = AvailabilityGate()
    gate.record(.nothingSent, at: Self.at(0), rules: Self.periodic)
    #expect(gate.isAvailable)
  }

  @Test("A success elsewhere ends the outage and the row of failures")
  func successElsewhere() {
    var gate = AvailabilityGate()
    for _ in 0..<3 {
      gate.record(.failure(isResponse: false), at: Self.at(0), rules: Self.periodic)
    }
    gate.succeeded(at: Self.at(1))
    #expect(gate.isAvailable)
    #expect(gate.lastSuccess == Self.at(1))
    gate.record(.failure(isResponse: false), at: Self.at(2), rules: Self.periodic)
    #expect(gate.isAvailable)
  }

  // MARK: Both

  @Test("An outage has always a time or a probe that ends it", arguments: 0..<100)
  func everyOutageCanEnd(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let rules = seed % 2 == 0 ? Self.periodic : Self.single(.seconds(5))
    var gate = AvailabilityGate()
    var now: Int64 = 0
    var inProgress = 0
    for _ in 0..<200 {
      now += Int64.random(in: 0...4, using: &random)
      if Bool.random(using: &random) {
        if gate.admit(at: Self.at(now)) == .granted { inProgress += 1 }
      } else if inProgress > 0 {
        inProgress -= 1
        let outcomes: [AvailabilityGate.Outcome?] = [
          .success, .refusal, .failure(isResponse: true), .failure(isResponse: false),
          .unreachable, .nothingSent, nil,
        ]
        if let outcome = outcomes[Int.random(in: 0..<outcomes.count, using: &random)] {
          gate.record(outcome, at: Self.at(now), rules: rules)
        } else {
          gate.cancelStart(at: Self.at(now))
        }
      }
      if let probe = gate.nextProbe {
        #expect(probe <= Self.at(now + 5))
        #expect(!gate.isAvailable)
      } else {
        #expect(gate.isAvailable || inProgress > 0)
      }
      #expect(gate.admits(at: Self.at(now + 5)) || gate.nextProbe == nil)
    }
  }
}
