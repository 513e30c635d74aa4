import Metrics
import Model
package import Storage

/// The number and the size of stored files, reported to metrics periodically.
package struct FileGauges: Sendable {
  private let store: ReadSession
  private let objects = Gauge(label: "larder.files")
  private let bytes = Gauge(label: "larder.files.bytes")

  package init(store: ReadSession) {
    self.store = store
  }

  /// Updates the gauges.
  package func refresh() async {
    // A store that cannot be read is reported elsewhere; the last values remain.
    guard let buckets = try? await store.fileBuckets() else { return }
    objects.record(buckets.reduce(0) { $0 + ($1.objects ?? 0) })
    bytes.record(buckets.reduce(0) { $0 + ($1.bytes ?? 0) })
  }
}
