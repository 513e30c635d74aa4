import Testing

@testable import DemoUpstream

struct LibraryTests {
  static let small = LibrarySize(films: 300, people: 120, studios: 20, series: 40)

  static func fingerprint(_ library: Library) -> [String] {
    library.films.rows.map { "\($0)" } + library.people.rows.map { "\($0)" }
      + library.studios.rows.map { "\($0)" } + library.series.rows.map { "\($0)" }
  }

  @Test func oneSeedMakesOneLibrary() {
    let first = LibraryGenerator(seed: 7, size: Self.small).generate()
    let second = LibraryGenerator(seed: 7, size: Self.small).generate()
    let other = LibraryGenerator(seed: 8, size: Self.small).generate()
    #expect(Self.fingerprint(first) == Self.fingerprint(second))
    #expect(Self.fingerprint(first) != Self.fingerprint(other))
  }

  /// Pinned, so that documents and examples may name what they show.
  @Test func theUsualSeedKeepsItsFilms() throws {
    let library = LibraryGenerator(seed: DemoOptions.usualSeed).generate()
    let film = try #require(library.films["f1"])
    #expect(library.films.count == 2_400 && library.people.count == 1_800)
    #expect(library.studios.count == 120 && library.series.count == 300)
    #expect("\(film.title) (\(film.year))" == "Göran före snön (1932)")
  }

  @Test func referencesLeadSomewhere() {
    let library = LibraryGenerator(seed: 3, size: Self.small).generate()
    for film in library.films.rows {
      #expect(film.directorID.map { library.people[$0] != nil } ?? true)
      #expect(film.studioID.map { library.studios[$0] != nil } ?? true)
      for credit in film.credits {
        #expect(library.people[credit.personID] != nil)
        #expect(library.filmIDs(withPerson: credit.personID).contains(film.id))
      }
    }
  }

  @Test func holdsWhatIsHardToCarry() {
    let library = LibraryGenerator(seed: DemoOptions.usualSeed).generate()
    let films = Array(library.films.rows)
    #expect(films.allSatisfy { $0.catalogueNumber > 1 << 53 })
    #expect(films.contains { $0.boxOffice?.amount.digits.hasSuffix(".00") ?? false })
    #expect(films.contains { $0.boxOffice?.amount.digits.hasSuffix("50") ?? false })
    #expect(films.contains { $0.rating.average.digits.hasSuffix("0") })
    let texts = films.compactMap(\.synopsis)
    for piece in ["\"", "\\", "\n", "ï", "🎞️"] {
      #expect(texts.contains { $0.contains(piece) }, "no synopsis holds \(piece)")
    }
    #expect(films.contains { $0.synopsis == nil } && films.contains { $0.directorID == nil })
    #expect(Set(films.map(\.title)).count == films.count)
  }

  @Test func removingAFilmTakesItOffEveryList() {
    var library = LibraryGenerator(seed: 3, size: Self.small).generate()
    library.put(
      User(
        id: "u-a", name: "A", memberSince: "2020-01-01", watchlist: ["f2", "f3"], stars: ["f2": 4]))
    library.put(
      FilmList(id: "l1", name: "L", ownerID: "u-a", filmIDs: ["f3", "f2"], createdAt: ""))
    library.removeFilm("f2")
    #expect(library.films["f2"] == nil && library.films.count == 299)
    #expect(library.users["u-a"]?.watchlist == ["f3"])
    #expect(library.users["u-a"]?.stars == [:])
    #expect(library.lists["l1"]?.filmIDs == ["f3"])
    #expect(library.people.rows.allSatisfy { !library.filmIDs(withPerson: $0.id).contains("f2") })
  }
}
