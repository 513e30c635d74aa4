import LosslessJSON

/// A `FilmFilter` input as a condition on films; what is absent or null admits all.
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
