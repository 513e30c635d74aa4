/// The name of a file that holds the content of one object or part: 128 random bits, so no key can
/// lead a path anywhere.
package struct BlobName: Hashable, Sendable {
  package static let digitCount = 32

  /// 32 lower-case hexadecimal digits.
  package let text: String

  package init?(_ text: String) {
    guard text.utf8.count == Self.digitCount, text.utf8.allSatisfy(Self.isDigit) else {
      return nil
    }
    self.text = text
  }

  /// - Parameter random: another number at each call, that nobody can guess.
  package init(random: () -> UInt64) {
    let bytes = [random(), random()].flatMap { number in
      (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
    text = bytes.map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }

  /// As the index has it.
  init(stored text: String) {
    self.text = text
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }
}
