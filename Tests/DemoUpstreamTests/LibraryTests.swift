import LosslessJSON
import Testing

@testable import DemoUpstream

struct LibraryTests {
  static let small = LibrarySize(films: 300, people: 120, studios: 20, series: 40)

  static func fingerprint(_ library: Library) -> [String] {
    ["Film", "Person", "Studio", "Series"].flatMap { type in
      library[type].rows.map { row in
        "\(type) \(row.id) \(row.values.sorted { $0.key < $1.key })"
      }
    }
  }

  @Test("The same seed generates the same library")
  func seedDeterminesLibrary() {
    let first = LibraryGenerator(seed: 7, size: Self.small).generate()
    let second = LibraryGenerator(seed: 7, size: Self.small).generate()
    let other = LibraryGenerator(seed: 8, size: Self.small).generate()
    #expect(Self.fingerprint(first) == Self.fingerprint(second))
    #expect(Self.fingerprint(first) != Self.fingerprint(other))
  }

  /// Pinned, so that documents and examples can name films.
  @Test("The default seed keeps its films")
  func defaultSeedKeepsFilms() throws {
    let library = LibraryGenerator(seed: DemoOptions.usualSeed).generate()
    let film = try #require(library["Film"]["f1"])
    #expect(library["Film"].count == 2_400 && library["Person"].count == 1_800)
    #expect(library["Studio"].count == 120 && library["Series"].count == 300)
    #expect(film["title"] == "Göran före snön" && film["year"] == 1932)
  }

  @Test("All references resolve")
  func referencesResolve() {
    let library = LibraryGenerator(seed: 3, size: Self.small).generate()
    for film in library["Film"].rows {
      #expect(film["directorId"]?.string.map { library["Person"][$0] != nil } ?? true)
      #expect(film["studioId"]?.string.map { library["Studio"][$0] != nil } ?? true)
      #expect(film.castIDs.count == film["credits"]?.array?.count)
      for id in film.castIDs {
        #expect(library["Person"][id] != nil)
        #expect(library.filmIDs("cast", id).contains(film.id))
      }
    }
  }

  @Test("The library has values that are hard to encode")
  func hasHardValues() {
    let library = LibraryGenerator(seed: DemoOptions.usualSeed).generate()
    let films = Array(library["Film"].rows)
    #expect(films.allSatisfy { ($0["catalogueNumber"]?.int64 ?? 0) > 1 << 53 })
    let amounts = films.compactMap { $0["boxOffice"]?["amount"]?.number?.digits }
    #expect(amounts.contains { $0.hasSuffix(".00") } && amounts.contains { $0.hasSuffix("50") })
    #expect(films.contains { $0.average.digits.hasSuffix("0") })
    let texts = films.compactMap { $0["synopsis"]?.string }
    for piece in ["\"", "\\", "\n", "ï", "🎞️"] {
      #expect(texts.contains { $0.contains(piece) }, "no synopsis holds \(piece)")
    }
    #expect(films.contains { $0["synopsis"] == nil } && films.contains { $0["directorId"] == nil })
    #expect(Set(films.map { $0["title"] }).count == films.count)
  }

  @Test("A removed film is removed from all lists")
  func removedFilmLeavesLists() {
    var library = LibraryGenerator(seed: 3, size: Self.small).generate()
    var user = DemoViewer.user("u-a", name: "A")
    user["watchlist"] = ["f2", "f3"]
    user["stars"] = ["f2": 4]
    library.put(user)
    library.put(Row("FilmList", id: "l1", ["ownerId": "u-a", "filmIds": ["f3", "f2"]]))
    library.remove("Film", "f2")
    #expect(library["Film"]["f2"] == nil && library["Film"].count == 299)
    #expect(library["User"]["u-a"]?["watchlist"] == ["f3"])
    #expect(library["User"]["u-a"]?["stars"] == .object([]))
    #expect(library["FilmList"]["l1"]?["filmIds"] == ["f3"])
    #expect(library["Person"].rows.allSatisfy { !library.filmIDs("cast", $0.id).contains("f2") })
  }
}

struct CalendarTests {
  @Test(
    "Times are written in ISO 8601",
    arguments: [
      (Int64(0), "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"),
      (1_709_194_500, "2024-02-29T08:15:00Z"), (-1, "1969-12-31T23:59:59Z"),
      (4_102_444_799, "2099-12-31T23:59:59Z"),
    ])
  func writesTimes(seconds: Int64, text: String) {
    #expect(Calendar.time(secondsSince1970: seconds) == text)
  }

  @Test(
    "Calendar days are validated",
    arguments: [
      ("1994-05-12", true), ("2000-02-29", true), ("1900-02-29", false), ("2023-02-29", false),
      ("1994-5-12", false), ("1994-13-01", false), ("1994-00-10", false), ("1994-01-00", false),
      ("+994-01-01", false), ("1994/01/01", false), ("", false), ("1994-05-12T", false),
    ])
  func validatesDays(text: String, isDay: Bool) {
    #expect(Calendar.isDay(text) == isDay)
  }
}

struct HundredthsTests {
  @Test(
    "Hundredths keep two decimal places",
    arguments: [
      ("7.4", "7.40"), ("7.40", "7.40"), ("0", "0.00"), ("-0.05", "-0.05"), ("-3.5", "-3.50"),
      ("1250000.00", "1250000.00"), ("12", "12.00"),
    ])
  func keepsTwoPlaces(digits: String, written: String) {
    #expect(Hundredths(digits: digits)?.digits == written)
  }

  @Test(
    "Malformed hundredths are refused",
    arguments: [
      "", ".", "1.", "1.234", "1e3", "1.2.3", "x", "1.x", "99999999999999999999",
      "-9223372036854775808", "9223372036854775807", "-9223372036854775808.99",
    ])
  func refusesMalformedText(digits: String) {
    #expect(Hundredths(digits: digits) == nil)
  }
}
