import Gateway
import Logging
import Model
import Synchronization

/// Logs the causes of failures, which no client sees.
///
/// Internal errors are all logged. Other failures that are the service's own are warnings, for each code the
/// first and then one a minute with a count: a full disk fails every write. What a client or the upstream
/// API caused is logged at debug.
final class FailureLog: Sendable {
  private static let own: Set<Failure.Code> = [
    .storageUnavailable, .storageFull, .filesUnavailable, .accountsMisconfigured,
  ]

  private let logger: Logger
  private let clock: WallClock
  private let pace = Mutex(LogPace())

  init(clock: WallClock, logger: Logger) {
    self.clock = clock
    self.logger = logger
  }

  func note(_ failure: Failure, requestID: String) {
    let cause = failure.cause ?? failure.message
    var metadata: Logger.Metadata = ["request_id": "\(requestID)", "cause": "\(cause)"]
    if failure.code == .internal {
      logger.error("request failed", metadata: metadata)
      return
    }
    metadata["code"] = "\(failure.code.rawValue)"
    if Self.own.contains(failure.code) {
      let now = clock.now()
      guard let count = pace.withLock({ $0.note(failure.code.rawValue, at: now) }) else { return }
      if count > 1 { metadata["count"] = "\(count)" }
      logger.warning("request failed", metadata: metadata)
    } else if failure.cause != nil {
      logger.debug("request refused", metadata: metadata)
    }
  }
}
