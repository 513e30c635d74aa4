/// Fields of the query root.
extension FilmsResolver {
  /// Films with fewer votes are no top films.
  private static let topVotesMin = 100

  func query(
    _ field: String, _ arguments: Arguments
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    let id = arguments.string("id") ?? ""
    return switch field {
    case "film": film(id)
    case "films": try filmList(order(arguments).sorted(filtered(arguments)), arguments)
    case "filmsCount": .int(filtered(arguments).count)
    case "filmsConnection": .object(.connection(try connection(arguments)))
    case "topFilms": try filmList(topFilms(arguments.string("genre")), arguments)
    case "person": person(id)
    case "people": .list(try page(people(arguments), arguments).map { .object(.person($0)) })
    case "studio": studio(id)
    case "studios":
      .list(
        library.studios.rows.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
          .map { .object(.studio($0)) })
    case "series": series(id)
    case "allSeries": .list(try page(library.series.rows, arguments).map { .object(.series($0)) })
    case "work", "node": node(id, worksOnly: field == "work")
    case "search": try search(arguments)
    case "me": .object(storedViewer.map { .user($0) })
    case "watchlist": try watchlist()
    case "list": .object(library.lists[id].map { .list($0) })
    case "serverTime": .string(now)
    default: .missing(field)
    }
  }

  private func filtered(_ arguments: Arguments) -> [Film] {
    let filter = FilmFilter(arguments.object("filter"))
    return library.films.rows.filter { filter.admits($0) }
  }

  private func connection(_ arguments: Arguments) throws(FieldFailure) -> FilmPage {
    let first = arguments.int("first") ?? Self.pageMax
    guard (0...Self.pageMax).contains(first) else {
      throw .badInput("first", "A page holds 0 to \(Self.pageMax) films.")
    }
    let films = order(arguments).sorted(filtered(arguments))
    guard let page = FilmPage(of: films, first: first, after: arguments.string("after")) else {
      throw .badInput("after", "The cursor names no film of this list.")
    }
    return page
  }

  private func topFilms(_ genre: String?) -> [Film] {
    let films = library.films.rows.filter {
      $0.rating.votes >= Self.topVotesMin && (genre.map($0.genres.contains) ?? true)
    }
    return films.sorted {
      ($1.rating.average, $1.rating.votes, $0.id) < ($0.rating.average, $0.rating.votes, $1.id)
    }
  }

  private func people(_ arguments: Arguments) -> [Person] {
    let filter = arguments.object("filter")
    let name = filter?.object("name").map(TextCondition.init)
    let born = filter?.object("bornIn").map(NumberCondition.init)
    let nation = filter?.string("nationality")
    return library.people.rows.filter { person in
      (name.map { $0.admits(person.name) } ?? true)
        && (nation.map { person.nationality == $0 } ?? true)
        && (born.map { born in person.bornIn.map(born.admits) ?? false } ?? true)
    }
  }

  private func node(_ id: String, worksOnly: Bool) -> Resolved<FilmsObject> {
    switch (id.first, worksOnly) {
    case ("f", _): film(id)
    case ("t", _): series(id)
    case ("p", false): person(id)
    case ("s", false): studio(id)
    case ("l", false): .object(library.lists[id].map { .list($0) })
    case ("u", false): .object(storedViewer.flatMap { $0.id == id ? .user($0) : nil })
    default: .null
    }
  }

  private func watchlist() throws(FieldFailure) -> Resolved<FilmsObject> {
    guard let user = storedViewer else { throw .unauthenticated }
    return films(user.watchlist)
  }

  /// Names that begin with the text come before names that only contain it.
  private func search(_ arguments: Arguments) throws(FieldFailure) -> Resolved<FilmsObject> {
    let text = (arguments.string("text") ?? "").lowercased()
    guard !text.isEmpty else { throw .badInput("text", "Say what to search for.") }
    let kinds = arguments.strings("kinds").map(Set.init)
    var found: [(begins: Bool, object: FilmsObject)] = []
    func note(_ kind: String, _ name: String, _ object: @autoclosure () -> FilmsObject) {
      let name = name.lowercased()
      guard kinds?.contains(kind) ?? true, name.contains(text) else { return }
      found.append((name.hasPrefix(text), object()))
    }
    for film in library.films.rows { note("FILM", film.title, .film(film)) }
    for person in library.people.rows { note("PERSON", person.name, .person(person)) }
    for studio in library.studios.rows { note("STUDIO", studio.name, .studio(studio)) }
    for series in library.series.rows { note("SERIES", series.title, .series(series)) }
    let ranked = found.filter(\.begins) + found.filter { !$0.begins }
    return .list(try page(ranked, arguments).map { .object($0.object) })
  }
}
