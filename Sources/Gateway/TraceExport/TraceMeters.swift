package import Logging
import Metrics
package import Model
import Synchronization

/// Counts exported and dropped spans, and logs why some were dropped.
package final class TraceMeters: Sendable {
  /// Why spans were dropped.
  package enum DropReason: String, CaseIterable, Sendable {
    /// The buffer was full.
    case full
    /// The collector could not be reached, or refused a batch.
    case failed
    /// The collector accepted a batch without them.
    case rejected
    /// They were not exported before the end of the process.
    case ended
  }

  private let exported = Counter(label: "larder.trace.spans.exported")
  private let dropped: [DropReason: Counter]
  private let clock: WallClock
  private let logger: Logger
  private let state = Mutex(State())

  private struct State {
    var pace = LogPace()
    /// Dropped spans that no line has reported yet.
    var unreported: [DropReason: Int] = [:]
  }

  package init(clock: WallClock, logger: Logger) {
    self.clock = clock
    self.logger = logger
    dropped = Dictionary(
      uniqueKeysWithValues: DropReason.allCases.map { reason in
        let dimensions = [("reason", reason.rawValue)]
        return (reason, Counter(label: "larder.trace.spans.dropped", dimensions: dimensions))
      })
  }

  func noteExported(_ count: Int) {
    if count > 0 { exported.increment(by: count) }
  }

  /// - Parameter cause: what the collector said, or why it could not be reached.
  package func noteDropped(_ count: Int, _ reason: DropReason, cause: String? = nil) {
    guard count > 0 else { return }
    dropped[reason]?.increment(by: count)
    let due: Int? = state.withLock { state in
      state.unreported[reason, default: 0] += count
      guard state.pace.note(reason.rawValue, at: clock.now()) != nil else { return nil }
      return state.unreported.removeValue(forKey: reason)
    }
    if let due { report(due, reason, cause: cause) }
  }

  /// Logs the numbers that no line has reported yet.
  func reportDropped() {
    let unreported = state.withLock { state in
      defer { state.unreported = [:] }
      return state.unreported
    }
    for (reason, count) in unreported.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      report(count, reason, cause: nil)
    }
  }

  private func report(_ count: Int, _ reason: DropReason, cause: String?) {
    var metadata: Logger.Metadata = ["reason": "\(reason.rawValue)", "spans": "\(count)"]
    if let cause { metadata["cause"] = "\(cause)" }
    logger.warning("spans were dropped: the traces are incomplete", metadata: metadata)
  }
}
