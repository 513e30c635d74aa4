package import Logging
import Metrics
package import Model
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

  /// An outage that has not ended, for operators.
  package struct OutageStatus: Hashable, Sendable {
    package let duration: Duration
    package let failures: Int
  }

  /// The calls whose credential upstream did not accept, for operators.
  package struct RefusalStatus: Hashable, Sendable {
    /// Since the start.
    package let count: Int
    /// The time since the last one; nil if there was none.
    package let age: Duration?
  }

  private struct Refusals {
    var count = 0
    var last: Duration?
  }

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
  private let refusals = Mutex(Refusals())
  private let observer = Mutex(Observer())
  private let uptime: @Sendable () -> Duration
  private let logger: Logger
  private let dimensions: [(String, String)]

  /// - Parameters:
  ///   - name: the name of one of several upstreams, for the log and metrics; nil for the only one, which
  ///     metrics call ``Model/UpstreamName/sole``.
  ///   - uptime: a monotonic clock with any origin.
  package init(
    name: UpstreamName? = nil, uptime: @escaping @Sendable () -> Duration, logger: Logger
  ) {
    self.uptime = uptime
    var named = logger
    if let name { named[metadataKey: "upstream"] = "\(name)" }
    self.logger = named
    dimensions = [("upstream", (name ?? .sole).text)]
  }

  /// The metric is 1 if the last call succeeded and 0 if it failed. It does not exist before the first
  /// call, which nothing is known before.
  private func set(_ new: Int) {
    let old = state.exchange(new, ordering: .relaxed)
    guard old != new else { return }
    Gauge(label: "larder.upstream.reachable", dimensions: dimensions)
      .record(new == Self.good ? 1 : 0)
  }

  /// Whether the last call succeeded; nil before the first call.
  package var isReachable: Bool? {
    switch state.load(ordering: .relaxed) {
    case Self.good: true
    case Self.bad: false
    default: nil
    }
  }

  /// Nil without an outage.
  package var outageStatus: OutageStatus? {
    outage.withLock { $0 }.map {
      OutageStatus(duration: uptime() - $0.began, failures: $0.failures)
    }
  }

  package var refusalStatus: RefusalStatus {
    let refusals = refusals.withLock { $0 }
    return RefusalStatus(count: refusals.count, age: refusals.last.map { uptime() - $0 })
  }

  /// Records a failed call, or a response that reports an upstream outage.
  ///
  /// Cancelled calls, refused subscriptions, and calls rejected because too many are in progress, say
  /// nothing about upstream.
  package func note(_ failure: UpstreamFailure) {
    switch failure {
    case .busy, .cancelled, .refused, .rejected: return
    default: set(Self.bad)
    }
    if failure.permission == .unauthenticated { noteRefusal() }
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
    set(Self.good)
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

  /// Records an upstream response.
  func note(_ response: UpstreamResponse) {
    noteAnswer()
    if response.permission == .unauthenticated { noteRefusal() }
  }

  private func noteRefusal() {
    let now = uptime()
    refusals.withLock { refusals in
      refusals.count += 1
      refusals.last = now
    }
  }

  /// Records an upstream response to a call outside the sync queue.
  func note(_ response: UpstreamResponse, of operation: RegisteredOperation) {
    note(response)
    if response.kind == .success { noteWork(of: operation.upstream.text) }
  }

  func noteWork(of upstream: String) { observer.withLock { $0.notify }?(upstream) }

  /// - Parameter worked: called with the upstream's name after each response without errors, on the
  ///   path of every cache miss.
  func observe(_ worked: @escaping @Sendable (_ upstream: String) -> Void) {
    observer.withLock { $0.notify = worked }
  }
}
