import Model

/// Whether the sender may be asked at present. While it is away or has had enough, nobody asks; then
/// one does, and the others once that one has been answered.
struct PushCircuitBreaker: Sendable {
  enum Admission: Hashable {
    case granted
    /// Nil: until the one who asks has an answer.
    case waits(Duration?)
  }

  private var closedUntil: Timestamp?
  private var isProbing = false
  /// When the sender last took something.
  private(set) var lastSuccess: Timestamp?

  var isClosed: Bool { closedUntil != nil }

  mutating func admit(at now: Timestamp) -> Admission {
    guard let closedUntil else { return .granted }
    if isProbing { return .waits(nil) }
    if now < closedUntil { return .waits(now.elapsed(until: closedUntil)) }
    isProbing = true
    return .granted
  }

  /// Whoever was admitted had nothing to ask.
  mutating func unused() { isProbing = false }

  /// - Parameter wait: for how long nobody asks, however it was asked for; nil where all may.
  /// - Returns: whether others who wait may go now.
  mutating func answered(
    at now: Timestamp, closedFor wait: Duration?, isSuccess: Bool
  ) -> Bool {
    if isSuccess { lastSuccess = now }
    defer { isProbing = false }
    guard let wait else {
      defer { closedUntil = nil }
      return closedUntil != nil
    }
    closedUntil = max(now.advanced(by: wait), closedUntil ?? now)
    return isProbing
  }
}
