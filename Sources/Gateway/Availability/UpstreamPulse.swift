package import Logging
import Synchronization
package import Upstream

/// Upstream health as seen by the last calls, for `/readyz`, for observers, and for the log: an
/// outage is logged at `warning` once when it begins and once when it ends.
package final class UpstreamPulse: Sendable {
  private static let unknown = 0
  private static let good = 1
  private static let bad = 2
  /// How long no call must have failed for an outage to end. Otherwise an upstream that fails every
  /// other call would fill the log.
  static let quiet = Duration.seconds(2)

  private struct Outage {
    let began: Duration
    var lastFailure: Duration
    var failures = 1
    /// The time of the first response after the last failure.
    var responded: Duration?
  }

  /// In a struct because `Mutex` wraps a closure that it holds directly again at each access, until
  /// calling it overflows the stack.
  private struct Observer {
    var notify: (@Sendable (_ upstream: String) -> Void)?
  }

  private let state = Atomic(unknown)
  /// Whether an outage has begun whose end is not logged yet; successful calls check nothing else.
  private let isOut = Atomic(false)
  private let outage = Mutex<Outage?>(nil)
  private let observer = Mutex(Observer())
  private let uptime: @Sendable () -> Duration
  private let logger: Logger

  /// - Parameter uptime: a monotonic clock with any origin.
  package init(uptime: @escaping @Sendable () -> Duration, logger: Logger) {
    self.uptime = uptime
    self.logger = logger
  }

  /// Whether the last call succeeded; nil before the first call.
  package var isReachable: Bool? {
    switch state.load(ordering: .relaxed) {
    case Self.good: true
    case Self.bad: false
    default: nil
    }
  }

  /// Records a failed call, or a response that reports an upstream outage.
  ///
  /// Cancelled calls, and calls rejected because too many are in progress, say nothing about
  /// upstream.
  package func note(_ failure: UpstreamFailure) {
    switch failure {
    case .busy, .cancelled: return
    default: state.store(Self.bad, ordering: .relaxed)
    }
    let now = uptime()
    let isNew = outage.withLock { outage in
      guard outage == nil else {
        outage?.lastFailure = now
        outage?.failures += 1
        outage?.responded = nil
        return false
      }
      outage = Outage(began: now, lastFailure: now)
      isOut.store(true, ordering: .relaxed)
      return true
    }
    guard isNew else { return }
    logger.warning("upstream calls fail", metadata: ["cause": "\(failure)"])
  }

  /// Records an upstream response, which can be a refusal.
  package func noteAnswer() {
    state.store(Self.good, ordering: .relaxed)
    guard isOut.load(ordering: .relaxed) else { return }
    let now = uptime()
    let ended = outage.withLock { outage -> Outage? in
      guard var current = outage else { return nil }
      if current.responded == nil { current.responded = now }
      outage = current
      guard now - current.lastFailure >= Self.quiet else { return nil }
      outage = nil
      isOut.store(false, ordering: .relaxed)
      return current
    }
    guard let ended else { return }
    let seconds = ((ended.responded ?? now) - ended.began).components.seconds
    logger.warning(
      "upstream responds again",
      metadata: ["after_seconds": "\(seconds)", "failed_calls": "\(ended.failures)"])
  }

  /// Records an upstream response to a call outside the sync queue.
  func note(_ response: UpstreamResponse, of operation: RegisteredOperation) {
    noteAnswer()
    if response.kind == .success { noteWork(of: operation.upstream) }
  }

  func noteWork(of upstream: String) { observer.withLock { $0.notify }?(upstream) }

  /// - Parameter worked: called with the upstream's name after each response without errors, on the
  ///   path of every cache miss.
  func observe(_ worked: @escaping @Sendable (_ upstream: String) -> Void) {
    observer.withLock { $0.notify = worked }
  }
}
