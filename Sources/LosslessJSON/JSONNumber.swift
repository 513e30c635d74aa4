/// A number with its original digits: 64-bit identifiers and decimals keep every digit.
///
/// Two numbers are equal if their digits are: `1`, `1.0` and `1e0` all differ.
package struct JSONNumber: Sendable, Hashable, CustomStringConvertible, ExpressibleByIntegerLiteral
{
  package let digits: String

  package init(_ value: some FixedWidthInteger) {
    digits = String(value)
  }

  /// Nil for infinities and not-a-number, which JSON cannot express.
  package init?(_ value: Double) {
    guard value.isFinite else { return nil }
    digits = value.description
  }

  /// Nil unless the whole text is one number of the grammar.
  package init?(digits: String) {
    guard let document = try? JSONDocument(text: digits), document.root.kind == .number,
      document.root.range.count == document.bytes.count
    else { return nil }
    self.digits = digits
  }

  package init(integerLiteral value: Int64) {
    self.init(value)
  }

  init(unchecked digits: String) {
    self.digits = digits
  }

  /// The value; nil with a fraction or exponent, or beyond 64 bits.
  package var int64: Int64? { Int64(digits) }

  package var double: Double? { Double(digits) }

  package var description: String { digits }

  /// - Parameter digits: an optional minus sign and digits only.
  static func int64(ofDigits digits: UnsafeBufferPointer<UInt8>) -> Int64? {
    let negative = digits.first == UInt8(ascii: "-")
    var value: Int64 = 0
    for index in (negative ? 1 : 0)..<digits.count {
      let (scaled, over) = value.multipliedReportingOverflow(by: 10)
      let digit = Int64(digits[index] &- UInt8(ascii: "0"))
      let (sum, wrapped) =
        negative
        ? scaled.subtractingReportingOverflow(digit) : scaled.addingReportingOverflow(digit)
      guard !over, !wrapped else { return nil }
      value = sum
    }
    return value
  }
}
