import Gateway
import Logging
import Model
import Synchronization

/// Logs the causes of failures, which no client sees.
///
/// Internal errors are all logged. Other failures that are the service's own are warnings, for each code the
/// first and then one a minute with a count: a full disk fails every write. They say what to do. What a
/// client or the upstream API caused is logged at debug.
final class FailureLog: Sendable {
  /// What operators do about failures of the service's own.
  private static let own: [Failure.Code: String] = [
    .storageUnavailable:
      "check the disk of the data folder, and the owner and mode of its files; /readyz tells the state",
    .storageFull: "free space on the disk of the data folder",
    .filesUnavailable: "check the file store of `files.store`, and the network to `files.endpoint`",
    .filesRefused:
      "check `files.accessKey`, `files.secretKey` and what they may do in the store's buckets",
    .accountsMisconfigured: "check `accounts` in the settings; `larder doctor` tests them",
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
    if let remedy = failure.remedy ?? Self.own[failure.code] {
      metadata["remedy"] = "\(remedy)"
      let now = clock.now()
      guard let count = pace.withLock({ $0.note(failure.code.rawValue, at: now) }) else { return }
      if count > 1 { metadata["count"] = .stringConvertible(count) }
      logger.warning("request failed", metadata: metadata)
    } else if failure.cause != nil {
      logger.debug("request refused", metadata: metadata)
    }
  }

  /// Logs a request that an interface with codes of its own refused.
  func noteRefusal(code: String, reason: String, requestID: String) {
    logger.debug(
      "request refused",
      metadata: ["request_id": "\(requestID)", "code": "\(code)", "cause": "\(reason)"])
  }
}
