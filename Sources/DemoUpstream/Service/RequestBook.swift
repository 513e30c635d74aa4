import Synchronization

/// Counts requests and applies the fault plan; the one place that knows what is in flight.
final class RequestBook: Sendable {
  private struct State: Sendable {
    var plan: FaultPlan
    var report = DemoReport()
    var random: SeededRandom
  }

  /// Requests kept for a look at them.
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

  /// Notes a request that came and says what becomes of it. Every `begin` needs its `end`.
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

  /// Notes that the executor carried an operation out, or that its answer was had before.
  func noteAnswer(_ operation: String, isReplay: Bool) {
    state.withLock { state in
      if isReplay {
        state.report.operations[operation, default: .init()].replayed += 1
      } else {
        state.report.operations[operation, default: .init()].executed += 1
      }
    }
  }

  /// Forgets what was counted. Requests in flight stay in flight.
  func resetReport() {
    state.withLock { state in
      let inFlight = state.report.inFlight
      state.report = DemoReport()
      state.report.inFlight = inFlight
      state.report.concurrencyMax = inFlight
    }
  }
}
