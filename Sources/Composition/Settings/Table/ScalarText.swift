/// Sizes as written in settings: a whole number and, unless it counts bytes, one unit.
enum ByteSize {
  private static let units: [(name: String, bytes: Int)] = [
    ("TiB", 1 << 40), ("TB", 1_000_000_000_000), ("GiB", 1 << 30), ("GB", 1_000_000_000),
    ("MiB", 1 << 20), ("MB", 1_000_000), ("KiB", 1 << 10), ("KB", 1_000), ("B", 1),
  ]

  static func parse(_ text: String) throws(ValueRefusal) -> Int {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard !digits.isEmpty else {
      throw ValueRefusal(text.hasPrefix("-") ? "a size must not be negative" : nil)
    }
    let name = digits.endIndex == text.endIndex ? "B" : text[digits.endIndex...]
    guard let unit = units.first(where: { $0.name == name }) else {
      throw ValueRefusal("the unit must be B, KB, KiB, MB, MiB, GB, GiB, TB or TiB")
    }
    guard let count = Int(decimal: digits) else { throw ValueRefusal("the size is too large") }
    let (bytes, overflows) = count.multipliedReportingOverflow(by: unit.bytes)
    guard !overflows else { throw ValueRefusal("the size is too large") }
    return bytes
  }

  /// Prints a size in the largest unit that divides it.
  static func print(_ bytes: Int) -> String {
    guard bytes != 0, let unit = units.first(where: { bytes % $0.bytes == 0 }) else { return "0B" }
    return "\(bytes / unit.bytes)\(unit.name)"
  }
}

/// Durations as written in settings: a whole number and one unit.
enum DurationText {
  private static let units: [(name: String, milliseconds: Int64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
  ]

  static func parse(_ text: String) throws(ValueRefusal) -> Duration {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let name = text[digits.endIndex...]
    guard !digits.isEmpty else {
      throw ValueRefusal(text.hasPrefix("-") ? "a duration must not be negative" : nil)
    }
    guard let unit = units.first(where: { $0.name == name }) else {
      throw ValueRefusal("the unit must be ms, s, m, h or d")
    }
    guard let count = Int64(decimal: digits) else { throw ValueRefusal("the duration is too long") }
    let (milliseconds, overflows) = count.multipliedReportingOverflow(by: unit.milliseconds)
    guard !overflows else { throw ValueRefusal("the duration is too long") }
    return .milliseconds(milliseconds)
  }

  /// Prints a duration in the largest unit that divides it; fractions of a millisecond are dropped.
  static func print(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    guard milliseconds != 0 else { return "0s" }
    for unit in units where milliseconds % unit.milliseconds == 0 {
      return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
    return "\(milliseconds)ms"
  }
}

/// Values as written in a settings file.
enum YAMLText {
  /// A plain scalar if no YAML reader can take it for anything else, otherwise a double-quoted one.
  static func scalar(_ text: String) -> String {
    let isPlain =
      text.utf8.first.map { $0.isASCIIAlphanumeric || $0 == 0x2E || $0 == 0x2F } == true
      && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "._/:@%+=-".utf8.contains($0) }
      && !text.hasSuffix(":") && !["null", "yes", "no", "on", "off"].contains(text.lowercased())
    return isPlain ? text : quoted(text)
  }

  static func list(_ texts: [String]) -> String {
    "[\(texts.map(scalar).joined(separator: ", "))]"
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case _ where scalar.isControl:
        result += "\\u" + String(scalar.value + 0x10000, radix: 16).dropFirst()
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
