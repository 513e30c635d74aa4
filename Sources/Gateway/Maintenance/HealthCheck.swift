package import Storage
import Synchronization

/// Examines the service for `/readyz`.
package final class HealthCheck: Sendable {
  private let store: ReadSession
  private let pulse: UpstreamPulse
  private let operationCount: Int
  private let draining = Atomic(false)

  package init(store: ReadSession, pulse: UpstreamPulse, operationCount: Int) {
    self.store = store
    self.pulse = pulse
    self.operationCount = operationCount
  }

  /// From now on the service is not ready: balancers should send requests elsewhere.
  package func startDraining() {
    draining.store(true, ordering: .relaxed)
  }

  package func report() async -> HealthReport {
    var state = HealthReport.StoreState.writable
    do {
      try await store.probe()
    } catch {
      state = .readOnly
    }
    switch store.damage {
    case .moved: state = .moved
    case .corrupt: state = .damaged
    default: break
    }
    return HealthReport(
      store: state, operationCount: operationCount,
      isUpstreamReachable: pulse.isReachable,
      isDraining: draining.load(ordering: .relaxed))
  }
}
