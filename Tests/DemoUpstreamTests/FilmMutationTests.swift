import LosslessJSON
import TestSupport
import Testing

@testable import DemoUpstream

struct FilmMutationTests {
  private let call = DemoCall()
  private static let rate =
    "mutation($id: ID!, $stars: Int!) { rateFilm(id: $id, stars: $stars) { id myStars updatedAt rating { average votes } } }"

  @Test("Rating a film twice counts once")
  func ratingTwiceCountsOnce() throws {
    let before = try call("{ film(id: \"f1\") { rating { votes } } }")
      .at("data", "film", "rating", "votes")?.int64
    let first = try call(Self.rate, ["id": "f1", "stars": 4], user: "ada")
    let again = try call(Self.rate, ["id": "f1", "stars": 4], user: "ada")
    let changed = try call(Self.rate, ["id": "f1", "stars": 1], user: "ada")
    #expect(first.at("data", "rateFilm", "myStars") == 4)
    #expect(first.at("data", "rateFilm", "updatedAt") == "2024-02-29T08:15:00Z")
    #expect(first == again)
    let after = changed.at("data", "rateFilm", "rating", "votes")?.int64
    #expect(after == before.map { $0 + 1 })
    #expect(changed.at("data", "rateFilm", "myStars") == 1)
  }

  @Test(
    "Invalid ratings are refused",
    arguments: [
      (["id": "f1", "stars": 6] as JSONValue, "BAD_USER_INPUT"),
      (["id": "f0", "stars": 3] as JSONValue, "NOT_FOUND"),
    ])
  func refusesRatings(variables: JSONValue, code: String) throws {
    let answer = try call(Self.rate, variables)
    #expect(answer.errorCode == code)
    #expect(answer["data"] == ["rateFilm": nil])
  }

  @Test("A created film can be found")
  func createsAndFindsAFilm() throws {
    let input: JSONValue = [
      "title": "Größe \"7\"", "year": 2024, "country": "DE", "directorId": "p3", "castIds": ["p4"],
      "studioId": "s2", "boxOffice": ["amount": .number(JSONNumber(digits: "12.5") ?? 0)],
    ]
    let created = try call(
      "mutation($input: FilmInput!) { createFilm(input: $input) { id genres boxOffice { amount currency } director { id directed(limit: 1000) { id } } cast { id } } }",
      ["input": input])
    let film = try #require(created.at("data", "createFilm"))
    #expect(film["id"] == "f2401")
    #expect(film["genres"] == ["DRAMA"])
    #expect(film["boxOffice"]?.text == #"{"amount":12.50,"currency":"EUR"}"#)
    #expect(film.at("director", "directed")?.array?.contains(["id": "f2401"]) ?? false)
    let found = try call(
      "{ film(id: \"f2401\") { title } studio(id: \"s2\") { films(limit: 1000) { id } } }")
    #expect(found.at("data", "film", "title")?.string == "Größe \"7\"")
    #expect(found.at("data", "studio", "films")?.array?.contains(["id": "f2401"]) ?? false)
  }

