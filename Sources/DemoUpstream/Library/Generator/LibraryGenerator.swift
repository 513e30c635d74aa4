/// Makes a library out of a seed: the same one each time, on every machine.
struct LibraryGenerator {
  private var random: SeededRandom
  private let size: LibrarySize
  private var library = Library()
  private var peopleByTongue: [[String]]
  private var studioIDs: [String] = []
  private var titles: Set<String> = []

  private static let genres = [
    "ADVENTURE", "ANIMATION", "COMEDY", "CRIME", "DOCUMENTARY", "DRAMA", "FANTASY", "HORROR",
    "MUSICAL", "ROMANCE", "SCIENCE_FICTION", "THRILLER", "WAR", "WESTERN",
  ]
  /// The year the library counts as the present one.
  private static let yearLast = 2026
  /// 2^53 + 1: the first whole number that a double cannot hold.
  private static let catalogueNumberFirst: Int64 = 9_007_199_254_740_993

  init(seed: UInt64, size: LibrarySize = LibrarySize()) {
    random = SeededRandom(seed: seed)
    self.size = size
    peopleByTongue = Array(repeating: [], count: LocaleWords.all.count)
  }

  consuming func generate() -> Library {
    for _ in 0..<size.studios { addStudio() }
    for number in 0..<size.people { addPerson(tongue: number % LocaleWords.all.count) }
    for number in 0..<size.films { addFilm(number) }
    for _ in 0..<size.series { addSeries() }
    return library
  }

  // MARK: Kinds

  private mutating func addStudio() {
    let tongue = random.pick(LocaleWords.all)
    let city = random.pick(tongue.cities)
    let id = library.makeID("s")
    let style = random.pick(["Film", "Pictures", "Studios", "& Co.", "Filmgesellschaft"])
    let name = random.once(in: 2) ? random.pick(tongue.family) : city
    library.put(
      Studio(
        id: id, name: "\(name) \(style) \(Self.roman(studioIDs.count / 24))".trimmingEnd(),
        country: tongue.country, city: random.once(in: 8) ? nil : city,
        foundedIn: random.once(in: 10) ? nil : random.number(1896...2015),
        website: random.once(in: 3) ? nil : "https://\(id).studios.example/?q=a&b=<c>",
        updatedAt: moment()))
    studioIDs.append(id)
  }

  private mutating func addPerson(tongue place: Int) {
    let tongue = LocaleWords.all[place]
    let id = library.makeID("p")
    let given = random.pick(tongue.given)
    let family = random.pick(tongue.family)
    let born = random.number(1880...2004)
    let dies = born < 1945 && !random.once(in: 4)
    let life = random.pick(Prose.lives)
    let city = random.pick(tongue.cities)
    library.put(
      Person(
        id: id, name: "\(given) \(family)", sortName: "\(family), \(given)",
        nationality: random.once(in: 20) ? nil : tongue.country,
        bornOn: random.once(in: 12) ? nil : day(in: born),
        diedOn: dies ? day(in: min(Self.yearLast - 1, born + random.number(40...92))) : nil,
        biography: random.once(in: 3)
          ? nil : Prose.filled(life, name: given, city: city, year: born + random.number(18...40)),
        updatedAt: moment()))
    peopleByTongue[place].append(id)
  }

  private mutating func addFilm(_ number: Int) {
    let place = random.number(0...LocaleWords.all.count - 1)
    let tongue = LocaleWords.all[place]
    let id = library.makeID("f")
    let year = random.number(1902...Self.yearLast)
    let original = title(tongue)
    let english = tongue.country == "GB" || tongue.country == "US" || tongue.country == "IE"
    let isTranslated = !english && (tongue.country == "JP" || random.once(in: 3))
    let earned = Hundredths(
      Int64(random.number(10_000...40_000_000)) * Int64(random.pick([25, 100])))
    let votes = random.once(in: 30) ? 0 : random.number(1...9_000)
    library.put(
      Film(
        id: id, title: isTranslated ? title(random.pick(Self.english)) : original,
        originalTitle: isTranslated ? original : nil, year: year,
        synopsis: random.once(in: 15) ? nil : synopsis(tongue, year: year),
        tagline: random.once(in: 2) ? nil : random.pick(Prose.taglines),
        genres: someGenres(), country: tongue.country,
        runtimeMinutes: random.once(in: 25) ? nil : random.number(61...214),
        releaseDate: random.once(in: 12) ? nil : day(in: year),
        catalogueNumber: Self.catalogueNumberFirst + Int64(number) * 2,
        views: Int64.random(in: 1...(1 << random.number(4...61)), using: &random),
        boxOffice: random.once(in: 4) ? nil : Film.Money(amount: earned, currency: tongue.currency),
        rating: rating(votes: votes),
        directorID: random.once(in: 40) ? nil : person(from: place),
        credits: credits(from: place),
        studioID: random.once(in: 10) || studioIDs.isEmpty ? nil : random.pick(studioIDs),
        updatedAt: moment()))
  }

