package import Storage
import Synchronization

/// The service's readiness, and the state of its dependencies.
package struct HealthReport: Sendable {
  package enum StoreState: String, Sendable {
    case writable
    case readOnly = "not writable"
    /// The database is corrupt: a backup must be restored.
    case damaged
    /// The database was removed or replaced while the service was running.
    case moved
  }

  package let store: StoreState
  package let operationCount: Int
  /// Nil if no upstream call was made yet. Reported but not required: Larder works without
  /// upstream.
  package let isUpstreamReachable: Bool?
  /// The process is shutting down.
  package let isDraining: Bool

  package init(
    store: StoreState, operationCount: Int, isUpstreamReachable: Bool?, isDraining: Bool
  ) {
    self.store = store
    self.operationCount = operationCount
    self.isUpstreamReachable = isUpstreamReachable
    self.isDraining = isDraining
  }

  package var isReady: Bool { store == .writable && !isDraining }
}

/// Checks the service for `/readyz`.
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

  /// Makes the service report not ready, so that load balancers send requests elsewhere.
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
