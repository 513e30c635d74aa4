/// Fields of films and series.
extension FilmsResolver {
  func field(
    _ field: String, of film: Film, _ arguments: Arguments
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    switch field {
    case "id": .string(film.id)
    case "title": .string(film.title)
    case "originalTitle": .string(film.originalTitle)
    case "year": .int(film.year)
    case "synopsis": .string(film.synopsis)
    case "tagline": .string(film.tagline)
    case "genres": .strings(film.genres)
    case "country": .string(film.country)
    case "runtimeMinutes", "length": .int(film.runtimeMinutes)
    case "releaseDate": .string(film.releaseDate)
    case "catalogueNumber": .int(film.catalogueNumber)
    case "views": .int(film.views)
    case "boxOffice": .object(film.boxOffice.map { .money($0) })
    case "rating": .object(.rating(film.rating))
    case "poster": poster(of: film.id, title: film.title, arguments)
    case "studio": studio(film.studioID)
    case "director": film.directorID.map { person($0) } ?? .null
    case "cast": try cast(film.credits.map(\.personID), arguments)
    case "credits":
      .list(
        try page(film.credits.filter { library.people[$0.personID] != nil }, arguments)
          .map { .object(.credit($0)) })
    case "similar": try filmList(similar(to: film), arguments)
    case "myStars": .int(storedViewer?.stars[film.id])
    case "updatedAt": .string(film.updatedAt)
    default: .missing(field)
    }
  }

  func field(
    _ field: String, of series: Series, _ arguments: Arguments
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    switch field {
    case "id": .string(series.id)
    case "title": .string(series.title)
    case "year": .int(series.year)
    case "endYear": .int(series.endYear)
    case "synopsis": .string(series.synopsis)
    case "genres": .strings(series.genres)
    case "country": .string(series.country)
    case "seasons": .int(series.seasons)
    case "episodes": .int(series.episodes)
    case "rating": .object(.rating(series.rating))
    case "poster": poster(of: series.id, title: series.title, arguments)
    case "studio": studio(series.studioID)
    case "cast": try cast(series.castIDs, arguments)
    case "updatedAt": .string(series.updatedAt)
    default: .missing(field)
    }
  }

  /// Every ninth work has no poster.
  private func poster(
    of id: String, title: String, _ arguments: Arguments
  ) -> Resolved<FilmsObject> {
    if id.hasSuffix("9") { return .null }
    return .object(.poster(Poster(of: id, size: arguments.string("size"), alt: title)))
  }

  /// Films of the same director first, then of the first genre and country, by id.
  private func similar(to film: Film) -> some Sequence<Film> {
    let byDirector = film.directorID.map { newestFirst(library.filmIDs(directedBy: $0)) } ?? []
    let known = Set(byDirector.map(\.id))
    let akin = library.films.rows.lazy.filter {
      $0.genres.first == film.genres.first && $0.country == film.country
        && !known.contains($0.id)
    }
    return (byDirector + akin.prefix(Self.pageMax)).filter { $0.id != film.id }
  }
}
