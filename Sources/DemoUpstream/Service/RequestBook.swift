import Synchronization

/// Counts requests and applies the fault plan; the only place that tracks requests in flight.
final class RequestBook: Sendable {
  private struct State: Sendable {
    var plan: FaultPlan
    var report = DemoReport()
    var random: SeededRandom
  }

  /// Number of recent requests to keep.
  private let recentMax: Int
  private let state: Mutex<State>

  init(switches: DemoSwitches, seed: UInt64, recentMax: Int) {
    self.recentMax = recentMax
    state = Mutex(State(plan: FaultPlan(switches), random: SeededRandom(seed: seed)))
  }

  var switches: DemoSwitches {
    get { state.withLock { $0.plan.switches } }
    set { state.withLock { $0.plan.set(newValue) } }
  }

  var report: DemoReport { state.withLock { $0.report } }

  /// Records a request and decides its fate. Every `begin` needs an `end`.
  func begin(_ request: RecordedRequest) -> FaultPlan.Decision {
    state.withLock { state in
      state.report.inFlight += 1
      state.report.concurrencyMax = max(state.report.concurrencyMax, state.report.inFlight)
      state.report.recent.append(request)
      if state.report.recent.count > recentMax { state.report.recent.removeFirst() }
      let decision = state.plan.decide(for: request.operationName, random: &state.random)
      state.report.operations[request.operationName, default: .init()].requests += 1
      if decision.fail != .off { state.report.operations[request.operationName]?.failed += 1 }
      return decision
    }
  }

  func end() {
    state.withLock { $0.report.inFlight -= 1 }
  }

  /// Records that an operation was executed, or that its response was replayed.
  func noteExecuted(_ operation: String, isReplay: Bool) {
    let counter: WritableKeyPath<DemoReport.Operation, Int> = isReplay ? \.replayed : \.executed
    state.withLock { $0.report.operations[operation, default: .init()][keyPath: counter] += 1 }
  }

  /// Resets the counters, except for requests in flight.
  func resetReport() {
    state.withLock { state in
      let inFlight = state.report.inFlight
      state.report = DemoReport()
      state.report.inFlight = inFlight
      state.report.concurrencyMax = inFlight
    }
  }
}

/// Decides for each request whether and how it fails, and its delay.
struct FaultPlan: Sendable {
  struct Decision: Sendable, Hashable {
    var fail = FailMode.off
    var delay = Duration.zero
  }

  private(set) var switches: DemoSwitches
  /// Requests that the fail mode applied to, and those that it failed, since the switches were set.
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

  /// - Parameter random: the generator for the jitter of this request.
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
