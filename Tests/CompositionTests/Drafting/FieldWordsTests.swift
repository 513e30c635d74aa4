import Testing

@testable import Composition

struct FieldWordsTests {
  @Test(
    "A name is divided at underscores and where the case changes",
    arguments: [
      ("film", ["film"]), ("filmsCount", ["films", "count"]),
      ("films_by_pk", ["films", "by", "pk"]),
      ("filmID", ["film", "id"]), ("HTTPStatus", ["http", "status"]), ("v2Film", ["v2", "film"]),
      ("_private__field_", ["private", "field"]), ("__", ["field"]), ("GETAll", ["get", "all"]),
    ])
  func divides(name: String, words: [String]) {
    #expect(FieldWords(name).words == words)
  }

  @Test(
    "An operation has the field's name with a capital letter",
    arguments: [
      ("film", "Film"), ("films_by_pk", "FilmsByPk"), ("getURL", "GetURL"), ("_film", "Film"),
      ("__", "Field"),
    ])
  func namesOperations(name: String, operation: String) {
    #expect(FieldWords(name).operationName == operation)
  }

  @Test(
    "An item belongs to the path of its list, without verb and keys",
    arguments: [
      ("film", ["id"], "films"), ("getFilm", ["id"], "films"), ("filmById", ["id"], "films"),
      ("films_by_pk", ["id"], "films"), ("makerByName", ["name"], "makers"),
      ("person", ["id"], "people"), ("watchList", ["id"], "watch-lists"),
      ("country", ["code"], "countries"),
      ("series", ["id"], "series"), ("box", ["id"], "boxes"), ("day", ["id"], "days"),
      ("class", ["id"], "classes"), ("people", ["id"], "people"),
      // `by` belongs to the name where the rest is not that of a key.
      ("filmByDirector", ["id"], "film-by-directors"), ("get", ["id"], "gets"),
    ])
  func namesItems(name: String, keys: [String], segment: String) {
    #expect(FieldWords(name).itemSegment(keys: keys) == segment)
  }

  @Test(
    "A list loses its verb",
    arguments: [
      ("films", "films"), ("allFilms", "films"), ("listFilms", "films"), ("topFilms", "top-films"),
      ("find", "find"), ("all", "all"),
    ])
  func namesLists(name: String, segment: String) {
    #expect(FieldWords(name).listSegment == segment)
  }
}
