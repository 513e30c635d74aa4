import FoundationEssentials
import Model
import Synchronization
import Transport

/// The system's clocks, passed to modules that take a clock as a parameter.
enum SystemClock {
  static let wall = WallClock {
    Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
  }

  /// A monotonic clock with an arbitrary start.
  static func uptime() -> Duration { start.duration(to: ContinuousClock.now) }

  private static let start = ContinuousClock.now
}

/// The TLS context of HTTP clients, which trusts the system's certificate authorities.
///
/// Reading their certificates takes a large part of a start: it is done once, and only if it is needed.
final class ClientTLS: Sendable {
  private let made = Mutex<TLSClientContext?>(nil)

  /// Returns the context; nil if none is needed.
  func context(if isNeeded: Bool) throws(TLSContextError) -> TLSClientContext? {
    guard isNeeded else { return nil }
    return try made.withLock { made throws(TLSContextError) in
      if let made { return made }
      let context = try TLSClientContext()
      made = context
      return context
    }
  }
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
