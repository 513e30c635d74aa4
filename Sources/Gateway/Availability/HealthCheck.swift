package import Model
package import Storage
import Synchronization

/// The service's readiness, and the state of its dependencies.
package struct HealthReport: Sendable {
  package enum StoreState: String, Sendable {
    case writable
    /// A replica's: it is written by the log of the cluster alone.
    case replica
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
    /// Whether it refuses the service's own credential, so that only stored data is served.
    package let refusesService: Bool
  }

  /// In alphabetical order.
  package let upstreams: [UpstreamState]
  /// Whether this node of a cluster has not looked for the leader yet.
  package let isLooking: Bool
  /// The process is shutting down.
  package let isDraining: Bool
  /// The last reload of the operations and settings; nil if there was none.
  package let reload: ReloadReport?

  /// Whether the last calls to all upstreams succeeded; nil if no upstream failed and one was not
  /// called yet.
  package var isUpstreamReachable: Bool? {
    if upstreams.contains(where: { $0.isReachable == false }) { return false }
    return upstreams.contains { $0.isReachable == nil } ? nil : true
  }

  package var isReady: Bool {
    (store == .writable || store == .replica) && !isDraining && !isLooking
  }
}

/// A reload of the operations and settings while the service runs.
package struct ReloadReport: Hashable, Sendable {
  package enum Outcome: String, CaseIterable, Sendable {
    /// The new ones are served.
    case applied
    /// They have faults, or could not be taken: the former ones are still served.
    case refused
    /// The service could not open with them: the former ones are served again.
    case reverted
  }

  package let outcome: Outcome
  package let time: Timestamp

  package init(_ outcome: Outcome, at time: Timestamp) {
    self.outcome = outcome
    self.time = time
  }
}

/// Checks the service for `/readyz`.
package final class HealthCheck: Sendable {
  private let store: ReadSession
  private let upstreams: Upstreams
  private let operationCount: Int
  private let uptime: @Sendable () -> Duration
  private let lastReload: @Sendable () -> ReloadReport?
  private let isReplica: Bool
  private let isLooking: @Sendable () -> Bool
  private let draining = Atomic(false)
  private let fullDisk: Mutex<FullDisk>

  /// What the last report knew of writes that a full disk refused.
  private struct FullDisk {
    /// See ``ReadSession/fullCount``.
    var count: Int
    /// When a report first had this count; nil before the first refusal.
    var noticed: Duration?
  }

  /// How long the store counts as not writable after a full disk has refused a write. The probe itself is
  /// a small write, which can succeed on a full disk.
  static let fullDiskInterval = Duration.seconds(5)

  /// - Parameters:
  ///   - uptime: a monotonic clock.
  ///   - isReplica: whether the store takes no writes because the log of a cluster writes it.
  ///   - isLooking: whether this node of a cluster has not looked for the leader yet.
  ///   - lastReload: returns the last reload of the process.
  package init(
    store: ReadSession, upstreams: Upstreams, operationCount: Int,
    uptime: @escaping @Sendable () -> Duration, isReplica: Bool = false,
    isLooking: @escaping @Sendable () -> Bool = { false },
    lastReload: @escaping @Sendable () -> ReloadReport? = { nil }
  ) {
    self.store = store
    self.uptime = uptime
    self.lastReload = lastReload
    self.isReplica = isReplica
    self.isLooking = isLooking
    fullDisk = Mutex(FullDisk(count: store.fullCount))
    self.upstreams = upstreams
    self.operationCount = operationCount
  }

  /// Makes the service report not ready, so that load balancers send requests elsewhere.
  package func startDraining() {
    draining.store(true, ordering: .relaxed)
  }

  package func report() async -> HealthReport {
    var state = HealthReport.StoreState.readOnly
    if isReplica { state = .replica }
    // A probe is a write of its own: many of them would use up what little room there is.
    if !isReplica, !isDiskFull(), (try? await store.probe()) != nil, !isDiskFull() {
      state = .writable
    }
    switch store.damage {
    case .moved: state = .moved
    case .corrupt: state = .damaged
    default: break
    }
    return HealthReport(
      store: state, operationCount: operationCount,
      upstreams: upstreams.all.map {
        .init(
          name: $0.name, isReachable: $0.pulse.isReachable,
          refusesService: $0.pulse.serviceRefusal != nil)
      },
      isLooking: isLooking(), isDraining: draining.load(ordering: .relaxed), reload: lastReload())
  }

  /// Whether a full disk has refused a write lately.
  private func isDiskFull() -> Bool {
    let (count, now) = (store.fullCount, uptime())
    return fullDisk.withLock { full in
      if full.count != count { full = FullDisk(count: count, noticed: now) }
      return full.noticed.map { now - $0 < Self.fullDiskInterval } ?? false
    }
  }
}
