import LosslessJSON

/// Fields of the mutation root. Each checks its whole input before it changes anything.
extension FilmsResolver {
  mutating func mutation(
    _ field: String, _ arguments: JSONValue
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    let id = arguments["id"]?.string ?? ""
    let input = arguments["input"] ?? .null
    return switch field {
    case "rateFilm": try rateFilm(id, stars: arguments["stars"]?.int64 ?? 0)
    case "createFilm": try createFilm(input)
    case "updateFilm": try updateFilm(id, patch: arguments["patch"] ?? .null)
    case "deleteFilm": deleteFilm(id)
    case "createPerson": try createPerson(input)
    case "addToWatchlist": try watch(arguments["filmId"] ?? .null, isOn: true)
    case "removeFromWatchlist": try watch(arguments["filmId"] ?? .null, isOn: false)
    case "createList": try createList(input)
    case "deleteList": try deleteList(id)
    default: .missing(field)
    }
  }

  private mutating func rateFilm(
    _ id: String, stars: Int64
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    guard (1...5).contains(stars) else { throw .badInput("stars", "Stars are 1 to 5.") }
    var film = try storedFilm(id)
    // All anonymous callers share one voter.
    var voter = storedViewer ?? user("u-guest")
    let former = voter["stars"]?[id]?.int64
    guard former != stars else { return .object(.row(film)) }
    film["rating"] = [
      "starsSum": .int((film["rating"]?["starsSum"]?.int64 ?? 0) + stars - (former ?? 0)),
      "votes": .int(film.votes + (former == nil ? 1 : 0)),
    ]
    var all = (voter["stars"]?.members ?? []).filter { $0.name != id }
    all.append(JSONMember(id, .int(stars)))
    voter["stars"] = .object(all)
    library.put(voter)
    return put(film)
  }

  private mutating func createFilm(
    _ input: JSONValue
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    try check(input, at: "input")
    let film = Row(
      "Film", id: library.makeID("f"),
      [
        "originalTitle": .null, "synopsis": .null, "tagline": .null, "runtimeMinutes": .null,
        "releaseDate": .null, "boxOffice": .null, "directorId": .null, "studioId": .null,
        "catalogueNumber": .int(Int64.max - Int64(library["Film"].count)), "views": 0,
        "rating": ["starsSum": 0, "votes": 0],
        "credits": .array(
          (input["castIds"]?.array ?? []).map { ["role": "", "personId": $0] }),
      ])
    return put(film.changed(by: input))
  }

  private mutating func updateFilm(
    _ id: String, patch: JSONValue
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    let film = try storedFilm(id)
    try check(patch, at: "patch")
    return put(film.changed(by: patch))
  }

  private mutating func deleteFilm(_ id: String) -> Resolved<FilmsObject> {
    guard library["Film"][id] != nil else { return .null }
    library.remove("Film", id)
    return .text(id)
  }

  private mutating func createPerson(
    _ input: JSONValue
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    var faults = InputFaults(input, at: "input")
    faults.check("name", "Give a name.") { $0 != "" }
    faults.check("bornOn", "\(input["bornOn"]?.string ?? "") is not a valid date.") {
      $0.string.map(Calendar.isDay) ?? true
    }
    try faults.throwIfAny()
    let name = input["name"]?.string ?? ""
    let words = name.split(separator: " ")
    let person = Row(
      "Person", id: library.makeID("p"),
      [
        "name": .string(name),
        "sortName": .string(
          words.count < 2
            ? name : "\(words[words.count - 1]), \(words.dropLast().joined(separator: " "))"),
        "nationality": input["nationality"] ?? .null, "bornOn": input["bornOn"] ?? .null,
        "diedOn": .null, "biography": input["biography"] ?? .null, "updatedAt": .string(now),
      ])
    library.put(person)
    return .object(.row(person))
  }

  private mutating func watch(
    _ id: JSONValue, isOn: Bool
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    var user = try signedIn()
    if isOn { _ = try storedFilm(id.string ?? "") }
    var ids = user["watchlist"]?.array ?? []
    if !isOn { ids.removeAll { $0 == id } } else if !ids.contains(id) { ids.append(id) }
    user["watchlist"] = .array(ids)
    library.put(user)
    return .object(.row(user))
  }

  /// Reports faults as data.
  private mutating func createList(
    _ input: JSONValue
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    let user = try signedIn()
    var faults = InputFaults(input, at: "input")
    faults.check("name", "Give a name.") { $0 != "" }
    faults.checkEach("filmIds", "There is no film") { library["Film"][$0] != nil }
    var list: Row?
    if faults.all.isEmpty {
      let made = Row(
        "FilmList", id: library.makeID("l"),
        [
          "name": input["name"] ?? .null, "note": input["note"] ?? .null,
          "ownerId": .string(user.id), "filmIds": input["filmIds"] ?? [],
          "createdAt": .string(now),
        ])
      library.put(user)
      library.put(made)
      list = made
    }
    return .made(
      "CreateListPayload",
      [
        "list": .object(list.map { .row($0) }),
        "userErrors": .list(
          faults.all.map { fault in
            .made(
              "UserError",
              [
                "path": .value(fault["path"] ?? .null),
                "message": .value(fault["message"] ?? .null),
              ])
          }),
      ])
  }

