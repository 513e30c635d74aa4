import GraphQL
import LosslessJSON

/// Makes a library out of a seed: the same one each time, on every machine.
struct LibraryGenerator {
  private var random: SeededRandom
  private let size: LibrarySize
  private var library = Library()
  private var peopleByCountry: [[String]]
  private var studioIDs: [String] = []
  private var titles: Set<String> = []

  private static let genres = FilmsSchema.schema.type(named: "Genre")?.values.names ?? []
  /// The year the library counts as the present one.
  private static let yearLast = 2026
  /// 2^53 + 1: the first whole number that a double cannot hold.
  private static let catalogueNumberFirst: Int64 = 9_007_199_254_740_993

  init(seed: UInt64, size: LibrarySize = LibrarySize()) {
    random = SeededRandom(seed: seed)
    self.size = size
    peopleByCountry = Array(repeating: [], count: DemoWords.all.countries.count)
  }

  consuming func generate() -> Library {
    for _ in 0..<size.studios { addStudio() }
    for number in 0..<size.people { addPerson(country: number % DemoWords.all.countries.count) }
    for number in 0..<size.films { addFilm(number) }
    for _ in 0..<size.series { addSeries() }
    return library
  }

  // MARK: Kinds

  private mutating func addStudio() {
    let country = random.pick(DemoWords.all.countries)
    let city = random.pick(country.cities)
    let id = library.makeID("s")
    let style = random.pick(["Film", "Pictures", "Studios", "& Co.", "Filmgesellschaft"])
    let name = random.once(in: 2) ? random.pick(country.family) : city
    library.put(
      Row(
        "Studio", id: id,
        [
          "name": .string("\(name) \(style) \(Self.roman(studioIDs.count / 24))".trimmingEnd()),
          "country": .string(country.code),
          "city": random.once(in: 8) ? .null : .string(city),
          "foundedIn": random.once(in: 10) ? .null : .int(random.number(1896...2015)),
          "website": random.once(in: 3)
            ? .null : .string("https://\(id).studios.example/?q=a&b=<c>"),
          "updatedAt": moment(),
        ]))
    studioIDs.append(id)
  }

  private mutating func addPerson(country place: Int) {
    let country = DemoWords.all.countries[place]
    let id = library.makeID("p")
    let given = random.pick(country.given)
    let family = random.pick(country.family)
    let born = random.number(1880...2004)
    let dies = born < 1945 && !random.once(in: 4)
    let life = random.pick(DemoWords.all.lives)
    let city = random.pick(country.cities)
    library.put(
      Row(
        "Person", id: id,
        [
          "name": .string("\(given) \(family)"), "sortName": .string("\(family), \(given)"),
          "nationality": random.once(in: 20) ? .null : .string(country.code),
          "bornOn": random.once(in: 12) ? .null : day(in: born),
          "diedOn": dies ? day(in: min(Self.yearLast - 1, born + random.number(40...92))) : .null,
          "biography": random.once(in: 3)
            ? .null
            : DemoWords.filled(life, name: given, city: city, year: born + random.number(18...40)),
          "updatedAt": moment(),
        ]))
    peopleByCountry[place].append(id)
  }

  private mutating func addFilm(_ number: Int) {
    let place = random.number(0...DemoWords.all.countries.count - 1)
    let country = DemoWords.all.countries[place]
    let id = library.makeID("f")
    let year = random.number(1902...Self.yearLast)
    let original = title(country)
    let isTranslated = !country.isEnglish && (country.code == "JP" || random.once(in: 3))
    let earned = Hundredths(
      Int64(random.number(10_000...40_000_000)) * Int64(random.pick([25, 100])))
    let votes = random.once(in: 30) ? 0 : random.number(1...9_000)
    library.put(
      Row(
        "Film", id: id,
        [
          "title": .string(isTranslated ? title(random.pick(Self.english)) : original),
          "originalTitle": isTranslated ? .string(original) : .null, "year": .int(year),
          "synopsis": random.once(in: 15) ? .null : synopsis(country, year: year),
          "tagline": random.once(in: 2) ? .null : .string(random.pick(DemoWords.all.taglines)),
          "genres": someGenres(), "country": .string(country.code),
          "runtimeMinutes": random.once(in: 25) ? .null : .int(random.number(61...214)),
          "releaseDate": random.once(in: 12) ? .null : day(in: year),
          "catalogueNumber": .int(Self.catalogueNumberFirst + Int64(number) * 2),
          "views": .int(Int64.random(in: 1...(1 << random.number(4...61)), using: &random)),
          "boxOffice": random.once(in: 4)
            ? .null : ["amount": earned.json, "currency": .string(country.currency)],
          "rating": rating(votes: votes),
          "directorId": random.once(in: 40) ? .null : person(from: place),
          "credits": credits(from: place),
          "studioId": random.once(in: 10) || studioIDs.isEmpty
            ? .null : .string(random.pick(studioIDs)),
          "updatedAt": moment(),
        ]))
  }

