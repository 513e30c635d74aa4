/// The grammar of `uri-host [ ":" port ]` (RFC 3986 3.2, RFC 9110 7.2).
enum HostSyntax {
  /// Whether a range is a non-empty host with an optional port. User information is refused.
  static func isValid(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
    guard !range.isEmpty else { return false }
    let hostEnd =
      bytes[range.lowerBound] == UInt8(ascii: "[")
      ? endOfLiteral(bytes, range) : endOfName(bytes, range)
    guard let hostEnd, hostEnd > range.lowerBound else { return false }
    if hostEnd == range.upperBound { return true }
    guard bytes[hostEnd] == ASCII.colon else { return false }
    for index in hostEnd + 1..<range.upperBound where !bytes[index].isDigit { return false }
    return true
  }

  private static func endOfLiteral(
    _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>
  ) -> Int? {
    var index = range.lowerBound + 1
    while index < range.upperBound, ASCIISet.addressLiteral.contains(bytes[index]) { index += 1 }
    let isClosed = index < range.upperBound && bytes[index] == UInt8(ascii: "]")
    return isClosed && index > range.lowerBound + 2 ? index + 1 : nil
  }

  private static func endOfName(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int? {
    var index = range.lowerBound
    while index < range.upperBound, ASCIISet.registeredName.contains(bytes[index]) { index += 1 }
    return PercentTriplets.areWhole(bytes, range.lowerBound..<index) ? index : nil
  }
}
