/// SHA-256 of a mutation's canonical JSON: tells a repeated request from another one under the same
/// key. Kept as four words, since a queue holds many.
package struct PayloadFingerprint: Hashable, Sendable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  package static let byteCount = 32

  /// Nil unless there are exactly ``byteCount`` bytes.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    var words = [UInt64](repeating: 0, count: 4)
    for (position, byte) in bytes.enumerated() {
      words[position / 8] = words[position / 8] << 8 | UInt64(byte)
    }
    self.words = (words[0], words[1], words[2], words[3])
  }

  package var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
    }
  }

  package static func == (left: Self, right: Self) -> Bool { left.words == right.words }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
  }
}