  private mutating func deleteList(_ id: String) throws(FieldFailure) -> Resolved<FilmsObject> {
    let user = try signedIn()
    guard let list = library["FilmList"][id] else { return .null }
    guard list["ownerId"]?.string == user.id else {
      throw FieldFailure("The list belongs to another user.", code: "FORBIDDEN")
    }
    library.remove("FilmList", id)
    return .text(id)
  }

  // MARK: Pieces

  private func storedFilm(_ id: String) throws(FieldFailure) -> Row {
    guard let film = library["Film"][id] else {
      throw FieldFailure("No object has the id \(id).", code: "NOT_FOUND")
    }
    return film
  }

  private mutating func put(_ film: Row) -> Resolved<FilmsObject> {
    var film = film
    film["updatedAt"] = .string(now)
    library.put(film)
    return .object(.row(film))
  }

  /// Finds all faults of a `FilmInput` or `FilmPatch` that the schema cannot express.
  private func check(_ input: JSONValue, at root: String) throws(FieldFailure) {
    var faults = InputFaults(input, at: root)
    faults.check("title", "Titles must have 1 to 200 characters.") {
      (1...200).contains($0.string?.count ?? 0)
    }
    // From the first film to announced ones.
    faults.check("year", "The year must be 1895 to 2100.") {
      $0.int64.map { (1895...2100).contains($0) } ?? false
    }
    faults.check("genres", "A film must have at least one genre.") { $0.array?.isEmpty == false }
    faults.check("runtimeMinutes", "The running time must be 1 to 1000 minutes.") {
      $0.int64.map { (1...1_000).contains($0) } ?? true
    }
    faults.check("releaseDate", "\(input["releaseDate"]?.string ?? "") is not a valid date.") {
      $0.string.map(Calendar.isDay) ?? true
    }
    faults.check("boxOffice", "The amount must be a number of at least 0.", path: "amount") {
      $0.isNull || Hundredths($0["amount"]).map { $0.count >= 0 } ?? false
    }
    faults.checkEach("directorId", "The person", "does not exist") { library["Person"][$0] != nil }
    faults.checkEach("studioId", "The studio", "does not exist") { library["Studio"][$0] != nil }
    faults.checkEach("castIds", "The person", "does not exist") { library["Person"][$0] != nil }
    try faults.throwIfAny()
  }
}

/// The faults in the members of a mutation's input.
private struct InputFaults {
  private let input: JSONValue
  private let root: String
  /// Each has a `path` and a `message`.
  private(set) var all: [JSONValue] = []

  init(_ input: JSONValue, at root: String) {
    self.input = input
    self.root = root
  }

  /// Notes a fault unless the member is absent or good.
  mutating func check(
    _ name: String, _ message: String, path: String? = nil, isGood: (JSONValue) -> Bool
  ) {
    if let value = input[name], !isGood(value) {
      note([name] + (path.map { [$0] } ?? []), message)
    }
  }

  /// Notes a fault for each id, of one or of a list, that is not known.
  mutating func checkEach(
    _ name: String, _ subject: String, _ problem: String? = nil, isKnown: (String) -> Bool
  ) {
    let ids = input[name]?.string.map { [$0] } ?? input[name]?.strings ?? []
    for (place, id) in ids.enumerated() where !isKnown(id) {
      note(
        input[name]?.array == nil ? [name] : [name, String(place)],
        "\([subject, id, problem].compactMap { $0 }.joined(separator: " ")).")
    }
  }

  private mutating func note(_ path: [String], _ message: String) {
    all.append(
      ["path": .array(([root] + path).map(JSONValue.string)), "message": .string(message)])
  }

  func throwIfAny() throws(FieldFailure) {
    if !all.isEmpty { throw .badInput(all) }
  }
}

extension FieldFailure {
  /// - Parameter faults: all of them, at least one, each with `path` and `message`.
  fileprivate static func badInput(_ faults: [JSONValue]) -> FieldFailure {
    FieldFailure(
      faults.compactMap { $0["message"]?.string }.joined(separator: " "), code: "BAD_USER_INPUT",
      extensions: [JSONMember("faults", .array(faults))])
  }

  static func badInput(_ argument: String, _ message: String) -> FieldFailure {
    badInput([["path": [.string(argument)], "message": .string(message)]])
  }
}

extension Row {
  /// With the members of a checked `FilmInput` or `FilmPatch`: null clears a field, absent leaves it
  /// unchanged.
  fileprivate func changed(by input: JSONValue) -> Row {
    var row = self
    for member in input.members ?? [] where member.name != "castIds" {
      row[member.name] = member.value
    }
    if let amount = Hundredths(input["boxOffice"]?["amount"]) {
      row["boxOffice"] = [
        "amount": amount.json, "currency": input["boxOffice"]?["currency"] ?? "EUR",
      ]
    }
    return row
  }
}
