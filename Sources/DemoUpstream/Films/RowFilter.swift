import LosslessJSON

/// The conditions of `FilmFilter` and `PersonFilter` inputs; absent and null members match all rows.
enum RowFilter {
  static func admits(_ row: Row, _ filter: JSONValue?) -> Bool {
    (filter?.members ?? []).allSatisfy { $0.value.isNull || holds($0.name, $0.value, for: row) }
  }

  private static func holds(_ name: String, _ value: JSONValue, for row: Row) -> Bool {
    switch name {
    case "and": value.array?.allSatisfy { admits(row, $0) } ?? true
    case "or": value.array?.contains { admits(row, $0) } ?? false
    case "not": !admits(row, value)
    case "ids": value.strings.contains(row.id)
    case "title": matches(row["title"], value) || matches(row["originalTitle"], value)
    case "name": matches(row["name"], value)
    case "year": matches(row.int("year"), value)
    case "bornIn": (row["bornOn"]?.string).map { matches(Int($0.prefix(4)) ?? 0, value) } ?? false
    case "minStars": Double(row.average.count) / 100 >= value.number?.double ?? 0
    case "genre": row["genres"]?.array?.contains(value) ?? false
    case "updatedSince": (row["updatedAt"]?.string ?? "") >= (value.string ?? "")
    default: row[name] == value
    }
  }

  /// Whether a text fulfils a `StringFilter` input, which ignores case.
  private static func matches(_ text: JSONValue?, _ filter: JSONValue) -> Bool {
    guard let text = text?.string?.lowercased() else { return false }
    return (filter.members ?? []).allSatisfy { test in
      guard let given = test.value.string?.lowercased() else { return true }
      return switch test.name {
      case "eq": text == given
      case "contains": text.contains(given)
      default: text.hasPrefix(given)
      }
    }
  }

  /// Whether a number fulfils an `IntFilter` input.
  private static func matches(_ number: Int, _ filter: JSONValue) -> Bool {
    (filter.members ?? []).allSatisfy { test in
      if let among = test.value.array { return among.contains(.int(number)) }
      guard let given = test.value.int64 else { return true }
      return switch test.name {
      case "eq": number == given
      case "gt": number > given
      case "gte": number >= given
      case "lt": number < given
      default: number <= given
      }
    }
  }
}

/// `[FilmOrder!]` inputs as one total order. Films without the value are last in both directions, and
/// ties keep the library's order.
struct FilmOrder {
  private enum Key: Comparable {
    case number(Int64)
    case text(String)
  }

  private let criteria: [(field: String, descends: Bool)]

  init(_ inputs: JSONValue?) {
    criteria = (inputs?.array ?? []).map {
      (field: $0["field"]?.string ?? "", descends: $0["direction"] == "DESC")
    }
  }

  func sorted(_ films: [Row]) -> [Row] {
    guard !criteria.isEmpty else { return films }
    let keyed = films.enumerated().map { place, film in
      (place: place, film: film, keys: criteria.map { Self.key($0.field, of: film) })
    }
    return keyed.sorted { left, right in
      for (criterion, keys) in zip(criteria, zip(left.keys, right.keys)) where keys.0 != keys.1 {
        guard let first = keys.0 else { return false }
        guard let second = keys.1 else { return true }
        return criterion.descends ? second < first : first < second
      }
      return left.place < right.place
    }.map(\.film)
  }

  private static func key(_ field: String, of film: Row) -> Key? {
    switch field {
    case "TITLE": film["title"]?.string.map { .text($0) }
    case "YEAR": film["year"]?.int64.map { .number($0) }
    case "RATING": .number(film.average.count)
    case "VOTES": .number(film.votes)
    case "RUNTIME": film["runtimeMinutes"]?.int64.map { .number($0) }
    case "RELEASE_DATE": film["releaseDate"]?.string.map { .text($0) }
    case "BOX_OFFICE": Hundredths(film["boxOffice"]?["amount"]).map { .number($0.count) }
    case "UPDATED_AT": film["updatedAt"]?.string.map { .text($0) }
    default: nil
    }
  }
}
