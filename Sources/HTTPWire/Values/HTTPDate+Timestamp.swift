extension HTTPDate {
  /// Appends the moment as logs write it (RFC 3339): `1994-11-06T08:49:37Z`.
  package func appendTimestamp(to output: inout [UInt8]) {
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
    output.append("Z")
  }
}
