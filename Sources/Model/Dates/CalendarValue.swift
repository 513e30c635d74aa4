/// A day, or a moment in UTC to the nanosecond: what a `Date` of a local type is, whichever way it
/// was written.
///
/// It is stored as `2024-02-29` or `2024-02-29T11:30:00.500000000Z`. All moments have the same
/// length, so the order of the texts is that of time, and a day comes before all of its moments.
struct CalendarValue: Hashable {
  struct Time: Hashable {
    /// Of the day.
    let minute: Int
    /// 60 in a leap second.
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

  /// A time read in another zone.
  ///
  /// - Parameter offset: minutes that the zone is ahead of UTC.
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

  /// Since 1970-01-01T00:00:00Z; of a day, its beginning.
  var seconds: Int64 {
    Int64(day.number) * CivilDay.secondsEach + Int64((time?.minute ?? 0) * 60 + (time?.second ?? 0))
  }

  var nanoseconds: Int { time?.nanoseconds ?? 0 }

  // MARK: Texts

  var stored: String { text(fractionDigits: Self.fractionDigitsMax) }

  /// ISO 8601 with three digits of fraction, which is what clients' formatters take; with more only
  /// where the moment has more.
  var iso8601: String {
    var digits = Self.fractionDigitsMax
    var rest = nanoseconds
    while digits > Self.fractionDigitsTold, rest % 10 == 0 {
      (digits, rest) = (digits - 1, rest / 10)
    }
    return text(fractionDigits: digits)
  }

  private static let fractionDigitsTold = 3

  private func text(fractionDigits: Int) -> String {
    let date = "\(Self.digits(day.year, 4))-\(Self.digits(day.month, 2))-\(Self.digits(day.day, 2))"
    guard let time else { return date }
    let clock = [time.minute / 60, time.minute % 60, time.second].map { Self.digits($0, 2) }
    let fraction = Self.digits(time.nanoseconds, Self.fractionDigitsMax).prefix(fractionDigits)
    return "\(date)T\(clock.joined(separator: ":"))\(fraction.isEmpty ? "" : ".")\(fraction)Z"
  }

  /// With zeros in front.
  static func digits(_ number: Int, _ count: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
  }
}

extension CalendarValue {
  /// Reads a day or a moment of ISO 8601 as RFC 3339 narrows them: `2024-02-29`,
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
