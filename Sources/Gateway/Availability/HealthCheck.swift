package import Model
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
  /// One upstream, as its last call found it.
  package struct UpstreamState: Hashable, Sendable {
    package let name: UpstreamName
    /// Nil if no call was made yet. Reported but not required: Larder works without upstream.
    package let isReachable: Bool?
  }

  /// In alphabetical order.
  package let upstreams: [UpstreamState]
  /// The process is shutting down.
  package let isDraining: Bool

  /// Whether the last calls to all upstreams succeeded; nil if no upstream failed and one was not
  /// called yet.
  package var isUpstreamReachable: Bool? {
    if upstreams.contains(where: { $0.isReachable == false }) { return false }
    return upstreams.contains { $0.isReachable == nil } ? nil : true
  }

  package var isReady: Bool { store == .writable && !isDraining }
}

/// Checks the service for `/readyz`.
package final class HealthCheck: Sendable {
  private let store: ReadSession
  private let upstreams: Upstreams
  private let operationCount: Int
  private let draining = Atomic(false)

  package init(store: ReadSession, upstreams: Upstreams, operationCount: Int) {
    self.store = store
    self.upstreams = upstreams
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
      upstreams: upstreams.all.map { .init(name: $0.name, isReachable: $0.pulse.isReachable) },
      isDraining: draining.load(ordering: .relaxed))
  }
}
