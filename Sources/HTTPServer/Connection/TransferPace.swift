import Transport

/// Whether a transfer is fast enough: a minimum mean speed after a grace period, and a limit on its
/// pauses. The minimum speed ends a peer that sends or reads a few bytes at a time.
struct TransferPace {
  private var start: LoopInstant
  private var lastProgress: LoopInstant
  private var bytes = 0
  /// The start of the current pause, in which nothing is expected of the peer.
  private var pausedSince: LoopInstant?
  /// Bytes the client may have read that this side cannot observe.
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

  /// The pace of a client that reads.
  ///
  /// - Parameters:
  ///   - stallMax: replaces the server's own limit for an endless response: a client can read nothing
  ///     for this long, also at the beginning.
  ///   - unseenBytes: bytes that it may have read beyond those passed to ``advance(by:now:)``. They
  ///     count in its favour, except for stalls.
  static func reading(
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

  /// Excludes a pause caused by this side.
  mutating func excuse(_ pause: Duration) {
    start = start + pause
    lastProgress = lastProgress + pause
  }

  /// Starts a pause: nothing is left to transfer for now. The progress so far is kept.
  mutating func pause(from now: LoopInstant) {
    if pausedSince == nil { pausedSince = now }
    lastProgress = pausedSince ?? now
  }

  var isPaused: Bool { pausedSince != nil }

  /// Ends a pause: there is something to transfer again.
  mutating func resume(at now: LoopInstant) {
    if let since = pausedSince.take() { excuse(now.elapsed(since: since)) }
  }

  /// The time at which the transfer fails without further progress.
  var deadline: LoopInstant {
    if pausedSince != nil { return .distantFuture }
    let earned = Duration.milliseconds(
      Int64(bytes + unseenBytes) * 1000 / Int64(bytesPerSecondMin))
    return min(start + grace + earned, lastProgress + stallMax)
  }
}

/// Spans as plain nanoseconds, for calculations on every request: `Duration` counts attoseconds in
/// 128 bits, and adding one costs ten times as much.
extension LoopInstant {
  /// A span in nanoseconds, clamped to the range of the clock.
  static func nanoseconds(in span: Duration) -> UInt64 {
    LoopInstant(nanoseconds: 0).advanced(by: span).nanoseconds
  }

  /// The instant `nanoseconds` later, clamped to ``distantFuture``.
  @inline(__always)
  func advanced(byNanoseconds nanoseconds: UInt64) -> LoopInstant {
    let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
    return overflow ? .distantFuture : LoopInstant(nanoseconds: sum)
  }
}
