import Transport

/// Whether a transfer goes on fast enough: a floor on its mean speed after a grace, and a bound on
/// the pauses in it. The floor is what ends a peer that drips.
struct TransferPace {
  private var start: LoopInstant
  private var lastProgress: LoopInstant
  private var bytes = 0
  private let bytesPerSecondMin: Int
  private let grace: Duration
  private let stallMax: Duration

  /// The pace of a client that sends.
  static func sending(_ limits: ServerLimits, from start: LoopInstant) -> TransferPace {
    TransferPace(
      limits: limits, grace: limits.transferGrace, stallMax: limits.transferStallMax,
      start: start)
  }

  /// The pace of a client that takes. What it takes is seen only when the kernel's buffer has room
  /// again, which may be a megabyte later: so the grace is as long as a pause may be.
  static func taking(
    _ limits: ServerLimits, stallMax: Duration? = nil, from start: LoopInstant
  ) -> TransferPace {
    let stallMax = stallMax ?? limits.transferStallMax
    return TransferPace(limits: limits, grace: stallMax, stallMax: stallMax, start: start)
  }

  private init(
    limits: ServerLimits, grace: Duration, stallMax: Duration, start: LoopInstant
  ) {
    self.start = start
    self.grace = grace
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

  /// When the transfer fails, unless it goes on before.
  var deadline: LoopInstant {
    let earned = Duration.milliseconds(Int64(bytes) * 1000 / Int64(bytesPerSecondMin))
    return min(start + grace + earned, lastProgress + stallMax)
  }
}
