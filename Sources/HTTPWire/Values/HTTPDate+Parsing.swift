extension HTTPDate {
  /// Parses any of the three forms that recipients must accept (RFC 9110 5.6.7); `nil` otherwise.
  ///
  /// - Parameter now: decides the century of the RFC 850 form: a date that seems more than fifty years
  ///   ahead is the most recent past one with those digits.
  package init?(_ text: String, now: HTTPDate) {
    self.init(ArraySlice(Array(text.utf8)), now: now)
  }

  /// Parses a date given as bytes.
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

/// Parser for `Retry-After` (RFC 9110 10.2.3): seconds, or the moment after which to retry.
package enum RetryAfter {
  /// The longest wait; longer ones are clamped, like ages in a cache (RFC 9111 1.2.2).
  private static let secondsMax: Int64 = 1 << 31

  /// Returns how long to wait from `now` on: zero for a past moment, nil for a malformed value.
  package static func wait(_ text: String, now: HTTPDate) -> Duration? {
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return .seconds(min(Int64(text) ?? secondsMax, secondsMax))
    }
    guard let date = HTTPDate(text, now: now) else { return nil }
    return .seconds(min(max(0, date.secondsSince1970 - now.secondsSince1970), secondsMax))
  }
}
