/// Sizes as settings write them: a whole number and, unless it counts bytes, one unit.
enum ByteSize {
  private static let units: [(name: String, bytes: Int)] = [
    ("TiB", 1 << 40), ("TB", 1_000_000_000_000), ("GiB", 1 << 30), ("GB", 1_000_000_000),
    ("MiB", 1 << 20), ("MB", 1_000_000), ("KiB", 1 << 10), ("KB", 1_000), ("B", 1),
  ]

  static func parse(_ text: String) throws(ValueRefusal) -> Int {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard !digits.isEmpty else {
      throw ValueRefusal(text.hasPrefix("-") ? "a size is not negative" : nil)
    }
    let name = digits.endIndex == text.endIndex ? "B" : text[digits.endIndex...]
    guard let unit = units.first(where: { $0.name == name }) else {
      throw ValueRefusal("its unit is B, KB, KiB, MB, MiB, GB, GiB, TB or TiB")
    }
    guard let count = Int(decimal: digits) else { throw ValueRefusal("that is too much") }
    let (bytes, overflows) = count.multipliedReportingOverflow(by: unit.bytes)
    guard !overflows else { throw ValueRefusal("that is too much") }
    return bytes
  }

  /// In the largest unit that divides it.
  static func print(_ bytes: Int) -> String {
    guard bytes != 0, let unit = units.first(where: { bytes % $0.bytes == 0 }) else { return "0B" }
    return "\(bytes / unit.bytes)\(unit.name)"
  }
}
