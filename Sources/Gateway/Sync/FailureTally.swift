import Model

/// Counts failed attempts of queued mutations by operation, and says when to log them.
struct FailureTally {
  private static let interval = Duration.seconds(60)

  private var counts: [String: Int] = [:]
  private var logged: [String: Timestamp] = [:]

  /// - Returns: how many failed since the last line, where a line is due; nil for none.
  mutating func note(_ outcome: SendOutcome, operation: String, at now: Timestamp) -> Int? {
    switch outcome {
    case .transient, .permanent, .unknown, .credentialUnreadable: break
    case .applied, .notSent, .authRefused, .anonymousRefused, .operationChanged, .foundMissing:
      return nil
    }
    counts[operation, default: 0] += 1
    if let last = logged[operation], last.elapsed(until: now) < Self.interval { return nil }
    logged[operation] = now
    return counts.removeValue(forKey: operation)
  }
}

extension SendOutcome {
  /// Its name in metrics and the log.
  var name: String {
    switch self {
    case .applied: "applied"
    case .notSent: "not_sent"
    case .authRefused, .anonymousRefused: "auth_refused"
    case .credentialUnreadable: "credential_unreadable"
    case .transient, .foundMissing: "transient"
    case .operationChanged: "operation_changed"
    case .permanent: "permanent"
    case .unknown: "unknown"
    }
  }
}
