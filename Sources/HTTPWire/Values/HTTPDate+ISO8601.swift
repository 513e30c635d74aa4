extension HTTPDate {
  /// Appends the moment in the format of logs (RFC 3339): `1994-11-06T08:49:37Z`.
  package func appendTimestamp(to output: inout [UInt8]) {
    appendTimestampWithoutZone(to: &output)
    output.append("Z")
  }

  /// Appends the RFC 3339 form with milliseconds of log lines: `1994-11-06T08:49:37.123Z`.
  ///
  /// - Parameter milliseconds: since 1970.
  package static func appendTimestamp(milliseconds: Int64, to output: inout [UInt8]) {
    let second = milliseconds >= 0 ? milliseconds / 1_000 : (milliseconds - 999) / 1_000
    HTTPDate(secondsSince1970: second).appendTimestampWithoutZone(to: &output)
    let rest = Int(milliseconds - second * 1_000)
    output.append(".")
    output.append(UInt8(truncatingIfNeeded: rest / 100 % 10) + 0x30)
    output.append(twoDigits: rest % 100)
    output.append("Z")
  }

  private func appendTimestampWithoutZone(to output: inout [UInt8]) {
    let (day, second) = daysAndSeconds
    let date = CivilDate(daysSince1970: day)
    output.append(twoDigits: date.year / 100)
    output.append(twoDigits: date.year % 100)
    output.append("-")
    output.append(twoDigits: date.month)
    output.append("-")
    output.append(twoDigits: date.day)
    output.append("T")
    output.append(twoDigits: second / 3600)
    output.append(ASCII.colon)
    output.append(twoDigits: second / 60 % 60)
    output.append(ASCII.colon)
    output.append(twoDigits: second % 60)
  }
}

extension HTTPDate {
  /// The ISO 8601 form of S3 responses: `1994-11-06T08:49:37.000Z`.
  package var isoText: String {
    var text: [UInt8] = []
    appendTimestamp(to: &text)
    text.removeLast()
    text.append(".000Z")
    return String(decoding: text, as: UTF8.self)
  }
}

extension HTTPDate {
  /// Parses the ISO 8601 form of S3: `1994-11-06T08:49:37Z`, with an optional fraction of a second,
  /// which is dropped.
  ///
  /// - Returns: nil for any other form, and for dates that do not exist.
  package init?(isoText: some StringProtocol) {
    var bytes = Array(isoText.utf8)
    guard bytes.popLast() == UInt8(ascii: "Z"), bytes.count >= 19 else { return nil }
    if bytes.count > 19 {
      guard bytes[19] == UInt8(ascii: "."), bytes.count > 20, bytes[20...].allSatisfy(\.isDigit)
      else { return nil }
    }
    for (place, mark) in [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")] {
      guard [bytes[place]] == Array(mark.utf8) else { return nil }
    }
    func number(_ range: Range<Int>) -> Int? {
      guard bytes[range].allSatisfy(\.isDigit) else { return nil }
      return bytes[range].reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
      let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
      hour < 24, minute < 60, second < 60
    else { return nil }
    let date = CivilDate(year: year, month: month, day: day)
    guard date.isReal else { return nil }
    let seconds = hour * 3600 + minute * 60 + second
    self.init(secondsSince1970: Int64(date.daysSince1970 * 86_400 + seconds))
  }
}
