import Metrics
import Model
package import Storage
import SyncScheduler

/// Counters of the outcomes of queued mutations' attempts.
struct QueueMeters: Sendable {
  private let applied = Self.counter("applied")
  private let notSent = Self.counter("not_sent")
  private let authRefused = Self.counter("auth_refused")
  private let transient = Self.counter("transient")
  private let operationChanged = Self.counter("operation_changed")
  private let permanent = Self.counter("permanent")
  private let unknown = Self.counter("unknown")

  private static func counter(_ outcome: String) -> Counter {
    Counter(label: "larder.queue.attempts", dimensions: [("outcome", outcome)])
  }

  func note(_ outcome: SendOutcome) {
    switch outcome {
    case .applied: applied.increment()
    case .notSent: notSent.increment()
    case .authRefused, .anonymousRefused, .credentialUnreadable: authRefused.increment()
    case .transient, .foundMissing: transient.increment()
    case .operationChanged: operationChanged.increment()
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
