import LosslessJSON

/// Finds everything wrong with a `FilmInput` or `FilmPatch` at once. Types hold already; this is what
/// a schema cannot say.
struct FilmChecker {
  let library: Library

  /// The first film was shown in 1895; the last year leaves room for what is announced.
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
      check((1...Self.titleLengthMax).contains(length), "title", "A title has 1 to 200 characters.")
    }
    if let year = input["year"] {
      let isGood = year.int64.map { Self.years.contains(Int($0)) } ?? false
      check(isGood, "year", "The year must be 1895 to 2100.")
    }
    if let genres = input["genres"] {
      check(!(genres.array ?? []).isEmpty, "genres", "A film has at least one genre.")
    }
    if let minutes = input.int("runtimeMinutes") {
      check(Self.minutes.contains(minutes), "runtimeMinutes", "A film runs 1 to 1000 minutes.")
    }
    if let day = input.string("releaseDate") {
      check(Calendar.isDay(day), "releaseDate", "\(day) is no day.")
    }
    if let money = input.object("boxOffice") {
      let amount = Film.Money(money)?.amount
      check(amount.map { $0 >= Hundredths(0) } ?? false, "boxOffice.amount", "No amount of money.")
    }
    if let id = input.string("directorId") {
      check(library.people[id] != nil, "directorId", "There is no person \(id).")
    }
    if let id = input.string("studioId") {
      check(library.studios[id] != nil, "studioId", "There is no studio \(id).")
    }
    for (place, id) in (input.strings("castIds") ?? []).enumerated() {
      check(library.people[id] != nil, "castIds.\(place)", "There is no person \(id).")
    }
    return faults
  }
}