  private mutating func addSeries() {
    let place = random.number(0...DemoWords.all.countries.count - 1)
    let country = DemoWords.all.countries[place]
    let id = library.makeID("t")
    let year = random.number(1958...Self.yearLast)
    let seasons = random.number(1...9)
    let end = year + seasons + random.number(0...3)
    library.put(
      Row(
        "Series", id: id,
        [
          "title": .string(title(country)), "year": .int(year),
          "endYear": end > Self.yearLast ? .null : .int(end),
          "synopsis": random.once(in: 10) ? .null : synopsis(country, year: year),
          "genres": someGenres(), "country": .string(country.code),
          "seasons": .int(seasons), "episodes": .int(seasons * random.number(4...24)),
          "rating": rating(votes: random.number(0...5_000)),
          "studioId": studioIDs.isEmpty ? .null : .string(random.pick(studioIDs)),
          "credits": credits(from: place), "updatedAt": moment(),
        ]))
  }

  // MARK: Parts

  private static let english = DemoWords.all.countries.filter(\.isEnglish)
  /// Attempts to draw an unused title before a number is appended to the last one.
  private static let titleDrawsMax = 4

  private mutating func title(_ country: DemoWords.Country) -> String {
    var title = ""
    for _ in 0..<Self.titleDrawsMax {
      title = draw(country)
      if titles.insert(title).inserted { return title }
    }
    var part = 2
    while !titles.insert("\(title) \(Self.roman(part - 1))").inserted { part += 1 }
    return "\(title) \(Self.roman(part - 1))"
  }

  /// A phrase, a phrase with a first name, or a full name.
  private mutating func draw(_ country: DemoWords.Country) -> String {
    if country.code == "JP" {
      return random.pick(country.titleHeads) + random.pick(country.titleTails)
    }
    let head = random.pick(random.once(in: 3) ? country.given : country.titleHeads)
    let tail = random.pick(random.once(in: 5) ? country.family : country.titleTails)
    return "\(head) \(tail)"
  }

  private mutating func synopsis(_ country: DemoWords.Country, year: Int) -> JSONValue {
    let name = random.pick(country.given)
    let city = random.pick(country.cities)
    let before = year - random.number(1...40)
    var sentences = [random.pick(DemoWords.all.openings), random.pick(DemoWords.all.middles)]
    if !random.once(in: 3) { sentences.append(random.pick(DemoWords.all.endings)) }
    return DemoWords.filled(
      sentences.joined(separator: " "), name: name, city: city, year: before)
  }

  private mutating func someGenres() -> JSONValue {
    let first = JSONValue.string(random.pick(Self.genres))
    let second = JSONValue.string(random.pick(Self.genres))
    return first == second || random.once(in: 3) ? [first] : [first, second]
  }

  private mutating func rating(votes: Int) -> JSONValue {
    ["starsSum": .int(votes * random.number(180...470) / 100), "votes": .int(votes)]
  }

  /// Mostly someone of the country.
  private mutating func person(from place: Int) -> JSONValue {
    let home = peopleByCountry[place]
    let people = home.isEmpty || random.once(in: 6) ? random.pick(peopleByCountry) : home
    return people.isEmpty ? .null : .string(random.pick(people))
  }

  private mutating func credits(from place: Int) -> JSONValue {
    var seen: Set<JSONValue> = [.null]
    let count = random.number(2...8)
    return .array(
      (0..<count).compactMap { _ in
        let id = person(from: place)
        guard seen.insert(id).inserted else { return nil }
        return ["role": .string(random.pick(DemoWords.all.roles)), "personId": id]
      })
  }

  private mutating func day(in year: Int) -> JSONValue {
    let month = random.number(1...12)
    let day = random.number(1...Calendar.daysIn(month: month, year: year))
    return .string(Calendar.day(year: year, month: month, day: day))
  }

  /// A second of the years 2020 to 2025.
  private mutating func moment() -> JSONValue {
    .string(
      Calendar.time(
        secondsSince1970: Int64.random(in: 1_577_836_800..<1_767_225_600, using: &random)))
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
