import LosslessJSON
import Testing

@testable import DemoUpstream

struct FilmQueryTests {
  private static let call = DemoCall()

  private static func ids(_ answer: JSONValue, _ field: String) -> [String] {
    answer["data"]?[field]?.array?.compactMap { $0["id"]?.string } ?? []
  }

  @Test(
    "Films are filtered by year",
    arguments: [
      ("{year: {gte: 1990, lt: 1992}}", [1990, 1991]),
      ("{year: {in: [1950, 1951]}}", [1950, 1951]),
      ("{year: {eq: 1977}}", [1977]),
      ("{not: {year: {lte: 1991}}, year: {lt: 1993}}", [1992]),
      (
        "{or: [{year: {eq: 1911}}, {and: [{year: {gt: 2020}}, {year: {lt: 2022}}]}]}", [1911, 2021]
      ),
    ])
  func filtersByYear(filter: String, expected: [Int]) throws {
    let answer = try Self.call(
      "{ films(filter: \(filter), limit: 1000) { id year } filmsCount(filter: \(filter)) }")
    let years = answer["data"]?["films"]?.array?.compactMap { $0["year"]?.int64 } ?? []
    #expect(answer["data"]?["filmsCount"]?.int64 == Int64(years.count))
    #expect(Set(years) == Set(expected.map(Int64.init)))
  }

  @Test("Films are filtered by text, genre, country and stars")
  func filtersByTextGenreCountryAndStars() throws {
    let filter =
      "{title: {contains: \"MIDNIGHT\"}, country: US, minStars: 2.5, genre: DRAMA, ids: null}"
    let answer = try Self.call(
      "{ films(filter: \(filter), limit: 1000) { title originalTitle country genres rating { average } } }"
    )
    let films = answer["data"]?["films"]?.array ?? []
    #expect(!films.isEmpty)
    for film in films {
      let titles = [film["title"], film["originalTitle"]].compactMap { $0?.string?.lowercased() }
      #expect(titles.contains { $0.contains("midnight") })
      #expect(film["country"] == "US")
      #expect(film["genres"]?.array?.contains("DRAMA") ?? false)
      #expect((film.at("rating", "average")?.number?.double ?? 0) >= 2.5)
    }
  }

  @Test("Films are ordered by several fields, with absent values last")
  func ordersFilms() throws {
    let answer = try Self.call(
      "{ films(orderBy: [{field: RUNTIME, direction: DESC}, {field: TITLE}], limit: 1000, offset: 1400) { title runtimeMinutes } }"
    )
    let films = answer["data"]?["films"]?.array ?? []
    let minutes = films.map { $0["runtimeMinutes"]?.int64 ?? -1 }
    #expect(films.count == 1_000 && minutes.last == -1)
    #expect(minutes == minutes.sorted(by: >))
    for (first, second) in zip(films, films.dropFirst())
    where first["runtimeMinutes"] == second["runtimeMinutes"] {
      #expect((first["title"]?.string ?? "") <= (second["title"]?.string ?? ""))
    }
  }

  @Test("The pages of a connection add up to the whole list")
  func pagesAddUp() throws {
    let filter = "filter: {year: {eq: 1980}}, orderBy: [{field: RATING}]"
    let whole = Self.ids(try Self.call("{ films(\(filter), limit: 1000) { id } }"), "films")
    var joined: [String] = []
    var after = JSONValue.null
    for _ in 0...whole.count {
      let answer = try Self.call(
        "query($after: String) { filmsConnection(\(filter), first: 3, after: $after) { totalCount edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage endCursor } } }",
        ["after": after])
      let page = try #require(answer["data"]?["filmsConnection"])
      #expect(page["totalCount"]?.int64 == Int64(whole.count))
      #expect(page.at("pageInfo", "hasPreviousPage") == .bool(!joined.isEmpty))
      joined += page["edges"]?.array?.compactMap { $0.at("node", "id")?.string } ?? []
      after = page.at("pageInfo", "endCursor") ?? .null
      if page.at("pageInfo", "hasNextPage") == false { break }
    }
    #expect(joined == whole && whole.count > 3)
  }

  @Test(
    "Invalid page arguments are refused",
    arguments: [
      "{ films(limit: -1) { id } }", "{ films(limit: 1001) { id } }",
      "{ films(offset: -1) { id } }",
      "{ filmsConnection(after: \"x\") { totalCount } }",
      "{ filmsConnection(first: -2) { totalCount } }", "{ search(text: \"\") { __typename } }",
    ])
  func refusesInvalidPages(query: String) throws {
    #expect(try Self.call(query).errorCode == "BAD_USER_INPUT")
  }

  @Test("The search finds objects of all kinds")
  func searchFindsAllKinds() throws {
    let answer = try Self.call(
      "{ search(text: \"ma\", limit: 1000) { __typename ... on Film { id } ... on Person { id } ... on Studio { id } ... on Series { id } } }"
    )
    let kinds = Set(answer["data"]?["search"]?.array?.compactMap { $0["__typename"]?.string } ?? [])
    #expect(kinds == ["Film", "Person", "Studio", "Series"])
    let films = try Self.call("{ search(text: \"ma\", kinds: [STUDIO]) { __typename } }")
    let names = films["data"]?["search"]?.array?.compactMap { $0["__typename"]?.string } ?? []
    #expect(!names.isEmpty && Set(names) == ["Studio"])
  }

  @Test("An object is looked up by the type prefix of its id; unknown ids are null")
  func looksUpByIdPrefix() throws {
    let answer = try Self.call(
      """
      { a: node(id: "f1") { __typename id } b: node(id: "p1") { __typename } c: work(id: "t1") {
      __typename title } d: work(id: "p1") { __typename } e: node(id: "x") { id } f: film(id: "f0")
      { id } g: node(id: "s1") { __typename } h: node(id: "u-ada") { id } }
      """)
    let data = try #require(answer["data"])
    #expect(data.at("a", "__typename") == "Film" && data.at("b", "__typename") == "Person")
    #expect(data.at("c", "__typename") == "Series" && data.at("g", "__typename") == "Studio")
    #expect(["d", "e", "f", "h"].allSatisfy { data[$0] == .null })
  }

  @Test("The cast of a film and the films of a person agree")
  func castAndFilmsAgree() throws {
    let answer = try Self.call("{ film(id: \"f5\") { cast { films(limit: 1000) { id } } } }")
    let people = answer.at("data", "film", "cast")?.array ?? []
    #expect(!people.isEmpty)
    for person in people {
      let ids = person["films"]?.array?.compactMap { $0["id"]?.string } ?? []
      #expect(ids.contains("f5"))
    }
  }

  @Test("Posters have the requested size")
  func postersHaveSizes() throws {
    let answer = try Self.call(
      "{ film(id: \"f1\") { poster { width } small: poster(size: SMALL) { width height url } } }")
    #expect(answer.at("data", "film", "poster", "width") == 360)
    #expect(answer.at("data", "film", "small", "height") == 180)
  }

  @Test("Numbers keep all their digits")
  func numbersKeepTheirDigits() throws {
    let text = String(
      decoding: Self.call.answer(
        "{ films(filter: {ids: [\"f1\"]}) { catalogueNumber } films2: films(limit: 300) { boxOffice { amount } } }"
      ).bytes, as: UTF8.self)
    #expect(text.contains("9007199254740993"))
    #expect(text.contains(".00}") && text.contains("0}"))
  }
}
