import Logging
import Metrics
package import Model
import Synchronization

/// What became of messages, as metrics and for operators.
package enum HookOutcome: String, CaseIterable, Sendable {
  case applied
  /// A message with the same id was stored before.
  case repeated
  /// It concerns nothing that is stored.
  case ignored
  /// Its secret or signature is missing, wrong or too old.
  case refused
  /// Its body is invalid.
  case invalid
  /// It could not be stored; the sender retries.
  case failed
}

/// The counters of one webhook since the start.
package struct HookCounts: Sendable {
  package struct Refusal: Sendable {
    /// The maximum number of faults that are kept.
    static let detailsMax = 20

    package let at: Timestamp
    package let code: Failure.Code
    package let message: String
    /// The faults of the body.
    package let details: [Failure.Detail]
    /// The reason for operators.
    package let cause: String?
    /// Of the request, as in the log.
    package let requestID: String?

    init(_ failure: Failure, at moment: Timestamp, requestID: String?) {
      at = moment
      code = failure.code
      message = failure.message
      details = Array(failure.details.prefix(Self.detailsMax))
      cause = failure.cause
      self.requestID = requestID
    }
  }

  package fileprivate(set) var outcomes: [HookOutcome: Int] = [:]
  package fileprivate(set) var last: Timestamp?
  package fileprivate(set) var lastRefusal: Refusal?
  /// The last message of a verified sender that was not stored. Strangers cannot replace it.
  package fileprivate(set) var lastFault: Refusal?
  /// Why the last ignored message was ignored.
  package fileprivate(set) var lastIgnored: String?
}

final class HookMeters: Sendable {
  private let hook: String
  private let logger: Logger
  private let pace = Mutex(LogPace())
  private let deliveries: [HookOutcome: Counter]
  private let written: Counter
  private let deleted: Counter
  private let outdated: Counter
  private let disputed: Counter
  private let state = Mutex(HookCounts())

  var counts: HookCounts { state.withLock { $0 } }

  init(hook: String, logger: Logger) {
    self.hook = hook
    self.logger = logger
    deliveries = Dictionary(
      uniqueKeysWithValues: HookOutcome.allCases.map { outcome in
        (
          outcome,
          Counter(
            label: "larder.webhook.deliveries",
            dimensions: [("hook", hook), ("outcome", outcome.rawValue)])
        )
      })
    func counter(_ outcome: String) -> Counter {
      Counter(
        label: "larder.webhook.entities", dimensions: [("hook", hook), ("outcome", outcome)])
    }
    written = counter("written")
    deleted = counter("deleted")
    outdated = counter("outdated")
    disputed = counter("disputed")
  }

  func note(_ outcome: HookOutcome, at moment: Timestamp) {
    deliveries[outcome]?.increment()
    state.withLock { state in
      state.outcomes[outcome, default: 0] += 1
      state.last = moment
    }
  }

  func note(_ receipt: HookReceipt) {
    written.increment(by: receipt.written)
    deleted.increment(by: receipt.deleted)
    outdated.increment(by: receipt.outdated)
    disputed.increment(by: receipt.disputed)
  }

  func note(ignored reason: String) {
    state.withLock { $0.lastIgnored = reason }
  }

  /// - Parameter isVerified: whether the sender has shown that it has the secret.
  func note(
    _ failure: Failure, isVerified: Bool, requestID: String?, at moment: Timestamp
  ) {
    let outcome: HookOutcome =
      switch failure.code {
      case .webhookUnauthenticated, .webhookExpired: .refused
      case .storageUnavailable, .overloaded: .failed
      default: .invalid
      }
    note(outcome, at: moment)
    let refusal = HookCounts.Refusal(failure, at: moment, requestID: requestID)
    state.withLock { state in
      state.lastRefusal = refusal
      if isVerified { state.lastFault = refusal }
    }
    log(refusal, outcome, at: moment)
  }

  /// Logs the first refusal of each kind, and then one a minute at most: a sender repeats what fails, and
  /// a stranger can send any number.
  private func log(_ refusal: HookCounts.Refusal, _ outcome: HookOutcome, at moment: Timestamp) {
    guard let count = pace.withLock({ $0.note(outcome.rawValue, at: moment) }) else { return }
    var metadata: Logger.Metadata = [
      "hook": "\(hook)", "code": "\(refusal.code.rawValue)",
      "cause": "\(refusal.cause ?? refusal.message)",
    ]
    if let id = refusal.requestID { metadata["request_id"] = "\(id)" }
    if count > 1 { metadata["count"] = .stringConvertible(count) }
    if !refusal.details.isEmpty {
      let faults = refusal.details.prefix(Self.loggedDetailsMax).map(\.text)
      metadata["faults"] = "\(faults.joined(separator: "; "))"
    }
    logger.warning("a webhook's message was not stored", metadata: metadata)
  }

  /// The maximum number of faults in one log line.
  private static let loggedDetailsMax = 5
}

extension Failure.Detail {
  /// Place and fault for the log.
  fileprivate var text: String {
    switch place {
    case .pointer(let pointer): "\(pointer) \(detail)"
    case .parameter(let name): "\(name) \(detail)"
    }
  }
}
