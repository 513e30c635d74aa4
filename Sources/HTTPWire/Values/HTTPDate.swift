/// A moment in HTTP's precision: whole seconds, UTC (RFC 9110 5.6.7).
package struct HTTPDate: Sendable, Hashable, Comparable {
  /// Seconds since 1970-01-01T00:00:00Z, without leap seconds.
  package let secondsSince1970: Int64

  /// The moments that a four-digit year can express: 0000-01-01 to 9999-12-31.
  private static let expressible: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

  /// Clamps the moment to the years 0000 to 9999: a file's time can be any number.
  package init(secondsSince1970: Int64) {
    self.secondsSince1970 = min(
      max(secondsSince1970, Self.expressible.lowerBound), Self.expressible.upperBound)
  }

  package static func < (left: HTTPDate, right: HTTPDate) -> Bool {
    left.secondsSince1970 < right.secondsSince1970
  }

  /// The IMF-fixdate form: `Sun, 06 Nov 1994 08:49:37 GMT`.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The IMF-fixdate form: always 29 bytes.
  package var bytes: [UInt8] {
    let (day, second) = daysAndSeconds
    let date = CivilDate(daysSince1970: day)
    let weekday = (day % 7 + 4 + 7) % 7
    var output: [UInt8] = []
    output.reserveCapacity(29)
    output.append(contentsOf: DateNames.weekdays[weekday].utf8.prefix(3))
    output.append(", ")
    output.append(twoDigits: date.day)
    output.append(ASCII.space)
    output.append(contentsOf: DateNames.months[date.month - 1].utf8)
    output.append(ASCII.space)
    output.append(twoDigits: date.year / 100)
    output.append(twoDigits: date.year % 100)
    output.append(ASCII.space)
    output.append(twoDigits: second / 3600)
    output.append(ASCII.colon)
    output.append(twoDigits: second / 60 % 60)
    output.append(ASCII.colon)
    output.append(twoDigits: second % 60)
    output.append(" GMT")
    return output
  }

  /// Whole days since 1970-01-01, and the seconds of the day.
  var daysAndSeconds: (days: Int, seconds: Int) {
    let days = secondsSince1970.flooringDivision(by: 86_400)
    return (Int(days), Int(secondsSince1970 - days * 86_400))
  }
}

extension [UInt8] {
  mutating func append(twoDigits number: Int) {
    append(UInt8(truncatingIfNeeded: number / 10 % 10) + 0x30)
    append(UInt8(truncatingIfNeeded: number % 10) + 0x30)
  }
}

extension Int64 {
  fileprivate func flooringDivision(by divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}

/// A day of the proleptic Gregorian calendar.
///
/// The arithmetic is Howard Hinnant's "chrono-compatible low-level date algorithms": years start in
/// March, so that the leap day is a year's last, and eras of 400 years are all alike.
struct CivilDate: Sendable, Equatable {
  var year: Int
  /// 1–12.
  var month: Int
  /// 1–31.
  var day: Int

  init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  init(daysSince1970 days: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  var daysSince1970: Int {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// Whether the day exists in the calendar.
  var isReal: Bool {
    (1...12).contains(month) && day >= 1 && CivilDate(daysSince1970: daysSince1970) == self
  }
}

/// The names in HTTP dates: English and case-sensitive in every locale.
enum DateNames {
  /// From Sunday on, in full as in RFC 850; the other forms use three letters.
  static let weekdays = [
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
  ]
  static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
