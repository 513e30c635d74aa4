extension HTTPDate {
  /// Reads any of the three forms that recipients must take (RFC 9110 5.6.7); `nil` for all else.
  ///
  /// - Parameter now: settles the century of the RFC 850 form: a date that seems more than fifty
  ///   years ahead is the last one with those digits.
  package init?(_ text: String, now: HTTPDate) {
    self.init(ArraySlice(Array(text.utf8)), now: now)
  }

  /// As `init(_:now:)` of the text.
  package init?(_ bytes: ArraySlice<UInt8>, now: HTTPDate) {
    var reader = DateReader(bytes)
    guard let weekday = reader.weekday() else { return nil }
    let seconds: Int64?
    switch weekday {
    case .abbreviated: seconds = reader.take(",") ? reader.fixedDate() : reader.asctimeDate()
    case .full: seconds = reader.rfc850Date(now: now.secondsSince1970)
    }
    guard let seconds, reader.isAtEnd else { return nil }
    self.init(secondsSince1970: seconds)
  }
}

/// Reads the parts of a date, left to right.
private struct DateReader {
  enum Weekday {
    case abbreviated
    case full
  }

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) {
    rest = bytes
  }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func take(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest = rest.dropFirst(text.utf8.count)
    return true
  }

  mutating func weekday() -> Weekday? {
    for name in DateNames.weekdays {
      if take(name) { return .full }
      if take(String(name.prefix(3))) { return .abbreviated }
    }
    return nil
  }

  /// ` 06 Nov 1994 08:49:37 GMT`
  mutating func fixedDate() -> Int64? {
    guard take(" "), let day = digits(2), take(" "), let month = month(), take(" "),
      let year = digits(4), take(" "), let second = timeOfDay(), take(" GMT")
    else { return nil }
    return seconds(CivilDate(year: year, month: month, day: day), second)
  }

  /// `, 06-Nov-94 08:49:37 GMT`
  mutating func rfc850Date(now: Int64) -> Int64? {
    guard take(", "), let day = digits(2), take("-"), let month = month(), take("-"),
      let year = digits(2), take(" "), let second = timeOfDay(), take(" GMT")
    else { return nil }
    let thisYear = CivilDate(daysSince1970: Int(now / 86_400)).year
    var full = thisYear / 100 * 100 + year
    if full > thisYear + 50 { full -= 100 }
    return seconds(CivilDate(year: full, month: month, day: day), second)
  }

  /// ` Nov  6 08:49:37 1994`
  mutating func asctimeDate() -> Int64? {
    guard take(" "), let month = month(), take(" "),
      let day = take(" ") ? digits(1) : digits(2), take(" "), let second = timeOfDay(), take(" "),
      let year = digits(4)
    else { return nil }
    return seconds(CivilDate(year: year, month: month, day: day), second)
  }

  private mutating func month() -> Int? {
    for (index, name) in DateNames.months.enumerated() where take(name) { return index + 1 }
    return nil
  }

  private mutating func timeOfDay() -> Int? {
    guard let hour = digits(2), hour < 24, take(":"), let minute = digits(2), minute < 60,
      take(":"), let second = digits(2), second <= 60
    else { return nil }
    return hour * 3600 + minute * 60 + min(second, 59)
  }

  private mutating func digits(_ count: Int) -> Int? {
    guard rest.count >= count, rest.prefix(count).allSatisfy(\.isDigit) else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count).reduce(0) { $0 * 10 + Int($1 &- 0x30) }
  }

  private func seconds(_ date: CivilDate, _ second: Int) -> Int64? {
    date.isReal ? Int64(date.daysSince1970) * 86_400 + Int64(second) : nil
  }
}
