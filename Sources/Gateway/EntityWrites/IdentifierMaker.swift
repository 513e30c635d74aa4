package import Model

/// Makes ids of new entities: UUIDs of version 7 (RFC 9562 section 5.7), whose beginning is the time,
/// so that rows made one after another lie beside each other.
package struct IdentifierMaker: Sendable {
  private let clock: WallClock
  private let random: RandomBytes

  package init(clock: WallClock, random: RandomBytes) {
    self.clock = clock
    self.random = random
  }

  package func make() -> String {
    let milliseconds = UInt64(bitPattern: clock.now().milliseconds)
    var bytes = (0..<6).map { UInt8(truncatingIfNeeded: milliseconds >> (8 * UInt64(5 - $0))) }
    bytes += random.bytes(10)
    bytes[6] = bytes[6] & 0x0F | 0x70
    bytes[8] = bytes[8] & 0x3F | 0x80
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      let digits = String(byte, radix: 16)
      text += digits.count == 1 ? "0\(digits)" : digits
    }
    return text
  }
}
