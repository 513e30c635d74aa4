import Metrics
import Push

/// Counts how attempts at batches end.
struct PushMeters: Sendable {
  private let sent = Self.counter("sent")
  private let notSent = Self.counter("not_sent")
  private let credentialsRefused = Self.counter("credentials_refused")
  private let transient = Self.counter("transient")
  private let permanent = Self.counter("permanent")
  private let unknown = Self.counter("unknown")

  private static func counter(_ outcome: String) -> Counter {
    Counter(label: "larder.push.attempts", dimensions: [("outcome", outcome)])
  }

  func note(_ result: Result<PushReceipt, PushFault>) {
    switch result {
    case .success: sent.increment()
    case .failure(.notSent): notSent.increment()
    case .failure(.credentialsRefused): credentialsRefused.increment()
    case .failure(.transient): transient.increment()
    case .failure(.permanent): permanent.increment()
    case .failure(.unknown): unknown.increment()
    }
  }
}
