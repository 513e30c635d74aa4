import Transport

/// Whether a transfer goes on fast enough: a floor on its mean speed after a grace, and a bound on
/// the pauses in it. The floor is what ends a peer that drips.
struct TransferPace {
  private var start: LoopInstant
  private var lastProgress: LoopInstant
  private var bytes = 0
  /// Since when nothing can be expected of the peer.
  private var restsSince: LoopInstant?
  /// What the client may have taken that nobody can see.
  private let unseenBytes: Int
  private let bytesPerSecondMin: Int
  private let grace: Duration
  private let stallMax: Duration

  /// The pace of a client that sends.
  static func sending(_ limits: ServerLimits, from start: LoopInstant) -> TransferPace {
    TransferPace(
      limits: limits, grace: limits.transferGrace, stallMax: limits.transferStallMax,
      start: start)
  }

  /// The pace of a client that takes.
  ///
  /// - Parameters:
  ///   - stallMax: in place of the server's own, for an answer without an end: of that a client may
  ///     take nothing for this long from the beginning.
  ///   - unseenBytes: that it may have taken beyond what ``advance(by:now:)`` is told: to its credit,
  ///     since nobody can see that it has not. A stall is one all the same.
  static func taking(
    _ limits: ServerLimits, stallMax: Duration? = nil, unseenBytes: Int = 0, from start: LoopInstant
  ) -> TransferPace {
    TransferPace(
      limits: limits, grace: max(limits.transferGrace, stallMax ?? .zero),
      stallMax: stallMax ?? limits.transferStallMax, unseenBytes: unseenBytes, start: start)
  }

  private init(
    limits: ServerLimits, grace: Duration, stallMax: Duration, unseenBytes: Int = 0,
    start: LoopInstant
  ) {
    self.start = start
    self.grace = grace
    self.unseenBytes = unseenBytes
    lastProgress = start
    bytesPerSecondMin = max(1, limits.transferBytesPerSecondMin)
    self.stallMax = stallMax
  }

  mutating func advance(by count: Int, now: LoopInstant) {
    guard count > 0 else { return }
    bytes += count
    lastProgress = now
  }

  /// The transfer was held up on this side, which the peer is not to blame for.
  mutating func excuse(_ pause: Duration) {
    start = start + pause
    lastProgress = lastProgress + pause
  }

  /// Nothing is left to transfer for now; what the peer has earned stays.
  mutating func rest(from now: LoopInstant) {
    if restsSince == nil { restsSince = now }
    lastProgress = restsSince ?? now
  }

  var isResting: Bool { restsSince != nil }

  /// There is something to transfer again.
  mutating func goOn(at now: LoopInstant) {
    if let since = restsSince.take() { excuse(now.elapsed(since: since)) }
  }

  /// When the transfer fails, unless it goes on before.
  var deadline: LoopInstant {
    if restsSince != nil { return .distantFuture }
    let earned = Duration.milliseconds(
      Int64(bytes + unseenBytes) * 1000 / Int64(bytesPerSecondMin))
    return min(start + grace + earned, lastProgress + stallMax)
  }
}
