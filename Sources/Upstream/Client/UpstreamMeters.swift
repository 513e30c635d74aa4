import HTTPClient
import Metrics
import Synchronization

/// Metrics of the calls of one upstream. Those of subscriptions are ``SubscriptionMeters``.
final class UpstreamMeters: Sendable {
  /// Why a call had no usable response, or one with errors.
  enum Fault: String, CaseIterable {
    case notSent = "not_sent"
    case breakerOpen = "breaker_open"
    case busy
    case timeout
    case lost
    case status
    case malformed
    case tooLarge = "too_large"
    case cancelled
    /// The service's own credential was not accepted.
    case serviceRefused = "service_credential"
    /// A GraphQL response with `errors`.
    case graphQLErrors = "graphql_errors"
  }

  /// The name of documents that are not registered, and of introspection.
  private static let other = "other"

  private let upstream: String
  private let failures: [Fault: Counter]
  /// Operations are registered at the start, so their number is bounded.
  private let durations = Mutex<[String: Timer]>([:])

  init(upstream: String) {
    self.upstream = upstream
    failures = Dictionary(
      uniqueKeysWithValues: Fault.allCases.map { fault in
        let dimensions = [("upstream", upstream), ("kind", fault.rawValue)]
        return (fault, Counter(label: "larder.upstream.failures", dimensions: dimensions))
      })
  }

  /// Records a call that got a response or failed after it was tried.
  func note(_ duration: Duration, of operation: String) {
    let operation = operation.isEmpty ? Self.other : operation
    let timer = durations.withLock { durations in
      if let timer = durations[operation] { return timer }
      let timer = Timer(
        label: "larder.upstream.request.duration",
        dimensions: [("upstream", upstream), ("operation", operation)])
      durations[operation] = timer
      return timer
    }
    let (seconds, attoseconds) = duration.components
    timer.recordNanoseconds(seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
  }

  func note(_ fault: Fault) { failures[fault]?.increment() }

  func note(_ error: HTTPClientError, _ failure: UpstreamFailure) {
    if case .breakerOpen = error { note(.breakerOpen) } else { note(failure: failure) }
  }

  func note(failure: UpstreamFailure) {
    switch failure {
    case .notSent: note(.notSent)
    case .busy: note(.busy)
    case .timeout: note(.timeout)
    case .lost: note(.lost)
    case .status: note(.status)
    case .malformed: note(.malformed)
    case .tooLarge: note(.tooLarge)
    case .cancelled: note(.cancelled)
    case .serviceRefused: note(.serviceRefused)
    case .refused, .rejected: break
    }
  }
}

extension HTTPClientError {
  /// Whether a connection was at least tried: the duration of other failures says nothing of upstream.
  var wasTried: Bool {
    switch self {
    case .invalidRequest, .breakerOpen, .queueFull, .queueTimedOut, .clientClosed, .cancelled: false
    default: true
    }
  }
}
