import Model
import Testing

struct ConstantTimeTests {
  private static let secret: [UInt8] = (0..<40).map { UInt8(truncatingIfNeeded: $0 * 37 + 11) }

  @Test func equalBytesAreEqual() {
    #expect(constantTimeEqual(Self.secret, Self.secret))
    #expect(constantTimeEqual(Self.secret, ArraySlice(Self.secret)))
    #expect(constantTimeEqual([UInt8](), []))
  }

  /// One bit is enough, wherever it stands, and so are two that would cancel each other out.
  @Test(arguments: 0..<40)
  func aDifferenceIsSeenAtEachPlace(place: Int) {
    for bit in 0..<8 {
      var other = Self.secret
      other[place] ^= 1 << bit
      #expect(!constantTimeEqual(Self.secret, other), "bit \(bit)")
      #expect(!constantTimeEqual(other, Self.secret), "bit \(bit)")
      other[(place + 7) % other.count] ^= 1 << bit
      #expect(!constantTimeEqual(Self.secret, other), "bit \(bit), twice")
    }
  }

  @Test func bytesOfAnotherLengthAreNotEqual() {
    for count in 0..<Self.secret.count {
      #expect(!constantTimeEqual(Self.secret, Self.secret.prefix(count)))
      #expect(!constantTimeEqual(Self.secret.prefix(count), Self.secret))
    }
    #expect(!constantTimeEqual([0], []))
    #expect(!constantTimeEqual([0, 0], [0]))
  }

  /// What is done does not depend on where the difference stands, nor on whether there is one.
  @Test(arguments: [nil] + (0..<40).map(Optional.some))
  func everyByteIsLookedAtOnce(difference: Int?) {
    var other = Self.secret
    if let difference { other[difference] ^= 0x80 }
    let (left, right) = (WatchedBytes(Self.secret), WatchedBytes(other))
    #expect(constantTimeEqual(left, right) == (difference == nil))
    #expect(left.looks == Array(Self.secret.indices))
    #expect(right.looks == Array(other.indices))
  }
}
