extension HTTPDate {
  /// The form of ISO 8601 that S3 answers with: `1994-11-06T08:49:37.000Z`.
  package var isoText: String {
    let days = secondsSince1970.quotientAndRemainder(dividingBy: 86_400)
    let isBefore = days.remainder < 0
    let date = CivilDate(daysSince1970: Int(days.quotient) - (isBefore ? 1 : 0))
    let second = Int(days.remainder) + (isBefore ? 86_400 : 0)
    var text: [UInt8] = []
    text.append(twoDigits: date.year / 100)
    text.append(twoDigits: date.year % 100)
    text.append(UInt8(ascii: "-"))
    text.append(twoDigits: date.month)
    text.append(UInt8(ascii: "-"))
    text.append(twoDigits: date.day)
    text.append(UInt8(ascii: "T"))
    text.append(twoDigits: second / 3600)
    text.append(ASCII.colon)
    text.append(twoDigits: second / 60 % 60)
    text.append(ASCII.colon)
    text.append(twoDigits: second % 60)
    text.append(contentsOf: ".000Z".utf8)
    return String(decoding: text, as: UTF8.self)
  }
}
