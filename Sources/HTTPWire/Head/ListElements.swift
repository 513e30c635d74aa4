/// The elements of a comma-separated list of tokens, empty ones left out (RFC 9110 5.6.1).
enum ListElements {
  @inline(__always)
  static func forEach(
    _ bytes: UnsafeRawBufferPointer, _ value: Range<Int>, _ body: (Range<Int>) -> Void
  ) {
    var start = value.lowerBound
    var index = start
    while index <= value.upperBound {
      if index == value.upperBound || bytes[index] == ASCII.comma {
        let element = ByteScan.trimmed(start..<index, in: bytes)
        if !element.isEmpty { body(element) }
        start = index + 1
      }
      index += 1
    }
  }
}
