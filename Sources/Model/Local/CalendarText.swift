/// Days and moments of ISO 8601 as RFC 3339 narrows them: `2024-02-29`,
/// `2024-02-29T12:30:00.5+01:00`, `…Z`.
enum CalendarText {
  static func isValid(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count >= 10, isDay(bytes[..<10]) else { return false }
    if bytes.count == 10 { return true }
    guard bytes[10] == UInt8(ascii: "T"), bytes.count >= 20 else { return false }
    return isTime(bytes[11...])
  }

  private static func isDay(_ text: ArraySlice<UInt8>) -> Bool {
    guard text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
      let year = number(text[0..<4]), let month = number(text[5..<7]),
      let day = number(text[8..<10]), (1...12).contains(month)
    else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...days[month - 1]).contains(day)
  }

  /// `hh:mm:ss`, a fraction perhaps, and a zone. A leap second is the 60th.
  private static func isTime(_ text: ArraySlice<UInt8>) -> Bool {
    var rest = text
    let clock = rest.prefix(8)
    rest = rest.dropFirst(8)
    guard isClock(clock.prefix(5)), clock.dropFirst(5).first == UInt8(ascii: ":"),
      let second = number(clock.suffix(2)), second <= 60
    else { return false }
    if rest.first == UInt8(ascii: ".") {
      let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
      guard !digits.isEmpty else { return false }
      rest = rest.dropFirst(1 + digits.count)
    }
    if rest.elementsEqual([UInt8(ascii: "Z")]) { return true }
    guard rest.count == 6, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(rest.first) else {
      return false
    }
    return isClock(rest.dropFirst())
  }

  /// `hh:mm`.
  private static func isClock(_ text: ArraySlice<UInt8>) -> Bool {
    guard text.count == 5, text.dropFirst(2).first == UInt8(ascii: ":"),
      let hour = number(text.prefix(2)), let minute = number(text.suffix(2))
    else { return false }
    return hour < 24 && minute < 60
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    var value = 0
    for digit in digits {
      guard (0x30...0x39).contains(digit) else { return nil }
      value = value * 10 + Int(digit - 0x30)
    }
    return value
  }
}
