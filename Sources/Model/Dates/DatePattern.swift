/// A numeric date pattern, a subset of Unicode's date patterns (UTS 35):
/// `dd.MM.yyyy HH:mm`.
///
/// | letters | |
/// |---|---|
/// | `yyyy` `MM` `dd` | year, month, day: each once |
/// | `HH` `mm` `ss` | hour, minute, second; each needs the ones before it |
/// | `S` … `SSSSSSSSS` | that many digits of a second's fraction |
/// | `XXX`, `Z` | the zone as `Z` or `+01:00`, and as `+0100`; without one, UTC |
/// | `'T'`, `''` | literal text, and a quotation mark |
///
/// Parts without letters in the pattern are zero when read and left out when written.
package struct DatePattern: Hashable, Sendable {
  private enum Part: Hashable {
    case literal(String)
    case year, month, day, hour, minute, second
    case fraction(digits: Int)
    case zone(withColon: Bool)

    var digits: Int {
      switch self {
      case .year: 4
      case .month, .day, .hour, .minute, .second: 2
      case .fraction(let digits): digits
      case .literal, .zone: 0
      }
    }
  }

  let text: String
  private let parts: [Part]

  /// Nil if the text is no valid pattern.
  init?(_ text: String) {
    var parts: [Part] = []
    var rest = text[...]
    while let first = rest.first {
      let run = rest.prefix { $0 == first }
      if first == "'" {
        guard let literal = Self.takeQuoted(&rest) else { return nil }
        parts.append(.literal(literal))
        continue
      }
      rest = rest.dropFirst(run.count)
      if first.isLetter {
        guard let part = Self.part(String(run)) else { return nil }
        parts.append(part)
      } else {
        parts.append(.literal(String(run)))
      }
    }
    guard Self.isSound(parts) else { return nil }
    self.text = text
    self.parts = parts
  }

  private static func part(_ letters: String) -> Part? {
    switch letters {
    case "yyyy": .year
    case "MM": .month
    case "dd": .day
    case "HH": .hour
    case "mm": .minute
    case "ss": .second
    case "XXX": .zone(withColon: true)
    case "Z": .zone(withColon: false)
    default:
      letters.allSatisfy { $0 == "S" } && letters.utf8.count <= CalendarValue.fractionDigitsMax
        ? .fraction(digits: letters.utf8.count) : nil
    }
  }

  private static func takeQuoted(_ rest: inout Substring) -> String? {
    rest = rest.dropFirst()
    if rest.first == "'" {
      rest = rest.dropFirst()
      return "'"
    }
    guard let end = rest.firstIndex(of: "'") else { return nil }
    defer { rest = rest[rest.index(after: end)...] }
    return String(rest[..<end])
  }

  private static func isSound(_ parts: [Part]) -> Bool {
    let fields = parts.filter { if case .literal = $0 { false } else { true } }
    let isFraction = { (part: Part) in if case .fraction = part { true } else { false } }
    let isZone = { (part: Part) in if case .zone = part { true } else { false } }
    let has = { (part: Part) in fields.contains(part) }
    return Set(fields).count == fields.count && has(.year) && has(.month) && has(.day)
      && fields.filter(isFraction).count <= 1 && fields.filter(isZone).count <= 1
      && (has(.hour) || !has(.minute)) && (has(.minute) || !has(.second))
      && (has(.second) || !fields.contains(where: isFraction))
      && (has(.hour) || !fields.contains(where: isZone))
  }

  // MARK: Reading

  func value(of text: String) -> CalendarValue? {
    var reader = CalendarReader(text)
    var numbers: [Part: Int] = [:]
    var nanoseconds = 0
    var offset = 0
    for part in parts {
      switch part {
      case .literal(let literal):
        guard reader.skip(literal) else { return nil }
      case .fraction(let digits):
        guard let value = reader.number(digits) else { return nil }
        nanoseconds = (digits..<CalendarValue.fractionDigitsMax).reduce(value) { value, _ in
          value * 10
        }
      case .zone(let withColon):
        guard let minutes = reader.zone(withColon: withColon) else { return nil }
        offset = minutes
      case .year, .month, .day, .hour, .minute, .second:
        guard let number = reader.number(part.digits) else { return nil }
        numbers[part] = number
      }
    }
    let (hour, minute, second) = (numbers[.hour], numbers[.minute] ?? 0, numbers[.second] ?? 0)
    guard reader.isAtEnd, minute < 60, second <= 60,
      let day = CivilDay(
        year: numbers[.year] ?? 0, month: numbers[.month] ?? 0, day: numbers[.day] ?? 0)
    else { return nil }
    guard let hour else { return CalendarValue(day: day) }
    guard hour < 24 else { return nil }
    let time = CalendarValue.Time(
      minute: hour * 60 + minute, second: second, nanoseconds: nanoseconds)
    return CalendarValue(day: day, time: time, offset: offset)
  }

  // MARK: Writing

  func text(of value: CalendarValue) -> String {
    parts.map { part in
      let minutes = value.time?.minute ?? 0
      switch part {
      case .literal(let literal): return literal
      case .year: return CalendarValue.digits(value.day.year, part.digits)
      case .month: return CalendarValue.digits(value.day.month, part.digits)
      case .day: return CalendarValue.digits(value.day.day, part.digits)
      case .hour: return CalendarValue.digits(minutes / 60, part.digits)
      case .minute: return CalendarValue.digits(minutes % 60, part.digits)
      case .second: return CalendarValue.digits(value.time?.second ?? 0, part.digits)
      case .fraction(let digits):
        return String(
          CalendarValue.digits(value.nanoseconds, CalendarValue.fractionDigitsMax).prefix(digits))
      case .zone(let withColon): return withColon ? "Z" : "+0000"
      }
    }.joined()
  }
}
