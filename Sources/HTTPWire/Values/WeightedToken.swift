/// One element of an `Accept…` list: a token and its quality (RFC 9110 12.4.2).
struct WeightedToken {
  let token: ArraySlice<UInt8>
  /// 0–1000.
  let thousandths: Int

  /// Reads an element. A quality that is no number makes it none.
  init?(_ element: ArraySlice<UInt8>) {
    let semicolon = element.firstIndex(of: ASCII.semicolon)
    token = element[element.startIndex..<(semicolon ?? element.endIndex)].trimmingBlanks
    guard !token.isEmpty else { return nil }
    guard let semicolon else {
      thousandths = 1000
      return
    }
    let weight = element[(semicolon + 1)...].trimmingBlanks
    guard weight.count > 2, weight.prefix(2).equalsIgnoringCase("q="),
      let value = Self.thousandths(weight.dropFirst(2))
    else { return nil }
    thousandths = value
  }

  /// `0`, `0.8`, `1.000`: at most three decimals, at most one.
  private static func thousandths(_ text: ArraySlice<UInt8>) -> Int? {
    guard let first = text.first, first == 0x30 || first == 0x31, text.count <= 5 else {
      return nil
    }
    var value = Int(first &- 0x30) * 1000
    let rest = text.dropFirst()
    if rest.isEmpty { return value }
    guard rest.first == UInt8(ascii: ".") else { return nil }
    var unit = 100
    for digit in rest.dropFirst() {
      guard digit.isDigit else { return nil }
      value += Int(digit &- 0x30) * unit
      unit /= 10
    }
    return value <= 1000 ? value : nil
  }
}
