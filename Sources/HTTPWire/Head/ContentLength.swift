/// The grammar of Content-Length (RFC 9110 8.6): digits, decimal, leading zeros allowed.
enum ContentLength {
  enum Outcome: Equatable {
    case bytes(Int)
    /// Digits, but more than any machine holds.
    case beyondMeasure
    case malformed
  }

  static func parse(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>) -> Outcome {
    guard !value.isEmpty else { return .malformed }
    var length = 0
    var overflows = false
    for index in value {
      guard bytes[index].isDigit else { return .malformed }
      let (product, first) = length.multipliedReportingOverflow(by: 10)
      let (sum, second) = product.addingReportingOverflow(Int(bytes[index] &- 0x30))
      overflows = overflows || first || second
      length = sum
    }
    return overflows ? .beyondMeasure : .bytes(length)
  }
}
