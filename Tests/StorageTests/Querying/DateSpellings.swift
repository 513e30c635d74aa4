import GRDB

/// Stored dates and times, and the spellings that clients can use for each.
///
/// SQLite's date functions convert the times to other time zones.
struct DateSpellings {
  /// Values close to each other, around the ends of days, months and years.
  static let stored = [
    "1969-12-31T23:30:00.000000000Z", "2023-12-31", "2023-12-31T23:59:59.999999999Z",
    "2024-01-01", "2024-01-01T00:00:00.000000000Z", "2024-02-28T23:45:00.000000000Z",
    "2024-02-29", "2024-02-29T11:30:00.500000000Z", "2024-02-29T11:30:00.500000001Z",
    "2024-03-01", "2024-03-01T00:00:00.120000000Z",
  ]

  private static let zones = [
    (minutes: 0, "Z"), (0, "+00:00"), (0, "-00:00"), (60, "+01:00"), (-300, "-05:00"),
    (345, "+05:45"), (-30, "-00:30"), (1439, "+23:59"),
  ]

  /// The spellings by stored value.
  let spellings: [String: [String]]

  init() throws {
    spellings = try DatabaseQueue().read { database in
      try Dictionary(
        uniqueKeysWithValues: Self.stored.map { stored in
          (stored, stored.contains("T") ? try Self.spellings(of: stored, database) : [stored])
        })
    }
  }

  /// The stored value of each spelling.
  var storedBySpelling: [String: String] {
    Dictionary(
      spellings.flatMap { stored, ways in ways.map { ($0, stored) } },
      uniquingKeysWith: { first, _ in first })
  }

  private static func spellings(of stored: String, _ database: Database) throws -> [String] {
    let digits = stored.dropFirst(20).dropLast()
    let needed = digits.count - digits.reversed().prefix { $0 == "0" }.count
    let fractions = Set([needed, min(needed + 1, 9), 9]).map { digits.prefix($0) }
    return try zones.flatMap { minutes, name in
      let clock = try String.fetchOne(
        database, sql: "SELECT strftime('%Y-%m-%dT%H:%M:%S', ?, ?)",
        arguments: [String(stored.prefix(19)), "\(minutes) minutes"])
      return fractions.map { "\(clock ?? "")\($0.isEmpty ? "" : ".")\($0)\(name)" }
    }
  }
}
