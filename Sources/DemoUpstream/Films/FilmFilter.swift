import LosslessJSON

/// A `FilmFilter` input as a condition on films; absent and null members match all films.
struct FilmFilter {
  private let conditions: [(Film) -> Bool]

  init(_ input: Arguments?) {
    guard let input else {
      conditions = []
      return
    }
    conditions = input.members.compactMap { Self.condition($0.name, $0.value) }
  }

  func admits(_ film: Film) -> Bool {
    conditions.allSatisfy { $0(film) }
  }

  private static func condition(_ name: String, _ value: JSONValue) -> ((Film) -> Bool)? {
    if value.isNull { return nil }
    switch name {
    case "and":
      let parts = filters(value)
      return { film in parts.allSatisfy { $0.admits(film) } }
    case "or":
      let parts = filters(value)
      return { film in parts.contains { $0.admits(film) } }
    case "not":
      let part = FilmFilter(Arguments(value))
      return { !part.admits($0) }
    case "ids":
      let ids = Set(value.array?.compactMap(\.string) ?? [])
      return { ids.contains($0.id) }
    case "title":
      let text = TextCondition(Arguments(value))
      return { text.admits($0.title) || ($0.originalTitle.map(text.admits) ?? false) }
    case "year":
      let range = NumberCondition(Arguments(value))
      return { range.admits($0.year) }
    case "minStars":
      let least = value.number?.double ?? 0
      return { Double($0.rating.average.count) / 100 >= least }
    default: return textCondition(name, value.string ?? "")
    }
  }

  private static func textCondition(_ name: String, _ text: String) -> ((Film) -> Bool)? {
    switch name {
    case "genre": { $0.genres.contains(text) }
    case "country": { $0.country == text }
    case "studioId": { $0.studioID == text }
    case "directorId": { $0.directorID == text }
    case "updatedSince": { $0.updatedAt >= text }
    default: nil
    }
  }

  private static func filters(_ value: JSONValue) -> [FilmFilter] {
    (value.array ?? []).map { FilmFilter(Arguments($0)) }
  }
}

/// A `StringFilter` input.
struct TextCondition {
  private let tests: [(String) -> Bool]

  init(_ input: Arguments) {
    tests = input.members.compactMap { member in
      guard let given = member.value.string?.lowercased() else { return nil }
      switch member.name {
      case "eq": return { $0 == given }
      case "contains": return { $0.contains(given) }
      case "startsWith": return { $0.hasPrefix(given) }
      default: return nil
      }
    }
  }

  func admits(_ text: String) -> Bool {
    let text = text.lowercased()
    return tests.allSatisfy { $0(text) }
  }
}

/// An `IntFilter` input.
struct NumberCondition {
  private let tests: [(Int) -> Bool]

  init(_ input: Arguments) {
    tests = input.members.compactMap { member in
      if member.name == "in", let among = member.value.array {
        let among = among.compactMap { $0.int64.flatMap(Int.init(exactly:)) }
        return { among.contains($0) }
      }
      guard let given = input.int(member.name) else { return nil }
      switch member.name {
      case "eq": return { $0 == given }
      case "gt": return { $0 > given }
      case "gte": return { $0 >= given }
      case "lt": return { $0 < given }
      case "lte": return { $0 <= given }
      default: return nil
      }
    }
  }

  func admits(_ number: Int) -> Bool {
    tests.allSatisfy { $0(number) }
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

  init(_ inputs: [Arguments]) {
    criteria = inputs.map {
      (field: $0.string("field") ?? "", descends: $0.string("direction") == "DESC")
    }
  }

  func sorted(_ films: [Film]) -> [Film] {
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

  private static func key(_ field: String, of film: Film) -> Key? {
    switch field {
    case "TITLE": .text(film.title)
    case "YEAR": .number(Int64(film.year))
    case "RATING": .number(film.rating.average.count)
    case "VOTES": .number(Int64(film.rating.votes))
    case "RUNTIME": film.runtimeMinutes.map { .number(Int64($0)) }
    case "RELEASE_DATE": film.releaseDate.map { .text($0) }
    case "BOX_OFFICE": film.boxOffice.map { .number($0.amount.count) }
    case "UPDATED_AT": .text(film.updatedAt)
    default: nil
    }
  }
}

/// One page of a Relay connection. A cursor names the last film of the previous page, so that pages do
/// not shift when earlier films are created or deleted.
struct FilmPage: Sendable {
  let films: [Film]
  let totalCount: Int
  let hasNext: Bool
  let hasPrevious: Bool

  /// - Returns: nil if the cursor names no film.
  init?(of films: [Film], first: Int, after cursor: String?) {
    var start = 0
    if let cursor {
      guard let place = films.firstIndex(where: { Self.cursor(of: $0) == cursor }) else {
        return nil
      }
      start = place + 1
    }
    self.films = Array(films[start...].prefix(first))
    totalCount = films.count
    hasPrevious = start > 0
    hasNext = start + self.films.count < films.count
  }

  static func cursor(of film: Film) -> String { "after~" + film.id }
}
