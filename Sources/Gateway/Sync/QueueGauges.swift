import Metrics
import Model
package import Storage

/// How much all queues hold, told to metrics from time to time.
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

  package func refresh() async {
    // A store that cannot be read is told elsewhere; what was known stands.
    guard let load = try? await store.queueLoad() else { return }
    pending.record(load.pending)
    parked.record(load.parked)
    oldest.record(load.oldest.map { $0.elapsed(until: clock.now()).wholeSeconds } ?? 0)
  }
}
