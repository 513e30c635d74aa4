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

  /// The service's own credential, which upstream does not accept, for operators.
  package struct ServiceRefusalStatus: Hashable, Sendable {
    /// Upstream's status and code.
    package let reason: String
    /// The settings that contain the credential.
    package let settings: [String]
    /// The time since the first refused call.
    package let duration: Duration
    package let count: Int
  }

  private struct ServiceRefusals {
    let began: Duration
    var refusal: ServiceRefusal
    var last: Duration
    var count = 1
    /// Whether the log has a line about it, so that its end is logged too.
    var isLogged = false
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
  /// Whether upstream refuses the service's own credential; accepted calls check nothing else.
  private let isServiceRefused = Atomic(false)
  private let service = Mutex<ServiceRefusals?>(nil)
  private let serviceLog = Mutex<Duration?>(nil)
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

  /// Nil if upstream accepts the service's own credential, or no call was made with it.
  package var serviceRefusal: ServiceRefusalStatus? {
    service.withLock { $0 }.map {
      ServiceRefusalStatus(
        reason: $0.refusal.reason, settings: $0.refusal.settings, duration: uptime() - $0.began,
        count: $0.count)
    }
  }

  /// Records whether upstream accepted the service's own credential, for a call or a subscription.
  ///
  /// A refusal is logged when it begins, and once a minute while it lasts.
  ///
  /// - Parameter refusal: nil if it was accepted.
  package func noteService(_ refusal: ServiceRefusal?) {
    guard let refusal else { return noteServiceAccepted() }
    let now = uptime()
    let mayLog = serviceLog.withLock { last in
      if let last, now - last < LogPace.interval { return false }
      last = now
      return true
    }
    let (count, isNew) = service.withLock { service in
      var current =
        service ?? ServiceRefusals(began: now, refusal: refusal, last: now, count: 0)
      let isNew = service == nil
      current.refusal = refusal
      current.last = now
      current.count += 1
      if mayLog { current.isLogged = true }
      service = current
      isServiceRefused.store(true, ordering: .relaxed)
      return (current.count, isNew)
    }
    if isNew { recordService(isAccepted: false) }
    guard mayLog else { return }
    logger.warning(
      "upstream does not accept the service's credential",
      metadata: [
        "cause": "\(refusal.reason)", "refused_calls": "\(count)", "cure": "\(refusal.cure)",
      ])
  }

  /// An upstream that accepts every other call does not end the refusal, as with an outage.
  private func noteServiceAccepted() {
    guard isServiceRefused.load(ordering: .relaxed) else { return }
    let now = uptime()
    let ended = service.withLock { service -> ServiceRefusals? in
      guard let current = service, now - current.last >= Self.quiet else { return nil }
      service = nil
      isServiceRefused.store(false, ordering: .relaxed)
      return current
    }
    guard let ended else { return }
    recordService(isAccepted: true)
    guard ended.isLogged else { return }
    logger.warning(
      "upstream accepts the service's credential again",
      metadata: [
        "after_seconds": "\((now - ended.began).wholeSeconds)", "refused_calls": "\(ended.count)",
      ])
  }

  /// The metric does not exist before the first refusal.
  private func recordService(isAccepted: Bool) {
    Gauge(label: "larder.upstream.credential.accepted", dimensions: dimensions)
      .record(isAccepted ? 1 : 0)
  }

  /// Records a failed call, or a response that reports an upstream outage.
  ///
  /// Cancelled calls, refused subscriptions, and calls rejected because too many are in progress, say
  /// nothing about upstream.
  package func note(_ failure: UpstreamFailure) {
    switch failure {
    case .serviceRefused(let refusal):
      // Upstream responded.
      noteAnswer()
      noteRefusal()
      return noteService(refusal)
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
    if response.acceptsService { noteService(nil) }
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
