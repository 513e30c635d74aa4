/// The grammar of percent-encoding.
enum PercentTriplets {
  /// Whether two hexadecimal digits follow every `%` of a range (RFC 3986 2.1).
  static func areWhole(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
    var index = range.lowerBound
    while index < range.upperBound {
      guard bytes[index] == ASCII.percent else {
        index &+= 1
        continue
      }
      guard index + 2 < range.upperBound, bytes[index + 1].hexValue != nil,
        bytes[index + 2].hexValue != nil
      else { return false }
      index += 3
    }
    return true
  }
}
