import LosslessJSON
import Model
import Testing

@testable import Upstream

/// Violations of the schema in response data, and their messages.
struct ResponseCheckerTests {
  private static let operation = """
    query A {
      film(id: 9) { id title year rating seen budget poster(size: LARGE) { url width } tags notes }
      topFilms { id }
      search(text: "x") { ... on Film { year } ... on Person { name } }
      allGenres { label }
      version
    }
    """

  /// A complete valid response, as sent by upstream.
  private static let film =
    #"{"id":"9","title":"t","year":1,"rating":0.5,"seen":true,"budget":"1","poster":"#
    + #"{"url":"u","width":5},"tags":["a"],"notes":{"any":[1]}}"#
  private static let top = #"[{"id":"9"}]"#
  private static let search =
    #"[{"larder_typename":"Film","larder_Film_id":"1","year":2},null,"#
    + #"{"larder_typename":"Podcast","larder_Podcast_id":1}]"#
  private static let genres = #"[{"larder_Genre_code":"a","larder_Genre_lang":"b","label":"c"}]"#

  private static func data(
    film: String = film, top: String = top, search: String = search, genres: String = genres,
    version: String = #""1""#
  ) -> String {
    #"{"film":\#(film),"topFilms":\#(top),"search":\#(search),"allGenres":\#(genres),"#
      + #""version":\#(version)}"#
  }

  private func check(
    _ data: String, errors: String? = nil
  ) throws -> Result<Bool, ResponseChecker.Breach> {
    let operation = try Samples.operation(Self.operation)
    let document = try JSONDocument(text: data)
    let errors = try errors.map { try JSONDocument(text: $0).root }
    return ResponseChecker.check(
      document.root, selection: operation.selection(for: .none), errors: ErrorPath.read(errors))
  }

  struct Bad: Sendable, CustomTestStringConvertible {
    let data: String
    let phrase: String

    init(_ data: String, _ phrase: String) {
      self.data = data
      self.phrase = phrase
    }

    var testDescription: String { phrase }
  }

  @Test(
    "A violation is reported with its path and types",
    arguments: [
      Bad("[]", "data is a list, expected an object"),
      Bad(#""x""#, "data is a string, expected an object"),
      Bad("{}", "film is missing, expected Film"),
      Bad(data(film: #""str""#), "film is a string, expected Film"),
      Bad(data(film: "[\(film)]"), "film is a list, expected Film"),
      Bad(data(film: "7"), "film is a number, expected Film"),
      Bad(data(film: #"{"id":"9"}"#), "film.title is missing, expected String!"),
      Bad(
        data(film: film.replacing(#""id":"9""#, with: #""id":null"#)),
        "film.id is null, expected ID!"
      ),
      Bad(
        data(film: film.replacing(#""id":"9""#, with: #""id":{}"#)),
        "film.id is an object, expected ID!"),
      Bad(
        data(film: film.replacing(#""title":"t""#, with: #""title":{"a":1}"#)),
        "film.title is an object, expected String!"),
      Bad(
        data(film: film.replacing(#""title":"t""#, with: #""title":1"#)),
        "film.title is a number, expected String!"),
      Bad(
        data(film: film.replacing(#""year":1"#, with: #""year":"1""#)),
        "film.year is a string, expected Int"),
      Bad(
        data(film: film.replacing("true", with: "1")), "film.seen is a number, expected Boolean"),
      Bad(
        data(film: film.replacing("0.5", with: "false")),
        "film.rating is a boolean, expected Float"),
      Bad(
        data(film: film.replacing(#"["a"]"#, with: #""a""#)),
        "film.tags is a string, expected [String!]!"),
      Bad(
        data(film: film.replacing(#"["a"]"#, with: #"["a",null]"#)),
        "film.tags.1 is null, expected String!"),
      Bad(
        data(film: film.replacing(#"["a"]"#, with: #"["a",[]]"#)),
        "film.tags.1 is a list, expected String!"),
      Bad(
        data(film: film.replacing(#""url":"u","#, with: "")),
        "film.poster.url is missing, expected String!"),
      Bad(data(top: "null"), "topFilms is null, expected [Film!]!"),
      Bad(data(top: #"[{"id":"9"},null]"#), "topFilms.1 is null, expected Film!"),
      Bad(data(top: #"{"id":"9"}"#), "topFilms is an object, expected [Film!]!"),
      Bad(data(search: #"[{"year":1}]"#), "search.0.__typename is missing, expected String!"),
      Bad(
        data(search: #"[{"larder_typename":7}]"#),
        "search.0.__typename is a number, expected String!"),
      Bad(
        data(search: #"[{"larder_typename":"Film","year":1}]"#),
        "search.0.id is missing, expected ID!"),
    ])
  func reportsViolations(bad: Bad) throws {
    let breach = #expect(throws: ResponseChecker.Breach.self) { try check(bad.data).get() }
    #expect(breach?.phrase == "it breaks the schema: \(bad.phrase)")
  }

  @Test("Valid data is accepted")
  func acceptsValidData() throws {
    #expect(try check(Self.data(search: "null")).get() == false)
    // An object of an unknown type can contain anything.
    #expect(try check(Self.data()).get())
    #expect(try check(Self.data(film: "null", search: "[]", version: "null")).get() == false)
  }

  @Test("Unselected and repeated members are detected in any order")
  func noticesSurplus() throws {
    let plain = Self.data(search: "[]")
    #expect(try check(plain.replacing(#""year":1"#, with: #""year":1,"secret":[{}]"#)).get())
    #expect(try check(plain.replacing(#""year":1"#, with: #""year":1,"year":2"#)).get())
    #expect(try check(plain.replacing(#""tags""#, with: #""year":1,"tags""#)).get())
    let moved = plain.replacing(#""year":1,"#, with: "")
      .replacing(#""notes""#, with: #""year":1,"notes""#)
    #expect(try check(moved).get() == false)
  }

  /// An error explains a null or a missing member on its path; one without a path explains all of
  /// them.
  @Test(
    "Errors explain nulls and missing members on their paths",
    arguments: [
      (data(film: #"{"id":"9"}"#), #"[{"message":"x","path":["film","title"]}]"#, false),
      (
        data(film: film.replacing(#""title":"t""#, with: #""title":null"#)),
        #"[{"message":"x","path":["film","title"]}]"#, true
      ),
      (
        data(film: film.replacing(#""title":"t""#, with: #""title":null"#)),
        #"[{"message":"x","path":["film","year"]}]"#, false
      ),
      (data(top: "null"), #"[{"message":"x","path":["topFilms",0,"id"]}]"#, true),
      (data(top: "null"), #"[{"message":"x"}]"#, true),
      (data(top: #"[{"id":"9"},null]"#), #"[{"message":"x","path":["topFilms",1]}]"#, true),
      (data(top: #"[{"id":"9"},null]"#), #"[{"message":"x","path":["topFilms",0]}]"#, false),
      (data(top: "7"), #"[{"message":"x"}]"#, false),
      (data(version: "1"), #"[{"message":"x","path":["version"]}]"#, false),
    ])
  func errorsExplainNulls(data: String, errors: String, fits: Bool) throws {
    switch try check(data, errors: errors) {
    case .success: #expect(fits)
    case .failure(let breach): #expect(!fits, "\(breach.phrase)")
    }
  }
}
