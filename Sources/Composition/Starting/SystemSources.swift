import FoundationEssentials
import Model

/// The system's clocks, passed to modules that take a clock as a parameter.
enum SystemClock {
  static let wall = WallClock {
    Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
  }

  /// A monotonic clock with an arbitrary start.
  static func uptime() -> Duration { start.duration(to: ContinuousClock.now) }

  private static let start = ContinuousClock.now
}

/// Unguessable names: 128 random bits in hexadecimal.
enum RandomName {
  static func make() -> String {
    text(UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max))
  }

  /// A name that sorts by creation time in milliseconds, as a UUIDv7 does (RFC 9562 section 5.7): 48
  /// bits of time and 80 random ones. Rows with such names are adjacent in the database, while rows
  /// with random names would each change a different page.
  static func make(at now: Timestamp) -> String {
    let time = UInt64(clamping: now.milliseconds) << 16
    return text(time | UInt64(UInt16.random(in: 0...UInt16.max)), UInt64.random(in: 0...UInt64.max))
  }

  private static func text(_ high: UInt64, _ low: UInt64) -> String {
    String(unsafeUninitializedCapacity: 32) { digits in
      for place in 0..<32 {
        let bits = place < 16 ? high : low
        let digit = UInt8(truncatingIfNeeded: bits >> UInt64(60 - place % 16 * 4)) & 15
        digits[place] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
      }
      return 32
    }
  }
}
