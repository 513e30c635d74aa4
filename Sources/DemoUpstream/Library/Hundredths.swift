/// A decimal number with exactly two places, so that `7.40` and `1250000.00` keep their zeros.
struct Hundredths: Sendable, Hashable, Comparable {
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

  var digits: String {
    let magnitude = count.magnitude
    let cents = magnitude % 100
    return "\(count < 0 ? "-" : "")\(magnitude / 100).\(cents < 10 ? "0" : "")\(cents)"
  }

  static func < (left: Hundredths, right: Hundredths) -> Bool { left.count < right.count }

  /// Far past any box office, and safe from overflow when counted in hundredths.
  private static let units: ClosedRange<Int64> = -1_000_000_000_000_000...1_000_000_000_000_000
}
