import Model
import SyncScheduler

/// Counts failed attempts of queued mutations by operation and decides when to log them.
struct FailureTally {
  private var pace = LogPace()

  /// Notes an attempt's outcome.
  ///
  /// - Returns: the number of failures since the last log line, if one is due; nil otherwise.
  mutating func note(_ outcome: SendOutcome, operation: String, at now: Timestamp) -> Int? {
    switch outcome {
    case .transient, .permanent, .unknown, .credentialUnreadable: break
    case .applied, .notSent, .authRefused, .anonymousRefused, .operationChanged, .dependencyMissing,
      .foundMissing:
      return nil
    }
    return pace.note(operation, at: now)
  }
}

extension SendOutcome {
  /// The outcome's name in metrics and the log.
  var name: String {
    switch self {
    case .applied: "applied"
    case .notSent: "not_sent"
    case .authRefused, .anonymousRefused: "auth_refused"
    case .credentialUnreadable: "credential_unreadable"
    case .transient, .foundMissing: "transient"
    case .operationChanged: "operation_changed"
    case .dependencyMissing: "dependency"
    case .permanent: "permanent"
    case .unknown: "unknown"
    }
  }
}

/// Tracks whether a task removes the overlays that outlive their settled mutations.
///
/// That task asks the store what is left, and the result can predate the latest overlay. So the
/// latest one is noted here, and the task asks once more before it stops.
struct OverlayExpiry {
  private var isWatched = true
  private var hasMore = false

  /// Notes an overlay that outlives its mutation.
  ///
  /// - Returns: whether the caller must start the task, since none is running.
  mutating func noteLingering() -> Bool {
    hasMore = true
    defer { isWatched = true }
    return !isWatched
  }

  /// Must be called before the store is queried.
  mutating func willLook() { hasMore = false }

  /// Notes that the store had nothing left.
  ///
  /// - Returns: whether the task is done; otherwise it must query the store again.
  mutating func foundNothing() -> Bool {
    isWatched = hasMore
    return !hasMore
  }
}
