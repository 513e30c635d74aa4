import LosslessJSON
import Model
import Testing

@testable import Upstream

struct NormaliserTests {
  @Test(
    "A key with NUL is not a key",
    arguments: [
      #""a\u0000b""#, #""\u0000""#,
    ])
  func nulIsNotAKey(text: String) throws {
    let value = try JSONValue(parsing: text)
    for canonical in [KeyField.Canonical.text, .integer] {
      #expect(EntityKeyRule.text(of: value, canonical) == nil)
    }
  }

  @Test(
    "Error paths beyond the limits are not followed",
    arguments: [
      (ErrorPath.partsMax, 1, true), (ErrorPath.partsMax + 1, 1, false), (1_000_000, 1, false),
      (10, ErrorPath.placesMax / 10, true), (10, ErrorPath.placesMax / 10 + 1, false),
    ])
  func longErrorPathsAreNotFollowed(parts: Int, errors: Int, isRead: Bool) throws {
    let path = "[\(Array(repeating: "0", count: parts).joined(separator: ","))]"
    let list = Array(repeating: #"{"path":\#(path)}"#, count: errors).joined(separator: ",")
    let document = try JSONDocument(checked: Array("[\(list)]".utf8))
    switch ErrorPath.read(document.root) {
    case .paths: #expect(isRead)
    case .anywhere: #expect(!isRead)
    case .none: Issue.record("there are errors")
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let operation: String
    let answer: String
    let root: String?
    let entities: [String]

    init(_ operation: String, _ answer: String, root: String?, entities: [String]) {
      self.operation = operation
      self.answer = answer
      self.root = root
      self.entities = entities
    }

    var testDescription: String { "\(operation) <- \(answer)" }
  }

  @Test(
    "Responses are split into entities and a result",
    arguments: [
      Case(
        "query A { film(id: 9) { id title year } }",
        #"{"data":{"film":{"id":"9","title":"M\u00fcnchen","year":1.10}}}"#,
        root: #"{"film({\"id\":\"9\"})":{"$ref":["Film","9"]}}"#,
        entities: [#"Film/9 {"id":"9","title({\"lang\":\"en\"})":"M\u00fcnchen","year":1.10}"#]),
      // The key comes last, is an added field, and is a number.
      Case(
        "query A { film(id: 9) { t: year } }",
        #"{"data":{"film":{"t":5,"larder_Film_id":9}}}"#,
        root: #"{"film({\"id\":\"9\"})":{"$ref":["Film","9"]}}"#,
        entities: [#"Film/9 {"year":5,"id":9}"#]),
      // Aliases with and without arguments never meet.
      Case(
        "query A { film(id: 9) { id a: poster { url } b: poster(size: LARGE) { url } } }",
        #"{"data":{"film":{"id":"9","a":{"url":"s"},"b":{"url":"l"}}}}"#,
        root: #"{"film({\"id\":\"9\"})":{"$ref":["Film","9"]}}"#,
        entities: [
          #"Film/9 {"id":"9","poster({\"size\":\"SMALL\"})":{"__typename":"Poster","url":"s"},"poster({\"size\":\"LARGE\"})":{"__typename":"Poster","url":"l"}}"#
        ]),
      // Two aliases of one field unite what they select of an embedded object.
      Case(
        "query A { film(id: 9) { id a: poster { url } b: poster { url width } } }",
        #"{"data":{"film":{"id":"9","a":{"url":"s"},"b":{"url":"s","width":3}}}}"#,
        root: #"{"film({\"id\":\"9\"})":{"$ref":["Film","9"]}}"#,
        entities: [
          #"Film/9 {"id":"9","poster({\"size\":\"SMALL\"})":{"__typename":"Poster","url":"s","width":3}}"#
        ]),
      // An entity at several places is one, its fields united.
      Case(
        "query A { topFilms { id } film(id: 9) { id year director { id films { id } } } }",
        #"{"data":{"topFilms":[{"id":"8"},{"id":"9"},{"id":"8"}],"film":{"id":"9","year":5,"director":{"id":"p","films":[{"id":"9"}]}}}}"#,
        root:
          #"{"topFilms({\"limit\":10})":[{"$ref":["Film","8"]},{"$ref":["Film","9"]},{"$ref":["Film","8"]}],"film({\"id\":\"9\"})":{"$ref":["Film","9"]}}"#,
        entities: [
          #"Film/8 {"id":"8"}"#,
          #"Film/9 {"id":"9","year":5,"director":{"$ref":["Person","p"]}}"#,
          #"Person/p {"id":"p","films":[{"$ref":["Film","9"]}]}"#,
        ]),
      // Null and missing keys make embedded objects; nulls and holes are values.
      Case(
        "query A { film(id: 9) { id director { id name } genres { code lang label } related { ... on Film { id } } } }",
        #"{"data":{"film":{"id":"9","director":{"id":null,"name":"x"},"genres":[{"code":"a","lang":"de","label":null},{"code":"b","label":"B"}],"related":[null,{"larder_typename":"Film","id":"9"}]}}}"#,
        root: #"{"film({\"id\":\"9\"})":{"$ref":["Film","9"]}}"#,
        entities: [
          #"Genre/1:a2:de {"code":"a","lang":"de","label":null}"#,
          #"Film/9 {"id":"9","director":{"__typename":"Person","id":null,"name":"x"},"genres":[{"$ref":["Genre","1:a2:de"]},{"__typename":"Genre","code":"b","label":"B"}],"related":[null,{"$ref":["Film","9"]}]}"#,
        ]),
      // Unions by concrete type; a type of tomorrow leaves its field out.
      Case(
        #"query A { search(text: "x") { __typename ... on Stats { films } } }"#,
        #"{"data":{"search":[{"__typename":"Stats","films":3},{"__typename":"Person","larder_Person_id":"p"}]}}"#,
        root:
          #"{"search({\"text\":\"x\"})":[{"__typename":"Stats","films":3},{"$ref":["Person","p"]}]}"#,
        entities: [#"Person/p {"id":"p"}"#]),
      Case(
        #"query A { search(text: "x") { __typename } version }"#,
        #"{"data":{"search":[{"__typename":"Podcast"}],"version":"1"}}"#,
        root: #"{"version":"1"}"#, entities: []),
      // White space is removed, inside custom scalars too; their text is not interpreted.
      Case(
        "query A { film(id: 9) { id tags notes } }",
        "{ \"data\" : { \"film\" : { \"id\" : \"9\" , \"tags\" : [ \"a\" , \"b c\" ] , \"notes\" : { \"$ref\" : [ 1 ] } } } }",
        root: #"{"film({\"id\":\"9\"})":{"$ref":["Film","9"]}}"#,
        entities: [#"Film/9 {"id":"9","tags":["a","b c"],"notes":{"$ref":[1]}}"#]),
      // Keys with characters that JSON escapes.
      Case(
        "query A { topFilms { id } }", #"{"data":{"topFilms":[{"id":"a\"b\\\u0041"}]}}"#,
        root: #"{"topFilms({\"limit\":10})":[{"$ref":["Film","a\"b\\A"]}]}"#,
        entities: [#"Film/a"b\A {"id":"a\"b\\\u0041"}"#]),
      // What no schema allows is left out.
      Case(
        "query A { topFilms { id } version }", #"{"data":{"topFilms":{"id":"1"},"version":"1"}}"#,
        root: #"{"version":"1"}"#, entities: []),
    ])
  func normalisesResponses(_ example: Case) throws {
    let operation = try Samples.operation(example.operation)
    let outcome = Answers.normalise(try Answers.answer(example.answer), operation)
    #expect(Answers.root(outcome.answer) == example.root)
    #expect(Answers.lines(outcome.answer) == example.entities)
  }

  @Test(
    "A null explained by an error is not stored",
    arguments: [
      // The field at the error, the nearest nullable one above, a field inside an embedded object.
      Case(
        "query A { film(id: 9) { id year rating } }",
        #"{"data":{"film":{"id":"9","year":null,"rating":null}},"errors":[{"message":"x","path":["film","year"]}]}"#,
        root: #"{"film({\"id\":\"9\"})":{"$ref":["Film","9"]}}"#,
        entities: [#"Film/9 {"id":"9","rating":null}"#]),
      Case(
        "query A { film(id: 9) { id d: director { id name } } }",
        #"{"data":{"film":{"id":"9","d":null}},"errors":[{"message":"x","path":["film","d","name"]}]}"#,
        root: #"{"film({\"id\":\"9\"})":{"$ref":["Film","9"]}}"#,
        entities: [#"Film/9 {"id":"9"}"#]),
      Case(
        "query A { film(id: 9) { id poster { url width } } }",
        #"{"data":{"film":{"id":"9","poster":{"url":"u","width":null}}},"errors":[{"message":"x","path":["film","poster","width"]}]}"#,
        root: #"{"film({\"id\":\"9\"})":{"$ref":["Film","9"]}}"#,
        entities: [
          #"Film/9 {"id":"9","poster({\"size\":\"SMALL\"})":{"__typename":"Poster","url":"u"}}"#
        ]),
      // A list with an unknown hole is written in part.
      Case(
        #"query A { search(text: "x") { ... on Film { id } } version }"#,
        #"{"data":{"search":[{"larder_typename":"Film","id":"1"},null,{"larder_typename":"Film","id":"2"}],"version":"1"},"errors":[{"message":"x","path":["search",1,"id"]}]}"#,
        root:
          #"{"search({\"text\":\"x\"})":[{"$ref":["Film","1"]},null,{"$ref":["Film","2"]}],"version":"1"}"#,
        entities: [#"Film/1 {"id":"1"}"#, #"Film/2 {"id":"2"}"#]),
      // No path, an empty one, a path of no kind: nothing is written.
      Case(
        "query A { version }", #"{"data":{"version":"1"},"errors":[{"message":"x"}]}"#,
        root: nil, entities: []),
      Case(
        "query A { version }", #"{"data":{"version":"1"},"errors":[{"message":"x","path":[]}]}"#,
        root: nil, entities: []),
      Case(
        "query A { version }", #"{"data":{"version":"1"},"errors":[{"message":"x","path":[1.5]}]}"#,
        root: nil, entities: []),
      Case(
        "query A { version }", #"{"data":null,"errors":[{"message":"x","path":["version"]}]}"#,
        root: nil, entities: []),
    ])
  func errorNullIsUnknown(_ example: Case) throws {
    let operation = try Samples.operation(example.operation)
    let outcome = Answers.normalise(try Answers.answer(example.answer), operation)
    #expect(Answers.root(outcome.answer) == example.root)
    #expect(Answers.lines(outcome.answer) == example.entities)
    #expect((outcome.answer.result?.errors == nil) == (example.root == nil))
  }

  @Test("Embedded objects are marked for merging")
  func marksEmbeddedObjectsForMerging() throws {
    let operation = try Samples.operation(
      "query A { film(id: 9) { id poster { artist { id } } cast { edges { role } } director { id } } }"
    )
    let outcome = Answers.normalise(
      try Answers.answer(
        #"{"data":{"film":{"id":"9","poster":{"artist":{"id":"p"}},"cast":{"edges":[{"role":"x","node":{"id":"q"}}]},"director":{"id":"p"}}}}"#
      ),
      operation)
    let film = try #require(outcome.answer.entities.first { $0.key.type == "Film" })
    #expect(film.fields.map(\.merges) == [false, true, true, false])
    #expect(outcome.keylessEntities == 0)
    #expect(outcome.answer.result?.types == ["Film", "Person"])
  }

  @Test("Entities without a key are counted")
  func countsKeylessEntities() throws {
    let operation = try Samples.operation("query A { topFilms { id } }")
    let outcome = Answers.normalise(
      try Answers.answer(#"{"data":{"topFilms":[{"id":null},{},{"id":[1]},{"id":""}]}}"#), operation
    )
    #expect(outcome.keylessEntities == 3)
    #expect(outcome.answer.entities.map(\.key) == [EntityKey(type: "Film", key: "")])
  }

  @Test("Types of empty lists and look-ups are included")
  func namesTypesOfEmptyListsAndLookups() throws {
    let operation = try Samples.operation(
      "query A { films { edges { node { id } } } genre(code: \"a\", lang: \"b\") { label } }")
    let outcome = Answers.normalise(
      try Answers.answer(#"{"data":{"films":{"edges":[]},"genre":null}}"#), operation)
    #expect(outcome.answer.result?.types == ["Film", "Genre"])
    #expect(
      outcome.answer.absences == [
        NormalisedResponse.Absence(
          key: EntityKey(type: "Genre", fields: ["a", "b"]), isAuthoritative: false)
      ])
  }

  @Test("A null look-up is an absence only without an error")
  func absenceRequiresNoError() throws {
    let operation = try Samples.operation(
      "query A($id: ID!) { film(id: $id) @authoritative { year } }")
    let variables = try operation.coerce(VariablesTests.parameters([("id", "9")]))
    let gone = Answers.normalise(
      try Answers.answer(#"{"data":{"film":null}}"#), operation, variables)
    #expect(
      gone.answer.absences == [
        NormalisedResponse.Absence(
          key: EntityKey(type: "Film", key: "9"), isAuthoritative: true)
      ])
    let failed = Answers.normalise(
      try Answers.answer(#"{"data":{"film":null},"errors":[{"message":"x","path":["film"]}]}"#),
      operation, variables)
    #expect(failed.answer.absences.isEmpty)
    #expect(Answers.root(failed.answer) == "{}")
  }

  @Test("Pages have digests and owners")
  func digestsPagesWithTheirOwners() throws {
    let operation = try Samples.operation(
      #"""
      query A { films(first: 2, year: 5) { edges { node { cast(after: "c") { edges { role } } } } } }
      """#)
    func pages(_ cursor: String) throws -> [ResultWrite.PageList] {
      let outcome = Answers.normalise(
        try Answers.answer(
          #"{"data":{"films":{"edges":[{"node":{"larder_Film_id":"9","cast":{"edges":[{"role":"\#(cursor)","node":{"larder_Person_id":"p"}}]}}}]}}}"#
        ),
        operation)
      return try #require(outcome.answer.result).pages
    }
    let first = try pages("a")
    #expect(first.map(\.owner) == [EntityKey(type: "Film", key: "9"), nil])
    #expect(first.map(\.page.family) == ["cast", #"films({"year":5})"#])
    #expect(first.map(\.page.isFirst) == [false, true])
    #expect(try pages("a").map(\.digest) == first.map(\.digest))
    #expect(try pages("b")[0].digest != first[0].digest)
  }

  private static let rate = #"""
    mutation Rate($id: ID!, $old: ID) @effects(
      updates: ["Film:$id"], deletes: ["Person:$old"], invalidates: ["Top"], appends: ["tag:t"]
    ) { rateFilm(id: $id, stars: 5) { id rating } deleteFilm(id: $old) }
    query Top @cache(tags: ["t"]) { topFilms { id } }
    """#

  private func rated(_ answer: String, scope: Scope = .public) throws -> NormalisedResponse {
    let registry = try Samples.registry(
      Self.rate.replacing("deleteFilm(id: $old)", with: "drop(id: $old)"),
      schema: Samples.schema + "\nextend type Mutation { drop(id: ID): Boolean }")
    let operation = try #require(registry.operation(named: "Rate"))
    let variables = try operation.coerce(VariablesTests.parameters([("id", "9"), ("old", "p")]))
    return Answers.normalise(
      try Answers.answer(answer), operation, variables,
      context: UpstreamCallContext(
        call: CallNumber(1), horizon: CallNumber(1), received: Timestamp(milliseconds: 0),
        scope: scope)
    ).answer
  }

  @Test("A mutation's response and declared effects are written")
  func writesMutationsThroughWithTheirEffects() throws {
    let answer = try rated(#"{"data":{"rateFilm":{"id":"9","rating":4.50},"drop":true}}"#)
    #expect(answer.result == nil)
    #expect(Answers.lines(answer) == [#"Film/9 {"id":"9","rating":4.50}"#])
    #expect(answer.deletions == [EntityKey(type: "Person", key: "p")])
    #expect(
      answer.invalidations == [
        .entity(EntityKey(type: "Film", key: "9")), .operation("Top"), .tag("t"),
      ])
    #expect(!answer.marksPublicCopies)
    let own = try rated(#"{"data":{"rateFilm":null,"drop":true}}"#, scope: .user("u"))
    #expect(own.marksPublicCopies)
  }

  @Test("A partly failed mutation invalidates instead of deleting")
  func partialMutationInvalidates() throws {
    let answer = try rated(
      #"{"data":{"rateFilm":null,"drop":null},"errors":[{"message":"x","path":["drop"]}]}"#)
    #expect(answer.deletions.isEmpty)
    #expect(answer.invalidations.contains(.entity(EntityKey(type: "Person", key: "p"))))
    let refused = try rated(#"{"errors":[{"message":"x"}]}"#)
    #expect(refused.invalidations.isEmpty)
  }
}
