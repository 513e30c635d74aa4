/// Durations as settings write them: a whole number and one unit.
enum DurationText {
  private static let units: [(name: String, milliseconds: Int64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
  ]

  static func parse(_ text: String) throws(ValueRefusal) -> Duration {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let name = text[digits.endIndex...]
    guard !digits.isEmpty else {
      throw ValueRefusal(text.hasPrefix("-") ? "a duration is not negative" : nil)
    }
    guard let unit = units.first(where: { $0.name == name }) else {
      throw ValueRefusal("its unit is ms, s, m, h or d")
    }
    guard let count = Int64(decimal: digits) else { throw ValueRefusal("that is too long") }
    let (milliseconds, overflows) = count.multipliedReportingOverflow(by: unit.milliseconds)
    guard !overflows else { throw ValueRefusal("that is too long") }
    return .milliseconds(milliseconds)
  }

  /// In the largest unit that divides it; what is finer than a millisecond cannot be written.
  static func print(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    guard milliseconds != 0 else { return "0s" }
    for unit in units where milliseconds % unit.milliseconds == 0 {
      return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
    return "\(milliseconds)ms"
  }
}
