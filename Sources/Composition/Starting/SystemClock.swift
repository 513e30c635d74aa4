import FoundationEssentials
import Model

/// The system's clock, for the modules that take one as a parameter.
enum SystemClock {
  static let wall = WallClock {
    Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
  }

  /// Never goes back; from an instant of its own.
  static func uptime() -> Duration { start.duration(to: ContinuousClock.now) }

  private static let start = ContinuousClock.now
}
