package import LosslessJSON

/// The format of the `Date` fields of one local type in JSON, filters and responses
/// (`types.<Type>.dates`). The stored form is the same for all, so a new format needs no conversion.
package enum DateFormat: Hashable, Sendable {
  /// Days and moments of RFC 3339; moments are rendered in UTC.
  case iso8601
  /// The number of seconds since 1970-01-01T00:00:00Z.
  case seconds
  /// The number of milliseconds since 1970-01-01T00:00:00Z.
  case milliseconds
  /// See ``DatePattern``.
  case pattern(DatePattern)

  /// Parses a setting; nil if it is invalid.
  package init?(_ text: String) {
    switch text {
    case "iso8601": self = .iso8601
    case "seconds": self = .seconds
    case "milliseconds": self = .milliseconds
    default:
      guard let pattern = DatePattern(text) else { return nil }
      self = .pattern(pattern)
    }
  }

  /// The text of the setting.
  package var name: String {
    switch self {
    case .iso8601: "iso8601"
    case .seconds: "seconds"
    case .milliseconds: "milliseconds"
    case .pattern(let pattern): pattern.text
    }
  }

  package var phrase: String {
    switch self {
    case .iso8601: "an ISO 8601 date or date-time"
    case .seconds: "a number of seconds since 1970"
    case .milliseconds: "a number of milliseconds since 1970"
    case .pattern(let pattern): "a date of the form \(pattern.text)"
    }
  }

  // MARK: Reading

  /// - Returns: the stored text; nil if the value is no date of this format.
  func stored(_ value: JSONValue) -> String? {
    switch self {
    case .iso8601, .pattern: value.string.flatMap { stored(text: $0) }
    case .seconds, .milliseconds: value.number.flatMap { stored(text: $0.digits) }
    }
  }

  /// As ``stored(_:)``, for a value in a filter.
  package func stored(text: String) -> String? {
    switch self {
    case .iso8601: CalendarValue(iso8601: text)?.stored
    case .seconds: Self.value(text, digitsInSecond: 0)?.stored
    case .milliseconds: Self.value(text, digitsInSecond: 3)?.stored
    case .pattern(let pattern): pattern.value(of: text)?.stored
    }
  }

  /// Parses a decimal number without an exponent, to the nanosecond.
  private static func value(_ text: String, digitsInSecond: Int) -> CalendarValue? {
    let isNegative = text.hasPrefix("-")
    let parts = (isNegative ? text.dropFirst() : text[...]).split(
      separator: ".", omittingEmptySubsequences: false)
    let digitsOfFraction = CalendarValue.fractionDigitsMax - digitsInSecond
    guard (1...2).contains(parts.count), let whole = Int64(parts[0]), whole >= 0,
      !parts[0].hasPrefix("+")
    else { return nil }
    var fraction = 0
    if parts.count == 2 {
      var reader = CalendarReader(String(parts[1]))
      guard let nanoseconds = reader.fraction(), reader.isAtEnd else { return nil }
      fraction = nanoseconds
    }
    let unit = (0..<digitsInSecond).reduce(1) { unit, _ in unit * 10 }
    let grain = (0..<digitsOfFraction).reduce(1) { grain, _ in grain * 10 }
    guard fraction % unit == 0 else { return nil }
    let seconds = whole / Int64(unit)
    let nanoseconds = Int(whole % Int64(unit)) * grain + fraction / unit
    guard isNegative, nanoseconds > 0 else {
      return CalendarValue(seconds: isNegative ? -seconds : seconds, nanoseconds: nanoseconds)
    }
    return CalendarValue(seconds: -seconds - 1, nanoseconds: 1_000_000_000 - nanoseconds)
  }

  // MARK: Writing

  /// Returns a stored date in this format; the text itself if it is no stored date.
  package func formatted(_ stored: String) -> JSONValue {
    guard let value = CalendarValue(iso8601: stored) else { return .string(stored) }
    switch self {
    case .iso8601: return .string(value.iso8601)
    case .seconds: return Self.number(value, digitsInSecond: 0)
    case .milliseconds: return Self.number(value, digitsInSecond: 3)
    case .pattern(let pattern): return .string(pattern.text(of: value))
    }
  }

  /// Returns a stored date in this format as text, for the name of a section.
  package func formattedText(_ stored: String) -> String {
    let value = formatted(stored)
    return value.string ?? value.number?.digits ?? stored
  }

  private static func number(_ value: CalendarValue, digitsInSecond: Int) -> JSONValue {
    // Before 1970 the fraction counts forward from the second before.
    let isNegative = value.seconds < 0
    let borrows = isNegative && value.nanoseconds > 0
    let seconds = isNegative ? -value.seconds - (borrows ? 1 : 0) : value.seconds
    let nanoseconds = borrows ? 1_000_000_000 - value.nanoseconds : value.nanoseconds
    let fraction = CalendarValue.digits(nanoseconds, CalendarValue.fractionDigitsMax)
    let whole = "\(seconds)\(fraction.prefix(digitsInSecond))".drop { $0 == "0" }
    var rest = fraction.dropFirst(digitsInSecond)
    while rest.last == "0" { rest.removeLast() }
    let digits =
      "\(isNegative ? "-" : "")\(whole.isEmpty ? "0" : whole)\(rest.isEmpty ? "" : ".")\(rest)"
    return JSONNumber(digits: digits).map { .number($0) } ?? .null
  }
}