  @Test("All faults of a film are reported")
  func reportsAllFaultsOfFilm() throws {
    let input: JSONValue = [
      "title": "", "year": 1800, "country": "DE", "directorId": "p0", "castIds": ["p1", "p0"],
      "releaseDate": "2024-02-30", "genres": [], "runtimeMinutes": 0,
      "boxOffice": ["amount": "a lot"],
    ]
    let answer = try call(
      "mutation($input: FilmInput!) { createFilm(input: $input) { id } }", ["input": input])
    let faults = answer.at("errors", 0, "extensions", "faults")?.array ?? []
    #expect(
      Set(faults.compactMap { $0["path"]?.text }) == [
        #"["input","title"]"#, #"["input","year"]"#, #"["input","directorId"]"#,
        #"["input","castIds","1"]"#, #"["input","releaseDate"]"#, #"["input","genres"]"#,
        #"["input","runtimeMinutes"]"#, #"["input","boxOffice","amount"]"#,
      ])
    #expect(try call("{ filmsCount }").at("data", "filmsCount") == 2400)
  }

  @Test("A patch changes only the given fields")
  func patchesGivenFields() throws {
    let query =
      "mutation($patch: FilmPatch!) { updateFilm(id: \"f2\", patch: $patch) { title synopsis studio { id } year } }"
    let first = try call(query, ["patch": ["title": "New", "synopsis": nil, "studioId": "s5"]])
    #expect(first.at("data", "updateFilm", "title") == "New")
    #expect(first.at("data", "updateFilm", "synopsis") == JSONValue.null)
    #expect(first.at("data", "updateFilm", "studio", "id") == "s5")
    let second = try call(query, ["patch": ["studioId": nil, "year": 2001]])
    #expect(second.at("data", "updateFilm", "title") == "New")
    #expect(second.at("data", "updateFilm", "studio") == JSONValue.null)
    #expect(second.at("data", "updateFilm", "year") == 2001)
    #expect(try call(query, ["patch": ["title": nil]]).errorCode == "BAD_USER_INPUT")
  }

  @Test("A film is deleted once")
  func deletesOnce() throws {
    let query = "mutation { deleteFilm(id: \"f7\") }"
    #expect(try call(query)["data"] == ["deleteFilm": "f7"])
    #expect(try call(query)["data"] == ["deleteFilm": nil])
    #expect(try call("{ film(id: \"f7\") { id } }")["data"] == ["film": nil])
  }

  @Test("People are created")
  func createsPeople() throws {
    let answer = try call(
      "mutation { createPerson(input: {name: \"Maria João Pires\"}) { id sortName } }")
    #expect(answer.at("data", "createPerson", "sortName") == "Pires, Maria João")
    #expect(
      try call("mutation { createPerson(input: {name: \"\", bornOn: \"x\"}) { id } }")
        .at("errors", 0, "extensions", "faults")?.array?.count == 2)
  }

  @Test("Data of a user needs a signed-in user")
  func userDataNeedsUser() throws {
    for query in [
      "{ watchlist { id } }", "mutation { addToWatchlist(filmId: \"f1\") { id } }",
      "mutation { createList(input: {name: \"x\"}) { list { id } } }",
      "mutation { deleteList(id: \"l1\") }",
    ] {
      #expect(try call(query).errorCode == "UNAUTHENTICATED", "\(query)")
    }
    #expect(try call("{ me { id } }")["data"] == ["me": nil])
    #expect(
      try call("{ me { id name } }", user: "ada")["data"]?.text
        == #"{"me":{"id":"u-ada","name":"Ada"}}"#)
  }

  @Test("Each user has a separate watchlist")
  func watchlistsAreSeparate() throws {
    let add = "mutation { addToWatchlist(filmId: \"f8\") { watchlist { id } } }"
    _ = try call(add, user: "ada")
    #expect(try call(add, user: "ada").at("data", "addToWatchlist", "watchlist")?.array?.count == 1)
    #expect(try call("{ watchlist { id } }", user: "ada")["data"] == ["watchlist": [["id": "f8"]]])
    #expect(try call("{ watchlist { id } }", user: "bob")["data"] == ["watchlist": []])
    _ = try call("mutation { removeFromWatchlist(filmId: \"f8\") { id } }", user: "ada")
    #expect(try call("{ watchlist { id } }", user: "ada")["data"] == ["watchlist": []])
  }

  @Test("Lists report faults as data")
  func listsReportFaultsAsData() throws {
    let answer = try call(
      "mutation { createList(input: {name: \"\", filmIds: [\"f1\", \"f0\"]}) { list { id } userErrors { path message } } }",
      user: "ada")
    #expect(answer["errors"] == nil)
    #expect(answer.at("data", "createList", "list") == JSONValue.null)
    #expect(answer.at("data", "createList", "userErrors")?.array?.count == 2)
  }

  @Test("Only the owner can delete a list")
  func onlyTheOwnerDeletesAList() throws {
    let made = try call(
      "mutation { createList(input: {name: \"x\"}) { list { id } } }", user: "ada")
    let id = try #require(made.at("data", "createList", "list", "id"))
    let delete = "mutation($id: ID!) { deleteList(id: $id) }"
    #expect(try call(delete, ["id": id], user: "bob").errorCode == "FORBIDDEN")
    #expect(try call(delete, ["id": id], user: "ada")["data"] == ["deleteList": id])
    #expect(try call(delete, ["id": id], user: "ada")["data"] == ["deleteList": nil])
  }
}
