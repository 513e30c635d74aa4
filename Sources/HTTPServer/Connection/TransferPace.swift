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

  init(limits: ServerLimits, start: LoopInstant) {
    self.start = start
    lastProgress = start
    bytesPerSecondMin = max(1, limits.transferBytesPerSecondMin)
    grace = limits.transferGrace
    stallMax = limits.transferStallMax
  }

  mutating func advance(by count: Int, now: LoopInstant) {
    guard count > 0 else { return }
    bytes += count
    lastProgress = max(lastProgress, now)
  }

  /// Bytes whose going cannot be watched: they earn their time at once, and pauses do not count.
  mutating func trust(with count: Int) {
    bytes += count
    lastProgress = .distantFuture
  }

  /// The transfer was held up on this side, which the peer is not to blame for.
  mutating func excuse(_ pause: Duration) {
    start = start + pause
    if lastProgress != .distantFuture { lastProgress = lastProgress + pause }
  }

  /// When the transfer fails, unless it goes on before.
  var deadline: LoopInstant {
    let earned = Duration.milliseconds(Int64(bytes) * 1000 / Int64(bytesPerSecondMin))
    return min(start + grace + earned, lastProgress + stallMax)
  }
}
