import Model
import Testing

struct ConstantTimeTests {
  private static let secret: [UInt8] = (0..<40).map { UInt8(truncatingIfNeeded: $0 * 37 + 11) }

  @Test("Equal bytes are equal")
  func equalBytesAreEqual() {
    #expect(constantTimeEqual(Self.secret, Self.secret))
    #expect(constantTimeEqual(Self.secret, ArraySlice(Self.secret)))
    #expect(constantTimeEqual([UInt8](), []))
  }

  /// A single bit at any position, and two that would cancel each other out.
  @Test("A difference is detected at every position", arguments: 0..<40)
  func detectsDifferencesAtEveryPosition(place: Int) {
    for bit in 0..<8 {
      var other = Self.secret
      other[place] ^= 1 << bit
      #expect(!constantTimeEqual(Self.secret, other), "bit \(bit)")
      #expect(!constantTimeEqual(other, Self.secret), "bit \(bit)")
      other[(place + 7) % other.count] ^= 1 << bit
      #expect(!constantTimeEqual(Self.secret, other), "bit \(bit), twice")
    }
  }

  @Test("Bytes of different lengths are not equal")
  func differentLengthsAreNotEqual() {
    for count in 0..<Self.secret.count {
      #expect(!constantTimeEqual(Self.secret, Self.secret.prefix(count)))
      #expect(!constantTimeEqual(Self.secret.prefix(count), Self.secret))
    }
    #expect(!constantTimeEqual([0], []))
    #expect(!constantTimeEqual([0, 0], [0]))
  }

  /// The work does not depend on the position of a difference, nor on whether there is one.
  @Test(
    "Every byte is read once, wherever they differ", arguments: [nil] + (0..<40).map(Optional.some))
  func readsEveryByteOnce(difference: Int?) {
    var other = Self.secret
    if let difference { other[difference] ^= 0x80 }
    let (left, right) = (WatchedBytes(Self.secret), WatchedBytes(other))
    #expect(constantTimeEqual(left, right) == (difference == nil))
    #expect(left.looks == Array(Self.secret.indices))
    #expect(right.looks == Array(other.indices))
  }
}

/// Bytes that record the order in which they are read.
struct WatchedBytes: RandomAccessCollection {
  private final class Notes {
    var looks: [Int] = []
  }

  private let bytes: [UInt8]
  private let notes = Notes()

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var looks: [Int] { notes.looks }
  var startIndex: Int { bytes.startIndex }
  var endIndex: Int { bytes.endIndex }

  subscript(place: Int) -> UInt8 {
    notes.looks.append(place)
    return bytes[place]
  }
}
