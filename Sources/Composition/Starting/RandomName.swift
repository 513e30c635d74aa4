import Model

/// Names nobody guesses: 128 random bits in hexadecimal.
enum RandomName {
  static func make() -> String {
    text(UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max))
  }

  /// One that sorts by when it was made, to the millisecond, as a UUIDv7 does (RFC 9562 section
  /// 5.7): 48 bits of time and 80 random ones. Rows under such names come to lie side by side, where
  /// random ones would each change a page of their own.
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
