/// Fields of the mutation root. Each checks its whole input before it changes anything.
extension FilmsResolver {
  mutating func mutation(
    _ field: String, _ arguments: Arguments
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    switch field {
    case "rateFilm": try rateFilm(arguments)
    case "createFilm": try createFilm(Arguments(arguments["input"]))
    case "updateFilm": try updateFilm(arguments)
    case "deleteFilm": deleteFilm(arguments.string("id") ?? "")
    case "createPerson": try createPerson(Arguments(arguments["input"]))
    case "addToWatchlist": try watch(arguments.string("filmId") ?? "", isOn: true)
    case "removeFromWatchlist": try watch(arguments.string("filmId") ?? "", isOn: false)
    case "createList": try createList(Arguments(arguments["input"]))
    case "deleteList": try deleteList(arguments.string("id") ?? "")
    default: .missing(field)
    }
  }

  /// The voter that all anonymous callers share.
  private static let guest = User(id: "u-guest", name: "Guest", memberSince: DemoViewer.memberSince)

  private mutating func rateFilm(
    _ arguments: Arguments
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    let stars = arguments.int("stars") ?? 0
    guard (1...5).contains(stars) else { throw .badInput("stars", "Stars are 1 to 5.") }
    var film = try storedFilm(arguments)
    var voter = storedViewer ?? library.users[Self.guest.id] ?? Self.guest
    guard voter.stars[film.id] != stars else { return .object(.film(film)) }
    film.rating.replace(voter.stars[film.id], with: stars)
    voter.stars[film.id] = stars
    library.put(voter)
    return put(&film)
  }

  private mutating func createFilm(
    _ input: Arguments
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    let faults = FilmChecker(library: library).faults(of: input, at: "input")
    guard faults.isEmpty else { throw .badInput(faults) }
    let id = library.makeID("f")
    var film = Film(
      id: id, title: input.string("title") ?? "", originalTitle: input.string("originalTitle"),
      year: input.int("year") ?? 0, synopsis: nil, tagline: nil, genres: [],
      country: input.string("country") ?? "", runtimeMinutes: nil, releaseDate: nil,
      catalogueNumber: Int64.max - Int64(library.films.count), views: 0, boxOffice: nil,
      rating: Rating(starsSum: 0, votes: 0), directorID: nil,
      credits: (input.strings("castIds") ?? []).map { Film.Credit(role: "", personID: $0) },
      studioID: nil, updatedAt: now)
    film.apply(input)
    return put(&film)
  }

  private mutating func updateFilm(
    _ arguments: Arguments
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    var film = try storedFilm(arguments)
    let patch = Arguments(arguments["patch"])
    let faults = FilmChecker(library: library).faults(of: patch, at: "patch")
    guard faults.isEmpty else { throw .badInput(faults) }
    film.apply(patch)
    return put(&film)
  }

  private mutating func deleteFilm(_ id: String) -> Resolved<FilmsObject> {
    guard library.films[id] != nil else { return .null }
    library.removeFilm(id)
    return .string(id)
  }

  private mutating func createPerson(
    _ input: Arguments
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    let name = input.string("name") ?? ""
    var faults: [InputFault] = []
    if name.isEmpty { faults.append(InputFault(path: ["input", "name"], message: "Give a name.")) }
    if let day = input.string("bornOn"), !Calendar.isDay(day) {
      faults.append(InputFault(path: ["input", "bornOn"], message: "\(day) is not a valid date."))
    }
    guard faults.isEmpty else { throw .badInput(faults) }
    let words = name.split(separator: " ").map(String.init)
    let sortName =
      words.count < 2
      ? name : "\(words[words.count - 1]), \(words.dropLast().joined(separator: " "))"
    let person = Person(
      id: library.makeID("p"), name: name, sortName: sortName,
      nationality: input.string("nationality"),
      bornOn: input.string("bornOn"), biography: input.string("biography"), updatedAt: now)
    library.put(person)
    return .object(.person(person))
  }

  private mutating func watch(
    _ id: String, isOn: Bool
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    guard var user = storedViewer else { throw .unauthenticated }
    guard library.films[id] != nil || !isOn else { throw .notFound(id) }
    if isOn, !user.watchlist.contains(id) { user.watchlist.append(id) }
    if !isOn { user.watchlist.removeAll { $0 == id } }
    library.put(user)
    return .object(.user(user))
  }

  private mutating func createList(
    _ input: Arguments
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    guard let user = storedViewer else { throw .unauthenticated }
    let name = input.string("name") ?? ""
    let ids = input.strings("filmIds") ?? []
    var faults: [InputFault] = []
    if name.isEmpty { faults.append(InputFault(path: ["input", "name"], message: "Give a name.")) }
    for (place, id) in ids.enumerated() where library.films[id] == nil {
      faults.append(
        InputFault(path: ["input", "filmIds", String(place)], message: "There is no film \(id)."))
    }
    guard faults.isEmpty else { return .object(.createdList(nil, faults: faults)) }
    let list = FilmList(
      id: library.makeID("l"), name: name, note: input.string("note"), ownerID: user.id,
      filmIDs: ids, createdAt: now)
    library.put(user)
    library.put(list)
    return .object(.createdList(list, faults: []))
  }

  private mutating func deleteList(_ id: String) throws(FieldFailure) -> Resolved<FilmsObject> {
    guard let user = storedViewer else { throw .unauthenticated }
    guard let list = library.lists[id] else { return .null }
    guard list.ownerID == user.id else {
      throw FieldFailure("The list belongs to another user.", code: "FORBIDDEN")
    }
    library.removeList(id)
    return .string(id)
  }

  // MARK: Pieces

  private func storedFilm(_ arguments: Arguments) throws(FieldFailure) -> Film {
    let id = arguments.string("id") ?? ""
    guard let film = library.films[id] else { throw .notFound(id) }
    return film
  }

  private mutating func put(_ film: inout Film) -> Resolved<FilmsObject> {
    film.updatedAt = now
    library.put(film)
    return .object(.film(film))
  }
}
