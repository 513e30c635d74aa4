import HTTPWire
import Testing

struct SliceEqualityTests {
  /// Around the eight bytes that are compared at once, and with a slice that starts anywhere.
  @Test(
    "Every byte counts in the comparison of slices",
    arguments: 0..<20)
  func everyByteCounts(count: Int) {
    let bytes = (0..<count).map { UInt8($0 + 1) }
    let slice = ([9, 9, 9] + bytes + [9])[3..<3 + count]
    #expect(slice.equals(bytes))
    #expect(!slice.equals(bytes + [1]))
    for index in 0..<count {
      var other = bytes
      other[index] ^= 0x80
      #expect(!slice.equals(other))
    }
  }
}
