import HTTPWire
import LosslessJSON

/// Days and points in time as the texts the schema's `Date` and `DateTime` scalars carry.
enum Calendar {
  /// `2024-02-29T08:15:00Z`
  static func time(secondsSince1970 seconds: Int64) -> String {
    var text: [UInt8] = []
    HTTPDate(secondsSince1970: seconds).appendTimestamp(to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Whether a text is a day that the calendar has.
  static func isDay(_ text: String) -> Bool {
    text.utf8.count == 10 && HTTPDate(isoText: "\(text)T00:00:00Z") != nil
  }

  /// `1994-05-12`
  static func day(year: Int, month: Int, day: Int) -> String {
    "\(year)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
  }

  static func daysIn(month: Int, year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

/// A decimal number with exactly two places, so that `7.40` and `1250000.00` keep their zeros.
struct Hundredths: Sendable, Hashable {
  let count: Int64

  init(_ count: Int64) {
    self.count = count
  }

  /// - Parameter digits: a JSON number without exponent and with at most two places.
  init?(digits: String) {
    let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, let units = Int64(parts[0]), Self.units.contains(units) else {
      return nil
    }
    var cents: Int64 = 0
    if parts.count == 2 {
      guard let fraction = Int64(parts[1]), (1...2).contains(parts[1].utf8.count) else {
        return nil
      }
      cents = parts[1].utf8.count == 1 ? fraction * 10 : fraction
    }
    count = units * 100 + (digits.hasPrefix("-") ? -cents : cents)
  }

  /// - Parameter value: a number, or its text.
  init?(_ value: JSONValue?) {
    guard let digits = value?.number?.digits ?? value?.string else { return nil }
    self.init(digits: digits)
  }

  var digits: String {
    let cents = count.magnitude % 100
    return "\(count < 0 ? "-" : "")\(count.magnitude / 100).\(cents < 10 ? "0" : "")\(cents)"
  }

  var json: JSONValue { JSONNumber(digits: digits).map(JSONValue.number) ?? .null }

  /// Far past any box office, and safe from overflow when counted in hundredths.
  private static let units: ClosedRange<Int64> = -1_000_000_000_000_000...1_000_000_000_000_000
}

/// SplitMix64: one seed gives the same library on every machine and in every build.
///
/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &self)
  }

  /// True about once in `count` times.
  mutating func once(in count: Int) -> Bool {
    number(1...count) == 1
  }

  /// One of the choices, which must not be empty.
  mutating func pick<Choices: RandomAccessCollection>(_ choices: Choices) -> Choices.Element {
    let offset = number(0...choices.count - 1)
    return choices[choices.index(choices.startIndex, offsetBy: offset)]
  }
}
