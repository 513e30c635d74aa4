/// Decides for each request how it goes wrong and how long it takes.
struct FaultPlan: Sendable {
  struct Decision: Sendable, Hashable {
    var fail = FailMode.off
    var delay = Duration.zero
  }

  private(set) var switches: DemoSwitches
  /// Requests the fail mode applied to, and those of them it failed, since the switches were set.
  private var seen = 0
  private var failed = 0

  init(_ switches: DemoSwitches) {
    self.switches = switches
  }

  mutating func set(_ switches: DemoSwitches) {
    self.switches = switches
    seen = 0
    failed = 0
  }

  /// - Parameter random: where in the jitter this request falls.
  mutating func decide(
    for operation: String, random: inout some RandomNumberGenerator
  ) -> Decision {
    guard switches.operations.isEmpty || switches.operations.contains(operation) else {
      return Decision()
    }
    var decision = Decision(delay: switches.latency)
    if switches.jitter > .zero {
      decision.delay += switches.jitter * Double.random(in: 0..<1, using: &random)
    }
    guard switches.fail != .off, switches.fail != .refuse else { return decision }
    seen += 1
    guard seen % switches.every == 0 else { return decision }
    decision.fail = switches.fail
    failed += 1
    if let times = switches.times, failed >= times { switches.fail = .off }
    return decision
  }
}
