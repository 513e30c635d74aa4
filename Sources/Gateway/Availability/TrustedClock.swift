package import Logging
package import Model
import Synchronization

/// The clock for expiry: it distrusts jumps of the wall clock, and logs them.
///
/// Not used for tokens, dates and cache headers, which concern the current moment and delete
/// nothing.
package final class TrustedClock: Sendable {
  private let wall: WallClock
  private let reading: @Sendable () -> Duration
  private let trust: Duration
  private let logger: Logger
  private let state: Mutex<TrustedTime>

  /// - Parameters:
  ///   - newest: the last time recorded by the previous process.
  ///   - reading: a monotonic clock.
  ///   - trust: how long a jump must persist before it is accepted.
  package init(
    newest: Timestamp?, wall: WallClock, reading: @escaping @Sendable () -> Duration,
    trust: Duration, logger: Logger
  ) {
    self.wall = wall
    self.reading = reading
    self.trust = trust
    self.logger = logger
    let time = TrustedTime(newest: newest, wall: wall.now(), reading: reading(), trust: trust)
    state = Mutex(time)
    if let doubted = time.doubted { report(doubted) }
  }

  /// This clock as a ``WallClock``, for modules that take one as a parameter.
  package var clock: WallClock { WallClock { self.now() } }

  package func now() -> Timestamp {
    let (time, finding) = state.withLock { state in
      state.observe(wall: wall.now(), reading: reading())
    }
    if let finding { report(finding) }
    return time
  }

  private func report(_ finding: TrustedTime.Finding) {
    switch finding {
    case .jumped(let expected, let wall):
      logger.warning(
        "the wall clock jumped; expiry ignores the jump until it has persisted",
        metadata: [
          "expected": "\(expected.iso8601)", "clock": "\(wall.iso8601)",
          "trust": "\(trust.wholeSeconds)s",
        ])
    case .believed(let wall):
      logger.warning(
        "the wall clock jump has persisted and is accepted", metadata: ["clock": "\(wall.iso8601)"])
    case .mended:
      logger.notice("the wall clock is back at the expected time")
    }
  }
}
