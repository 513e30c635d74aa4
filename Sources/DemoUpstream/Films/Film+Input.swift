import LosslessJSON

extension Film {
  /// Takes over what is given of a checked `FilmInput` or `FilmPatch`: null clears, absent stays.
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
  /// - Parameter input: a `MoneyInput`; its amount is a number or a text of one.
  init?(_ input: Arguments) {
    let amount = input["amount"]
    guard let digits = amount?.number?.digits ?? amount?.string,
      let hundredths = Hundredths(digits: digits)
    else { return nil }
    self.init(amount: hundredths, currency: input.string("currency") ?? "EUR")
  }
}
