import Gateway
import Metrics
import Model
import Synchronization
import Transport

/// The deployment in service. It is empty while a reload replaces one by the next, and at the end.
final class DeploymentSlot: Sendable {
  private struct State {
    var current: Deployment?
    /// Empty until the service listens.
    var addresses: [SocketAddress] = []
    /// Whether the process ends, so that a deployment that is put in is to end as well.
    var isEnding = false
    var isReloading = false
    var failure: StartFailure?
  }

  private let state: Mutex<State>
  /// Notified once the service listens.
  private let listening = AsyncSignal()
  /// Notified at the end of each reload.
  private let reloaded = AsyncSignal()

  init(_ deployment: Deployment) {
    state = Mutex(State(current: deployment))
  }

  var current: Deployment? { state.withLock { $0.current } }

  /// The addresses that the service listens on.
  var addresses: [SocketAddress] { state.withLock { $0.addresses } }

  /// Notes that the deployment is served on these addresses, and can be replaced from now on.
  func isListening(on addresses: [SocketAddress]) {
    state.withLock { $0.addresses = addresses }
    listening.notify()
  }

  /// Waits until the service listens, or the task is cancelled.
  func waitUntilListening() async { await listening.wait() }

  /// The reason why there is no deployment after a reload; the process must end.
  var failure: StartFailure? { state.withLock { $0.failure } }

  /// Whether the process ends.
  var isEnding: Bool { state.withLock { $0.isEnding } }

  /// Begins a reload.
  ///
  /// - Returns: the deployment to replace; nil if the service does not listen yet, if the process ends, or
  ///   if another reload is in progress.
  func beginReload() -> Deployment? {
    state.withLock { state in
      guard !state.addresses.isEmpty, !state.isEnding, !state.isReloading,
        let current = state.current
      else { return nil }
      state.isReloading = true
      return current
    }
  }

  /// Ends a reload with the next deployment, or with the reason why there is none.
  func endReload(_ result: Result<Deployment, StartFailure>) {
    let ending = state.withLock { state -> Deployment? in
      state.isReloading = false
      switch result {
      case .success(let deployment): state.current = deployment
      case .failure(let failure):
        state.current = nil
        state.failure = failure
      }
      return state.isEnding ? state.current : nil
    }
    ending?.beginEnd()
    reloaded.notify()
  }

  /// Waits until no reload is in progress.
  ///
  /// - Parameter isPatient: whether a cancelled task waits as well.
  func waitForReload(isPatient: Bool = true) async {
    while isPatient || !Task.isCancelled {
      let seen = reloaded.count
      guard state.withLock({ $0.isReloading }) else { return }
      await reloaded.wait(after: seen, ignoresCancellation: isPatient)
    }
  }

  /// Reports not ready, and ends what would go on for long, because the process ends.
  func beginEnd() {
    let deployment = state.withLock { state in
      state.isEnding = true
      return state.current
    }
    deployment?.beginEnd()
  }

  func take() -> Deployment? {
    state.withLock { state in
      state.isEnding = true
      return state.current.take()
    }
  }
}

/// The reloads of the process, for `/readyz` and the metrics.
final class ReloadRecord: Sendable {
  private let latest = Mutex<ReloadReport?>(nil)
  private let counters: [ReloadReport.Outcome: Counter]

  /// To be made once: series of counters stay registered.
  init() {
    counters = Dictionary(
      uniqueKeysWithValues: ReloadReport.Outcome.allCases.map {
        ($0, Counter(label: "larder.reloads", dimensions: [("outcome", $0.rawValue)]))
      })
  }

  var last: ReloadReport? { latest.withLock { $0 } }

  func note(_ outcome: ReloadReport.Outcome, at time: Timestamp) {
    latest.withLock { $0 = ReloadReport(outcome, at: time) }
    counters[outcome]?.increment()
  }
}
