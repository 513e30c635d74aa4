/// A moment as HTTP writes it: whole seconds, UTC (RFC 9110 5.6.7).
package struct HTTPDate: Sendable, Hashable, Comparable {
  /// Seconds since 1970-01-01T00:00:00Z, leap seconds left out.
  package let secondsSince1970: Int64

  /// The moments that four digits of a year can name: 0000-01-01 to 9999-12-31.
  private static let nameable: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

  /// A moment that has no name is held at the nearest that has: a file's time may be any number.
  package init(secondsSince1970: Int64) {
    self.secondsSince1970 = min(
      max(secondsSince1970, Self.nameable.lowerBound), Self.nameable.upperBound)
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
