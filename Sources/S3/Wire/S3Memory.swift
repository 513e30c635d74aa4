import Model
import Synchronization

/// What requests have taught about the service.
final class S3Memory: Sendable {
  /// Buckets whose region is remembered.
  private static let regionsMax = 1000

  private struct State {
    /// To be added to our clock.
    var skew = Duration.zero
    var regions: [BucketName: S3Region] = [:]
  }

  private let state = Mutex(State())

  var skew: Duration {
    get { state.withLock { $0.skew } }
    set { state.withLock { $0.skew = newValue } }
  }

  func region(of bucket: BucketName?) -> S3Region? {
    bucket.flatMap { bucket in state.withLock { $0.regions[bucket] } }
  }

  func note(_ region: S3Region, of bucket: BucketName) {
    state.withLock { state in
      if state.regions.count >= Self.regionsMax { state.regions = [:] }
      state.regions[bucket] = region
    }
  }
}