  private mutating func addSeries() {
    let place = random.number(0...LocaleWords.all.count - 1)
    let tongue = LocaleWords.all[place]
    let id = library.makeID("t")
    let year = random.number(1958...Self.yearLast)
    let seasons = random.number(1...9)
    let end = year + seasons + random.number(0...3)
    library.put(
      Series(
        id: id, title: title(tongue), year: year, endYear: end > Self.yearLast ? nil : end,
        synopsis: random.once(in: 10) ? nil : synopsis(tongue, year: year),
        genres: someGenres(), country: tongue.country, seasons: seasons,
        episodes: seasons * random.number(4...24), rating: rating(votes: random.number(0...5_000)),
        studioID: studioIDs.isEmpty ? nil : random.pick(studioIDs),
        castIDs: credits(from: place).map(\.personID), updatedAt: moment()))
  }

  // MARK: Parts

  private static let english = LocaleWords.all.filter { ["GB", "IE", "US"].contains($0.country) }
  /// Attempts to draw an unused title before a number is appended to the last one.
  private static let titleDrawsMax = 4

  private mutating func title(_ tongue: LocaleWords) -> String {
    var title = ""
    for _ in 0..<Self.titleDrawsMax {
      title = draw(tongue)
      if titles.insert(title).inserted { return title }
    }
    var part = 2
    while !titles.insert("\(title) \(Self.roman(part - 1))").inserted { part += 1 }
    return "\(title) \(Self.roman(part - 1))"
  }

  /// A phrase, a phrase with a first name, or a full name.
  private mutating func draw(_ tongue: LocaleWords) -> String {
    if tongue.country == "JP" {
      return random.pick(tongue.titleHeads) + random.pick(tongue.titleTails)
    }
    let head = random.pick(random.once(in: 3) ? tongue.given : tongue.titleHeads)
    let tail = random.pick(random.once(in: 5) ? tongue.family : tongue.titleTails)
    return "\(head) \(tail)"
  }

  private mutating func synopsis(_ tongue: LocaleWords, year: Int) -> String {
    let name = random.pick(tongue.given)
    let city = random.pick(tongue.cities)
    let before = year - random.number(1...40)
    var sentences = [random.pick(Prose.openings), random.pick(Prose.middles)]
    if !random.once(in: 3) { sentences.append(random.pick(Prose.endings)) }
    return Prose.filled(sentences.joined(separator: " "), name: name, city: city, year: before)
  }

  private mutating func someGenres() -> [String] {
    let first = random.pick(Self.genres)
    let second = random.pick(Self.genres)
    return first == second || random.once(in: 3) ? [first] : [first, second]
  }

  private mutating func rating(votes: Int) -> Rating {
    Rating(starsSum: votes * random.number(180...470) / 100, votes: votes)
  }

  /// Mostly someone of the country.
  private mutating func person(from place: Int) -> String? {
    let home = peopleByTongue[place]
    let people = home.isEmpty || random.once(in: 6) ? random.pick(peopleByTongue) : home
    return people.isEmpty ? nil : random.pick(people)
  }

  private mutating func credits(from place: Int) -> [Film.Credit] {
    var seen: Set<String> = []
    let count = random.number(2...8)
    return (0..<count).compactMap { _ in
      guard let id = person(from: place), seen.insert(id).inserted else { return nil }
      return Film.Credit(role: random.pick(Prose.roles), personID: id)
    }
  }

  private mutating func day(in year: Int) -> String {
    let month = random.number(1...12)
    let day = random.number(1...Calendar.daysIn(month: month, year: year))
    return Calendar.day(year: year, month: month, day: day)
  }

  /// A second of the years 2020 to 2025.
  private mutating func moment() -> String {
    Calendar.time(
      secondsSince1970: Int64.random(in: 1_577_836_800..<1_767_225_600, using: &random))
  }

  /// Nothing for 0, then II, III and so on.
  private static func roman(_ number: Int) -> String {
    guard number > 0 else { return "" }
    var rest = number + 1
    var text = ""
    for (value, sign) in [(10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")] {
      while rest >= value {
        text += sign
        rest -= value
      }
    }
    return text
  }
}

extension String {
  fileprivate func trimmingEnd() -> String {
    last == " " ? String(dropLast()) : self
  }
}

/// How much there is of everything.
struct LibrarySize: Sendable, Hashable {
  var films = 2_400
  var people = 1_800
  var studios = 120
  var series = 300
}
