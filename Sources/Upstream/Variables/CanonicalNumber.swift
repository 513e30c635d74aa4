import LosslessJSON

/// The canonical text of a number: `1.50`, `15e-1` and `1.5` become `1.5`.
///
/// Works on digits, so nothing is rounded.
enum CanonicalNumber {
  static func of(_ number: JSONNumber) -> JSONNumber {
    if isPlainInteger(number.digits) { return number }
    guard let text = text(of: number.digits), let canonical = JSONNumber(digits: text) else {
      return number
    }
    return canonical
  }

  /// The integer equal to a number, if there is one: `1.0` has one, `1.5` has none.
  static func integer(_ number: JSONNumber) -> JSONNumber? {
    let canonical = of(number)
    let isScientific = canonical.digits.utf8.contains {
      $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e")
    }
    return isScientific ? nil : canonical
  }

  /// Whether digits are canonical already, as nearly all are.
  private static func isPlainInteger(_ digits: String) -> Bool {
    let digits = digits.utf8
    guard let first = digits.first, digits.count <= placesMax else { return false }
    if first == UInt8(ascii: "0") { return digits.count == 1 }
    return digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  /// Beyond this many digits a number stays in scientific notation.
  private static let placesMax = 40

  /// The supported exponents; numbers with any other stay as written.
  private static let powers = -1_000_000...1_000_000

  private static func text(of digits: String) -> String? {
    var mantissa: [UInt8] = []
    var exponent = 0
    var isNegative = false
    var isFraction = false
    var bytes = Array(digits.utf8)[...]
    if bytes.first == UInt8(ascii: "-") {
      isNegative = true
      bytes.removeFirst()
    }
    while let byte = bytes.popFirst() {
      switch byte {
      case UInt8(ascii: "."): isFraction = true
      case UInt8(ascii: "e"), UInt8(ascii: "E"):
        guard let power = Int(String(decoding: bytes, as: UTF8.self)), powers.contains(power)
        else { return nil }
        exponent += power
        bytes = []
      default:
        mantissa.append(byte)
        if isFraction { exponent -= 1 }
      }
    }
    mantissa = Array(mantissa.drop { $0 == UInt8(ascii: "0") })
    while mantissa.last == UInt8(ascii: "0") {
      mantissa.removeLast()
      exponent += 1
    }
    guard !mantissa.isEmpty else { return "0" }
    return (isNegative ? "-" : "") + placed(mantissa, exponent: exponent)
  }

  /// Digits without zeros at either end, times ten to the exponent.
  private static func placed(_ mantissa: [UInt8], exponent: Int) -> String {
    let digits = String(decoding: mantissa, as: UTF8.self)
    let point = mantissa.count + exponent
    let places = -placesMax...placesMax
    guard places.contains(exponent), places.contains(point) else {
      return "\(digits)e\(exponent)"
    }
    if exponent >= 0 { return digits + String(repeating: "0", count: exponent) }
    if point <= 0 { return "0." + String(repeating: "0", count: -point) + digits }
    return "\(digits.prefix(point)).\(digits.dropFirst(point))"
  }
}
