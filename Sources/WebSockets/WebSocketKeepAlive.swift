package import Transport

/// When to ping, and when a peer that stays silent counts as lost. It is a value: times are arguments.
///
/// A connection without a FIN (a cable pulled out, a NAT entry forgotten) looks idle for ever; only the
/// missing answer to a ping shows it.
package struct WebSocketKeepAlive: Sendable, Equatable {
  package enum Step: Sendable, Equatable {
    case none
    case ping
    /// No byte has arrived since the ping.
    case lost
  }

  private let interval: Duration
  private let timeout: Duration
  private var nextPing: LoopInstant
  private var pongDeadline: LoopInstant?
  /// The time since which this side does not read, so that it cannot see an answer.
  private var pausedSince: LoopInstant?

  /// - Parameter interval: `.zero` for no pings.
  package init(interval: Duration, timeout: Duration, at now: LoopInstant) {
    self.interval = interval
    self.timeout = timeout
    nextPing = interval > .zero ? now + interval : .distantFuture
  }

  /// The time of the next step.
  package var deadline: LoopInstant {
    guard pausedSince == nil else { return .distantFuture }
    return min(nextPing, pongDeadline ?? .distantFuture)
  }

  /// Notes that bytes have arrived: any of them show that the peer is there.
  package mutating func heard() { pongDeadline = nil }

  /// Gives the peer more time: it is still reading what was sent before the ping.
  package mutating func extend(at now: LoopInstant) {
    if pongDeadline != nil { pongDeadline = now + timeout }
  }

  /// Returns what is due.
  package mutating func advance(to now: LoopInstant) -> Step {
    guard pausedSince == nil else { return .none }
    if let pongDeadline, pongDeadline <= now { return .lost }
    guard nextPing <= now else { return .none }
    nextPing = now + interval
    guard pongDeadline == nil else { return .none }
    pongDeadline = now + timeout
    return .ping
  }

  /// Notes that this side stops reading, since its reader is slow.
  package mutating func pause(at now: LoopInstant) {
    if pausedSince == nil { pausedSince = now }
  }

  package mutating func resume(at now: LoopInstant) {
    guard let since = pausedSince.take() else { return }
    pongDeadline = pongDeadline.map { $0 + now.elapsed(since: since) }
  }
}

/// Whether a peer reads what is sent to it: without pauses that are too long and, after a while, fast
/// enough on average. It is a value: times are arguments.
package struct WebSocketSendPace: Sendable, Equatable {
  private let start: LoopInstant
  private let bytesBefore: Int
  private var lastProgress: LoopInstant
  private var bytes: Int

  /// - Parameter bytes: the bytes that the peer has acknowledged so far.
  package init(bytes: Int, at now: LoopInstant) {
    start = now
    bytesBefore = bytes
    lastProgress = now
    self.bytes = bytes
  }

  /// Notes the peer's progress. Returns whether it is too slow.
  package mutating func isTooSlow(
    bytes: Int, at now: LoopInstant, stallMax: Duration, bytesPerSecondMin: Int
  ) -> Bool {
    if bytes > self.bytes {
      self.bytes = bytes
      lastProgress = now
    }
    if now.elapsed(since: lastProgress) >= stallMax { return true }
    let elapsed = now.elapsed(since: start)
    guard elapsed >= stallMax else { return false }
    return self.bytes - bytesBefore < Int(elapsed.components.seconds) * bytesPerSecondMin
  }
}
