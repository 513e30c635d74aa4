import Logging
import Metrics
package import Model
import Storage
import Synchronization

/// The result of asking or calling a hook, as metrics and for operators.
package enum HookCallOutcome: String, CaseIterable, Sendable {
  /// A hook `before` allowed the write.
  case allowed
  case refused
  /// A hook `before` did not decide.
  case unanswered
  /// A hook `after` received the event.
  case delivered
  /// A hook `after` responded with another status than 2xx, or not at all.
  case failed
  /// The request to a hook `after` could not be sent.
  case notSent = "not_sent"
}

/// The counters of one hook out since the start.
package struct HookCallCounts: Sendable {
  package fileprivate(set) var outcomes: [HookCallOutcome: Int] = [:]
  /// Events that were given up: too old, or more than the outbox holds.
  package fileprivate(set) var dropped = 0
  package fileprivate(set) var last: Timestamp?
  package fileprivate(set) var lastFault: (at: Timestamp, reason: String)?
}

final class HookOutMeters: Sendable {
  /// Why an event was given up.
  enum DropReason: String, CaseIterable {
    case expired
    case full
  }

  let hook: String
  private let logger: Logger
  private let pace = Mutex(LogPace())
  private let calls: [HookCallOutcome: Counter]
  private let drops: [DropReason: Counter]
  private let pending: Gauge
  private let state = Mutex(HookCallCounts())
  /// Dropped events that no log line has reported yet.
  private let unreported = Mutex<[DropReason: Int]>([:])

  var counts: HookCallCounts { state.withLock { $0 } }

  init(hook: String, logger: Logger) {
    self.hook = hook
    self.logger = logger
    calls = Dictionary(
      uniqueKeysWithValues: HookCallOutcome.allCases.map { outcome in
        let dimensions = [("hook", hook), ("outcome", outcome.rawValue)]
        return (outcome, Counter(label: "larder.hook.calls", dimensions: dimensions))
      })
    drops = Dictionary(
      uniqueKeysWithValues: DropReason.allCases.map { reason in
        let dimensions = [("hook", hook), ("reason", reason.rawValue)]
        return (reason, Counter(label: "larder.hook.dropped", dimensions: dimensions))
      })
    pending = Gauge(label: "larder.hook.pending", dimensions: [("hook", hook)])
  }

  /// - Parameters:
  ///   - reason: why the hook did not do what was asked of it, for operators.
  ///   - isPause: whether it was only not called because of earlier faults; those are what operators must
  ///     know, so it replaces none of them.
  func note(
    _ outcome: HookCallOutcome, reason: String? = nil, isPause: Bool = false, at moment: Timestamp
  ) {
    calls[outcome]?.increment()
    state.withLock { state in
      state.outcomes[outcome, default: 0] += 1
      state.last = moment
      if let reason, !isPause || state.lastFault == nil { state.lastFault = (moment, reason) }
    }
    guard let reason else { return }
    let message: Logger.Message =
      outcome == .unanswered
      ? "a hook did not decide about a write"
      : "a hook was not called, or did not accept an event; it is retried"
    log(message, kind: outcome.rawValue, ["reason": "\(reason)"], at: moment)
  }

  func noteDropped(_ count: Int, _ reason: DropReason, at moment: Timestamp) {
    drops[reason]?.increment(by: count)
    state.withLock { $0.dropped += count }
    unreported.withLock { $0[reason, default: 0] += count }
    if pace.withLock({ $0.note(Self.kind(of: reason), at: moment) }) != nil { report(reason) }
  }

  /// Logs the number of dropped events that no line has reported yet.
  func reportDropped() {
    for reason in DropReason.allCases { report(reason) }
  }

  private func report(_ reason: DropReason) {
    guard let count = unreported.withLock({ $0.removeValue(forKey: reason) }) else { return }
    let message: Logger.Message =
      switch reason {
      case .expired: "events for a hook were dropped: they were not delivered in three days"
      case .full: "the oldest events for a hook were dropped: its outbox is full"
      }
    logger.warning(message, metadata: ["hook": "\(hook)", "dropped": .stringConvertible(count)])
  }

  private static func kind(of reason: DropReason) -> String { "dropped \(reason.rawValue)" }

  func notePending(_ count: Int) { pending.record(count) }

  /// Logs a failure of the outbox itself.
  func note(_ error: StorageError, at moment: Timestamp) {
    log(
      "the outbox of a hook could not be read or written", kind: "store", ["cause": "\(error)"],
      at: moment)
  }

  /// Logs the first event of each kind, and then one a minute at most.
  private func log(
    _ message: Logger.Message, kind: String, _ metadata: Logger.Metadata, at moment: Timestamp
  ) {
    guard let count = pace.withLock({ $0.note(kind, at: moment) }) else { return }
    var metadata = metadata
    metadata["hook"] = "\(hook)"
    if count > 1 { metadata["count"] = .stringConvertible(count) }
    logger.warning(message, metadata: metadata)
  }
}
