package import Logging
package import Model
import Synchronization

/// The clock that everything expires by: it doubts jumps of the wall clock, and says so in the log.
///
/// Never the clock of tokens, dates and cache headers, which are about the moment and destroy nothing.
package final class TrustedClock: Sendable {
  private let wall: WallClock
  private let reading: @Sendable () -> Duration
  private let trust: Duration
  private let logger: Logger
  private let state: Mutex<TrustedTime>

  /// - Parameters:
  ///   - newest: until when the service had lived when its last process noted it.
  ///   - reading: a clock that only runs forward.
  ///   - trust: for how long a jump must hold until it is believed.
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

  /// Of this clock alone, for modules that take one as a parameter.
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
        "the wall clock is not where it was expected; nothing expires by it until it has held",
        metadata: [
          "expected": "\(expected.iso8601)", "clock": "\(wall.iso8601)",
          "trust": "\(trust.wholeSeconds)s",
        ])
    case .believed(let wall):
      logger.warning(
        "the wall clock has held and is believed", metadata: ["clock": "\(wall.iso8601)"])
    case .mended:
      logger.notice("the wall clock is where it was expected again")
    }
  }
}
