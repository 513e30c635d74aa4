/// A day, or a moment in UTC to the nanosecond: the value of a `Date` of a local type, in whatever
/// format it was written.
///
/// It is stored as `2024-02-29` or `2024-02-29T11:30:00.500000000Z`. All moments have the same
/// length, so the texts sort by time, and a day sorts before all of its moments.
struct CalendarValue: Hashable {
  struct Time: Hashable {
    /// Minute of the day.
    let minute: Int
    /// Up to 60, in a leap second.
    let second: Int
    let nanoseconds: Int
  }

  static let fractionDigitsMax = 9

  let day: CivilDay
  /// Nil for a day as a whole.
  let time: Time?

  init(day: CivilDay, time: Time? = nil) {
    self.day = day
    self.time = time
  }

  /// Creates a moment from a time in another zone.
  ///
  /// - Parameter offset: minutes by which the zone is ahead of UTC.
  init?(day: CivilDay, time: Time, offset: Int) {
    let minute = time.minute - offset
    let days = (minute >= 0 ? minute : minute - 1439) / 1440
    guard let day = CivilDay(number: day.number + days) else { return nil }
    self.init(
      day: day,
      time: Time(
        minute: minute - days * 1440, second: time.second, nanoseconds: time.nanoseconds))
  }

  /// - Parameter seconds: since 1970-01-01T00:00:00Z.
  init?(seconds: Int64, nanoseconds: Int) {
    let secondsEach = CivilDay.secondsEach
    let days = seconds / secondsEach - (seconds % secondsEach < 0 ? 1 : 0)
    guard let day = CivilDay(number: Int(days)) else { return nil }
    let second = Int(seconds - days * secondsEach)
    self.init(
      day: day, time: Time(minute: second / 60, second: second % 60, nanoseconds: nanoseconds))
  }

  /// Seconds since 1970-01-01T00:00:00Z; for a day, of its beginning.
  var seconds: Int64 {
    Int64(day.number) * CivilDay.secondsEach + Int64((time?.minute ?? 0) * 60 + (time?.second ?? 0))
  }

  var nanoseconds: Int { time?.nanoseconds ?? 0 }

  // MARK: Texts

  var stored: String { text(fractionDigits: Self.fractionDigitsMax) }

  /// ISO 8601 with three fraction digits, which clients' formatters expect; with more only if the
  /// moment needs them.
  var iso8601: String {
    var digits = Self.fractionDigitsMax
    var rest = nanoseconds
    while digits > Self.fractionDigitsMin, rest % 10 == 0 {
      (digits, rest) = (digits - 1, rest / 10)
    }
    return text(fractionDigits: digits)
  }

  private static let fractionDigitsMin = 3

  private func text(fractionDigits: Int) -> String {
    let date = "\(Self.digits(day.year, 4))-\(Self.digits(day.month, 2))-\(Self.digits(day.day, 2))"
    guard let time else { return date }
    let clock = [time.minute / 60, time.minute % 60, time.second].map { Self.digits($0, 2) }
    let fraction = Self.digits(time.nanoseconds, Self.fractionDigitsMax).prefix(fractionDigits)
    return "\(date)T\(clock.joined(separator: ":"))\(fraction.isEmpty ? "" : ".")\(fraction)Z"
  }

  /// Returns a number with leading zeros.
  static func digits(_ number: Int, _ count: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
  }
}

extension CalendarValue {
  /// Parses an ISO 8601 day or moment as restricted by RFC 3339: `2024-02-29`,
  /// `2024-02-29T12:30:00.5+01:00`, `…Z`.
  init?(iso8601 text: String) {
    var reader = CalendarReader(text)
    guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2),
      reader.skip("-"), let dayOfMonth = reader.number(2),
      let day = CivilDay(year: year, month: month, day: dayOfMonth)
    else { return nil }
    if reader.isAtEnd {
      self.init(day: day)
      return
    }
    guard reader.skip("T"), let hour = reader.number(2), reader.skip(":"),
      let minute = reader.number(2), reader.skip(":"), let second = reader.number(2)
    else { return nil }
    var nanoseconds = 0
    if reader.skip(".") {
      guard let fraction = reader.fraction() else { return nil }
      nanoseconds = fraction
    }
    guard hour < 24, minute < 60, second <= 60, let offset = reader.zone(), reader.isAtEnd else {
      return nil
    }
    let time = Time(minute: hour * 60 + minute, second: second, nanoseconds: nanoseconds)
    self.init(day: day, time: time, offset: offset)
  }
}

/// A day of the proleptic Gregorian calendar (ISO 8601), in years 0 to 9999.
struct CivilDay: Hashable {
  static let secondsEach: Int64 = 86_400

  let year: Int
  let month: Int
  let day: Int

  /// Nil if there is no such day.
  init?(year: Int, month: Int, day: Int) {
    guard (0...9999).contains(year), (1...12).contains(month), day >= 1,
      day <= Self.length(ofMonth: month, year: year)
    else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
  }

  private static func length(ofMonth month: Int, year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }

  // The year is taken to begin in March, so that the leap day is its last; 400 years then are one
  // whole number of days.
  private static let daysOfEra = 146_097
  private static let daysFromEraToEpoch = 719_468

  /// Days since 1970-01-01.
  var number: Int {
    let shifted = month > 2 ? year : year - 1
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * Self.daysOfEra + dayOfEra - Self.daysFromEraToEpoch
  }

  /// Nil outside years 0 to 9999.
  init?(number: Int) {
    guard (-719_528...2_932_896).contains(number) else { return nil }
    let shifted = number + Self.daysFromEraToEpoch
    let era = (shifted >= 0 ? shifted : shifted - Self.daysOfEra + 1) / Self.daysOfEra
    let dayOfEra = shifted - era * Self.daysOfEra
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / (Self.daysOfEra - 1)) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    let month = part < 10 ? part + 3 : part - 9
    self.init(
      year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month,
      day: dayOfYear - (153 * part + 2) / 5 + 1)
  }
}

/// Reads the parts of a date text from left to right.
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

  /// Reads exactly `count` digits.
  mutating func number(_ count: Int) -> Int? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
    rest = rest.dropFirst(count)
    return digits.reduce(0) { $0 * 10 + Int($1 & 0x0F) }
  }

  /// Reads the digits after a decimal point as nanoseconds; nil if there are more than nine.
  mutating func fraction() -> Int? {
    let count = rest.prefix(while: Self.isDigit).count
    guard (1...CalendarValue.fractionDigitsMax).contains(count), let value = number(count) else {
      return nil
    }
    return (count..<CalendarValue.fractionDigitsMax).reduce(value) { value, _ in value * 10 }
  }

  /// Reads `Z`, `+hh:mm` or `-hh:mm` as minutes ahead of UTC.
  mutating func zone(withColon: Bool = true) -> Int? {
    if withColon, skip("Z") { return 0 }
    let isNegative = skip("-")
    guard isNegative || skip("+"), let hour = number(2), !withColon || skip(":"),
      let minute = number(2), hour < 24, minute < 60
    else { return nil }
    return (isNegative ? -1 : 1) * (hour * 60 + minute)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
