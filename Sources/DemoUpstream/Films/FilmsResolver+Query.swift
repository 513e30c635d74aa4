import LosslessJSON

/// Fields of the query root.
extension FilmsResolver {
  /// Films with fewer votes are no top films.
  private static let topVotesMin = 100

  func query(
    _ field: String, _ arguments: JSONValue
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    let id = arguments["id"]?.string ?? ""
    return switch field {
    case "film": object("Film", id)
    case "films": try list(ordered(arguments), arguments)
    case "filmsCount": .int(filtered("Film", arguments).count)
    case "filmsConnection": try connection(arguments)
    case "topFilms": try list(topFilms(arguments["genre"]), arguments)
    case "person": object("Person", id)
    case "people": try list(filtered("Person", arguments), arguments)
    case "studio": object("Studio", id)
    case "studios":
      .list(
        library["Studio"].rows
          .sorted { ($0["name"]?.string ?? "", $0.id) < ($1["name"]?.string ?? "", $1.id) }
          .map { .object(.row($0)) })
    case "series": object("Series", id)
    case "allSeries": try list(library["Series"].rows, arguments)
    case "work": id.hasPrefix("f") || id.hasPrefix("t") ? node(id) : .null
    case "node": node(id)
    case "search": try search(arguments)
    case "me": .object(storedViewer.map { .row($0) })
    case "watchlist": films(try signedIn()["watchlist"]?.strings ?? [])
    case "list": object("FilmList", id)
    case "serverTime": .text(now)
    default: .missing(field)
    }
  }

  /// The viewer with its stored data.
  func signedIn() throws(FieldFailure) -> Row {
    guard let user = storedViewer else {
      throw FieldFailure("Sign in first.", code: "UNAUTHENTICATED")
    }
    return user
  }

  private func filtered(_ type: String, _ arguments: JSONValue) -> [Row] {
    library[type].rows.filter { RowFilter.admits($0, arguments["filter"]) }
  }

  private func ordered(_ arguments: JSONValue) -> [Row] {
    FilmOrder(arguments["orderBy"]).sorted(filtered("Film", arguments))
  }

  /// A page of a Relay connection. A cursor names the last film of the previous page, so that pages do
  /// not shift when earlier films are created or deleted.
  private func connection(
    _ arguments: JSONValue
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    let first = arguments["first"]?.int64.map(Int.init) ?? Self.pageMax
    guard (0...Self.pageMax).contains(first) else {
      throw .badInput("first", "A page holds 0 to \(Self.pageMax) films.")
    }
    let films = ordered(arguments)
    var start = 0
    if let cursor = arguments["after"]?.string {
      guard let place = films.firstIndex(where: { "after~\($0.id)" == cursor }) else {
        throw .badInput("after", "The cursor names no film of this list.")
      }
      start = place + 1
    }
    let edges = films[start...].prefix(first).map { film in
      (cursor: Resolved<FilmsObject>.text("after~\(film.id)"), film: film)
    }
    return .made(
      "FilmConnection",
      [
        "edges": .list(
          edges.map { .made("FilmEdge", ["cursor": $0.cursor, "node": .object(.row($0.film))]) }),
        "pageInfo": .made(
          "PageInfo",
          [
            "hasNextPage": .value(.bool(start + edges.count < films.count)),
            "hasPreviousPage": .value(.bool(start > 0)),
            "startCursor": edges.first?.cursor ?? .null, "endCursor": edges.last?.cursor ?? .null,
          ]),
        "totalCount": .int(films.count),
      ])
  }

  private func topFilms(_ genre: JSONValue?) -> [Row] {
    let films = library["Film"].rows.filter { film in
      film.votes >= Self.topVotesMin
        && RowFilter.admits(film, .object([JSONMember("genre", genre ?? .null)]))
    }
    return films.sorted {
      ($1.average.count, $1.votes, $0.id) < ($0.average.count, $0.votes, $1.id)
    }
  }

  private func node(_ id: String) -> Resolved<FilmsObject> {
    switch id.first {
    case "f": object("Film", id)
    case "t": object("Series", id)
    case "p": object("Person", id)
    case "s": object("Studio", id)
    case "l": object("FilmList", id)
    case "u": .object(storedViewer.flatMap { $0.id == id ? .row($0) : nil })
    default: .null
    }
  }

  /// Names that begin with the text come before names that only contain it.
  private func search(_ arguments: JSONValue) throws(FieldFailure) -> Resolved<FilmsObject> {
    let text = (arguments["text"]?.string ?? "").lowercased()
    guard !text.isEmpty else { throw .badInput("text", "Say what to search for.") }
    let kinds = arguments["kinds"].flatMap { $0.isNull ? nil : $0.strings }
    var (beginning, others): ([Row], [Row]) = ([], [])
    for (type, field) in [
      ("Film", "title"), ("Person", "name"), ("Studio", "name"), ("Series", "title"),
    ] where kinds?.contains(type.uppercased()) ?? true {
      for row in library[type].rows {
        let name = (row[field]?.string ?? "").lowercased()
        if name.hasPrefix(text) {
          beginning.append(row)
        } else if name.contains(text) {
          others.append(row)
        }
      }
    }
    return try list(beginning + others, arguments)
  }
}
