import Metrics
package import Model
import Synchronization

/// A standing subscription as operators see it. It has one even while it is not open upstream.
package struct StandingStatus: Sendable {
  package enum Phase: String, Sendable {
    /// Upstream has not confirmed it yet, or the connection was lost and is being made again.
    case connecting
    case live
    /// It ended, and is opened again after a pause.
    case waiting
  }

  package let upstream: UpstreamName
  package let operation: String
  /// A JSON object, as in settings.
  package let variables: String
  package let phase: Phase
  /// Whether events were missed that are not fetched yet.
  package let hasGap: Bool
  /// When upstream confirmed it last.
  package let lastConfirmed: Timestamp?
  /// Why it was lost or ended last; nil if upstream confirmed it since, or completed it.
  package let lastFailure: Failure?
  /// The same in words, for operators; also if upstream completed it. Nil while it is live.
  package let cause: String?
  /// When it is opened again; nil unless it waits for that.
  package let nextAttempt: Timestamp?
}

/// The number of standing subscriptions of each operation that are not live, as a metric. An operation
/// can have several, with different variables, which can be personal and so are no label.
final class StandingMeters: Sendable {
  private let down: Mutex<[String: Int]>

  /// - Parameter operations: the operation of each standing subscription; none is live yet.
  init(operations: [String]) {
    let counts = operations.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    down = Mutex(counts)
    for (operation, count) in counts { Self.record(count, of: operation) }
  }

  func note(isLive: Bool, of operation: String) {
    down.withLock { down in
      let count = max(0, down[operation, default: 0] + (isLive ? -1 : 1))
      down[operation] = count
      Self.record(count, of: operation)
    }
  }

  /// The number of those of an operation that are not live.
  func count(of operation: String) -> Int { down.withLock { $0[operation] ?? 0 } }

  private static func record(_ count: Int, of operation: String) {
    Gauge(label: "larder.standing.down", dimensions: [("operation", operation)]).record(count)
  }
}
