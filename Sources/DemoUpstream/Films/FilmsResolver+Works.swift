import LosslessJSON

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

/// Fields of people and studios.
extension FilmsResolver {
  func field(
    _ field: String, of person: Person, _ arguments: Arguments
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    switch field {
    case "id": .string(person.id)
    case "name": .string(person.name)
    case "sortName": .string(person.sortName)
    case "nationality": .string(person.nationality)
    case "bornOn": .string(person.bornOn)
    case "diedOn": .string(person.diedOn)
    case "biography": .string(person.biography)
    case "portrait":
      person.biography == nil
        ? .null
        : .object(.poster(Poster(of: person.id, size: arguments.string("size"), alt: person.name)))
    case "films": try filmList(newestFirst(library.filmIDs(withPerson: person.id)), arguments)
    case "directed": try filmList(newestFirst(library.filmIDs(directedBy: person.id)), arguments)
    case "filmCount": .int(library.filmIDs(withPerson: person.id).count)
    case "updatedAt": .string(person.updatedAt)
    default: .missing(field)
    }
  }

  func field(
    _ field: String, of studio: Studio, _ arguments: Arguments
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    switch field {
    case "id": .string(studio.id)
    case "name": .string(studio.name)
    case "country": .string(studio.country)
    case "city": .string(studio.city)
    case "foundedIn": .int(studio.foundedIn)
    case "website": .string(studio.website)
    case "films":
      try filmList(
        order(arguments).sorted(newestFirst(library.filmIDs(ofStudio: studio.id))), arguments)
    case "filmCount": .int(library.filmIDs(ofStudio: studio.id).count)
    case "updatedAt": .string(studio.updatedAt)
    default: .missing(field)
    }
  }

  func order(_ arguments: Arguments) -> FilmOrder {
    FilmOrder((arguments["orderBy"]?.array ?? []).map { Arguments($0) })
  }
}

/// A picture by its address. Sizes are the schema's `PosterSize`.
struct Poster: Sendable {
  let url: String
  let width: Int
  let height: Int
  let alt: String?

  init(of id: String, size: String?, alt: String?) {
    width =
      switch size {
      case "SMALL": 120
      case "LARGE": 960
      default: 360
      }
    height = width * 3 / 2
    url = "https://images.films.example/\(id)/\(width)x\(height).webp?v=1&fit=cover"
    self.alt = alt
  }
}
