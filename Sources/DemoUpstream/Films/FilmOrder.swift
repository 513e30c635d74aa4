/// `[FilmOrder!]` inputs as one total order. A film without the value comes last either way, and
/// what ties keeps the library's order.
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
