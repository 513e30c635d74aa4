/// Takes the parts of a written date from its beginning.
struct CalendarReader {
  private var rest: Substring.UTF8View

  init(_ text: String) {
    rest = text[...].utf8
  }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func skip(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest = rest.dropFirst(text.utf8.count)
    return true
  }

  /// Exactly so many digits.
  mutating func number(_ count: Int) -> Int? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
    rest = rest.dropFirst(count)
    return digits.reduce(0) { $0 * 10 + Int($1 & 0x0F) }
  }

  /// Digits behind a point, as nanoseconds. None is finer than that.
  mutating func fraction() -> Int? {
    let count = rest.prefix(while: Self.isDigit).count
    guard (1...CalendarValue.fractionDigitsMax).contains(count), let value = number(count) else {
      return nil
    }
    return (count..<CalendarValue.fractionDigitsMax).reduce(value) { value, _ in value * 10 }
  }

  /// `Z`, `+hh:mm` or `-hh:mm`, as minutes ahead of UTC.
  mutating func zone(withColon: Bool = true) -> Int? {
    if withColon, skip("Z") { return 0 }
    let isBehind = skip("-")
    guard isBehind || skip("+"), let hour = number(2), !withColon || skip(":"),
      let minute = number(2), hour < 24, minute < 60
    else { return nil }
    return (isBehind ? -1 : 1) * (hour * 60 + minute)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
