import LosslessJSON

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
