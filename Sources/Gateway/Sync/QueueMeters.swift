import Metrics
import Model

/// Counts how attempts of queued mutations end.
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
