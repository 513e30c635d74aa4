package import Logging
import Synchronization
package import Upstream

/// What the last call to upstream told of its health, for `/readyz`, for those who wait for it, and
/// for the log: an outage is logged once at `warning` when it begins and once when it is over.
package final class UpstreamPulse: Sendable {
  private static let unknown = 0
  private static let good = 1
  private static let bad = 2
  /// An outage is over when upstream has failed no call for this long. Without it, an upstream that
  /// fails every other call would fill the log.
  static let quiet = Duration.seconds(2)

  private struct Outage {
    let began: Duration
    var lastFailure: Duration
    var failures = 1
    /// When upstream answered for the first time after its last failure.
    var answered: Duration?
  }

  /// Within a struct: `Mutex` would wrap a closure that it holds itself once more at each access, until
  /// calling it took more stack than there is.
  private struct Observer {
    var tell: (@Sendable (_ upstream: String) -> Void)?
  }

  private let state = Atomic(unknown)
  /// Whether there is an outage whose end was not logged: good calls ask nothing else.
  private let isOut = Atomic(false)
  private let outage = Mutex<Outage?>(nil)
  private let observer = Mutex(Observer())
  private let uptime: @Sendable () -> Duration
  private let logger: Logger

  /// - Parameter uptime: never goes back; from any instant.
  package init(uptime: @escaping @Sendable () -> Duration, logger: Logger) {
    self.uptime = uptime
    self.logger = logger
  }

  /// Nil where nothing has been asked yet.
  package var isReachable: Bool? {
    switch state.load(ordering: .relaxed) {
    case Self.good: true
    case Self.bad: false
    default: nil
    }
  }

  /// A call failed, or upstream answered that it is broken.
  ///
  /// Nothing is said of upstream by a caller who went away, or by too many calls of our own.
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
        outage?.answered = nil
        return false
      }
      outage = Outage(began: now, lastFailure: now)
      isOut.store(true, ordering: .relaxed)
      return true
    }
    guard isNew else { return }
    logger.warning("upstream fails", metadata: ["cause": "\(failure)"])
  }

  /// Upstream answered, be it with a refusal.
  package func noteAnswer() {
    state.store(Self.good, ordering: .relaxed)
    guard isOut.load(ordering: .relaxed) else { return }
    let now = uptime()
    let ended = outage.withLock { outage -> Outage? in
      guard var current = outage else { return nil }
      if current.answered == nil { current.answered = now }
      outage = current
      guard now - current.lastFailure >= Self.quiet else { return nil }
      outage = nil
      isOut.store(false, ordering: .relaxed)
      return current
    }
    guard let ended else { return }
    let seconds = ((ended.answered ?? now) - ended.began).components.seconds
    logger.warning(
      "upstream answers again",
      metadata: ["after_seconds": "\(seconds)", "failed_calls": "\(ended.failures)"])
  }

  /// Upstream answered what the sync queue had no part in.
  func note(_ answer: UpstreamResponse, of operation: RegisteredOperation) {
    noteAnswer()
    if answer.kind == .success { noteWork(of: operation.upstream) }
  }

  func noteWork(of upstream: String) { observer.withLock { $0.tell }?(upstream) }

  /// - Parameter worked: told of each answer without errors; on the path of every miss.
  func observe(_ worked: @escaping @Sendable (_ upstream: String) -> Void) {
    observer.withLock { $0.tell = worked }
  }
}
