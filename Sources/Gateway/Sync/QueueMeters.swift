import Metrics
import Model
package import Storage
import SyncScheduler

/// Counters of the outcomes of queued mutations' attempts.
struct QueueMeters: Sendable {
  private let applied: Counter
  private let notSent: Counter
  private let authRefused: Counter
  private let transient: Counter
  private let operationChanged: Counter
  private let dependencyMissing: Counter
  private let permanent: Counter
  private let unknown: Counter

  /// - Parameter upstream: one of several upstreams; nil for the only one.
  init(upstream: UpstreamName? = nil) {
    func counter(_ outcome: String) -> Counter {
      Counter(
        label: "larder.queue.attempts",
        dimensions: [("outcome", outcome), ("upstream", (upstream ?? .sole).text)])
    }
    applied = counter("applied")
    notSent = counter("not_sent")
    authRefused = counter("auth_refused")
    transient = counter("transient")
    operationChanged = counter("operation_changed")
    dependencyMissing = counter("dependency")
    permanent = counter("permanent")
    unknown = counter("unknown")
  }

  func note(_ outcome: SendOutcome) {
    switch outcome {
    case .applied: applied.increment()
    case .notSent: notSent.increment()
    case .authRefused, .anonymousRefused, .credentialUnreadable: authRefused.increment()
    case .transient, .foundMissing: transient.increment()
    case .operationChanged: operationChanged.increment()
    case .dependencyMissing: dependencyMissing.increment()
    case .permanent: permanent.increment()
    case .unknown: unknown.increment()
    }
  }
}

/// The total size of all queues, reported to metrics periodically.
package struct QueueGauges: Sendable {
  private let store: ReadSession
  private let clock: WallClock
  private let pending = Gauge(label: "larder.queue.pending")
  private let parked = Gauge(label: "larder.queue.parked")
  private let oldest = Gauge(label: "larder.queue.oldest.age.seconds")

  package init(store: ReadSession, clock: TrustedClock) {
    self.store = store
    self.clock = clock.clock
  }

  /// Updates the gauges.
  package func refresh() async {
    // A store that cannot be read is reported elsewhere; the last values remain.
    guard let load = try? await store.queueLoad() else { return }
    pending.record(load.pending)
    parked.record(load.parked)
    oldest.record(load.oldest.map { $0.elapsed(until: clock.now()).wholeSeconds } ?? 0)
  }
}
