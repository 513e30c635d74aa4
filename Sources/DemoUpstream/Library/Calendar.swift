/// Days and points in time as the texts the schema's `Date` and `DateTime` scalars carry.
enum Calendar {
  /// `1994-05-12`
  static func day(year: Int, month: Int, day: Int) -> String {
    "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
  }

  /// `2024-02-29T08:15:00Z`
  static func time(secondsSince1970 seconds: Int64) -> String {
    let days = Int(seconds.quotientFloor(86_400))
    let rest = Int(seconds - Int64(days) * 86_400)
    let (year, month, day) = date(daysSince1970: days)
    let clock = [rest / 3_600, rest / 60 % 60, rest % 60].map { padded($0, 2) }
    return "\(self.day(year: year, month: month, day: day))T\(clock.joined(separator: ":"))Z"
  }

  /// Whether a text is a day that the calendar has.
  static func isDay(_ text: String) -> Bool {
    let units = Array(text.utf8)
    guard units.count == 10, units[4] == dash, units[7] == dash else { return false }
    let parts = text.split(separator: "-").compactMap { part in
      part.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) ? Int(part) : nil
    }
    guard parts.count == 3, (1...12).contains(parts[1]) else { return false }
    return (1...daysIn(month: parts[1], year: parts[0])).contains(parts[2])
  }

  static func daysIn(month: Int, year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Counts in years that begin in March, so that the leap day comes last (Howard Hinnant,
  /// "chrono-Compatible Low-Level Date Algorithms").
  private static func date(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = Int(Int64(shifted).quotientFloor(146_097))
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let march = (5 * dayOfYear + 2) / 153
    let month = march < 10 ? march + 3 : march - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * march + 2) / 5 + 1)
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  private static let dash = UInt8(ascii: "-")
}

extension Int64 {
  /// The quotient rounded down, also for negative numbers.
  fileprivate func quotientFloor(_ divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
