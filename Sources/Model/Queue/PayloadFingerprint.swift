/// SHA-256 of a mutation's canonical JSON, which distinguishes a replay from another request with the
/// same key. Kept as four words, since a queue holds many.
package struct PayloadFingerprint: Hashable, Sendable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  package static let byteCount = 32

  /// Nil unless there are exactly ``byteCount`` bytes.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    func word(_ index: Int) -> UInt64 {
      bytes[8 * index..<8 * index + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
    words = (word(0), word(1), word(2), word(3))
  }

  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    for word in [words.0, words.1, words.2, words.3] {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    return bytes
  }

  package static func == (left: Self, right: Self) -> Bool { left.words == right.words }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
  }
}

/// How a request with an idempotency key that the device has used before is handled.
package enum KeyReuse: Hashable, Sendable {
  /// The same request: respond with the mutation's current state. A forced one in flight is joined.
  case replay
  /// Another payload with the same key.
  case conflict
  /// The same forced request, whose deadline has passed: see
  /// `DeviceQueue.arming(_:known:at:policy:)`.
  case arm
}
