import LosslessJSON

/// Finds all faults of a `FilmInput` or `FilmPatch` that the schema cannot express.
struct FilmChecker {
  let library: Library

  /// From the first film, in 1895, to announced films.
  private static let years = 1895...2100
  private static let titleLengthMax = 200
  private static let minutes = 1...1_000

  /// - Parameter root: the argument's name, in front of each path.
  func faults(of input: Arguments, at root: String) -> [InputFault] {
    var faults: [InputFault] = []
    func check(_ isGood: Bool, _ path: String, _ message: String) {
      if !isGood {
        let steps = path.split(separator: ".").map(String.init)
        faults.append(InputFault(path: [root] + steps, message: message))
      }
    }
    if let title = input["title"] {
      let length = title.string?.count ?? 0
      check(
        (1...Self.titleLengthMax).contains(length), "title", "Titles must have 1 to 200 characters."
      )
    }
    if let year = input["year"] {
      let isGood = year.int64.map { Self.years.contains(Int($0)) } ?? false
      check(isGood, "year", "The year must be 1895 to 2100.")
    }
    if let genres = input["genres"] {
      check(!(genres.array ?? []).isEmpty, "genres", "A film must have at least one genre.")
    }
    if let minutes = input.int("runtimeMinutes") {
      check(
        Self.minutes.contains(minutes), "runtimeMinutes",
        "The running time must be 1 to 1000 minutes.")
    }
    if let day = input.string("releaseDate") {
      check(Calendar.isDay(day), "releaseDate", "\(day) is not a valid date.")
    }
    if let money = input.object("boxOffice") {
      let amount = Film.Money(money)?.amount
      check(
        amount.map { $0 >= Hundredths(0) } ?? false, "boxOffice.amount",
        "The amount must be a number of at least 0.")
    }
    if let id = input.string("directorId") {
      check(library.people[id] != nil, "directorId", "The person \(id) does not exist.")
    }
    if let id = input.string("studioId") {
      check(library.studios[id] != nil, "studioId", "The studio \(id) does not exist.")
    }
    for (place, id) in (input.strings("castIds") ?? []).enumerated() {
      check(library.people[id] != nil, "castIds.\(place)", "The person \(id) does not exist.")
    }
    return faults
  }
}

/// A fault in one member of a mutation's input.
struct InputFault: Sendable, Hashable {
  let path: [String]
  let message: String

  var json: JSONValue {
    ["path": .array(path.map(JSONValue.string)), "message": .string(message)]
  }
}

extension FieldFailure {
  /// - Parameter faults: all of them; at least one.
  static func badInput(_ faults: [InputFault]) -> FieldFailure {
    FieldFailure(
      faults.map(\.message).joined(separator: " "), code: "BAD_USER_INPUT",
      extensions: [JSONMember("faults", .array(faults.map(\.json)))])
  }

  static func badInput(_ path: String, _ message: String) -> FieldFailure {
    badInput([InputFault(path: path.split(separator: ".").map(String.init), message: message)])
  }

  static func notFound(_ id: String) -> FieldFailure {
    FieldFailure("No object has the id \(id).", code: "NOT_FOUND")
  }

  static let unauthenticated = FieldFailure("Sign in first.", code: "UNAUTHENTICATED")
}

extension Film {
  /// Applies a checked `FilmInput` or `FilmPatch`: null clears a field, absent leaves it unchanged.
  mutating func apply(_ input: Arguments) {
    if let title = input.string("title") { self.title = title }
    if let year = input.int("year") { self.year = year }
    if let genres = input.strings("genres") { self.genres = genres }
    if input["synopsis"] != nil { synopsis = input.string("synopsis") }
    if input["tagline"] != nil { tagline = input.string("tagline") }
    if input["runtimeMinutes"] != nil { runtimeMinutes = input.int("runtimeMinutes") }
    if input["releaseDate"] != nil { releaseDate = input.string("releaseDate") }
    if input["boxOffice"] != nil { boxOffice = input.object("boxOffice").flatMap(Money.init) }
    if input["directorId"] != nil { directorID = input.string("directorId") }
    if input["studioId"] != nil { studioID = input.string("studioId") }
  }
}

extension Film.Money {
  /// - Parameter input: a `MoneyInput`; its amount is a number or a numeric string.
  init?(_ input: Arguments) {
    let amount = input["amount"]
    guard let digits = amount?.number?.digits ?? amount?.string,
      let hundredths = Hundredths(digits: digits)
    else { return nil }
    self.init(amount: hundredths, currency: input.string("currency") ?? "EUR")
  }
}
