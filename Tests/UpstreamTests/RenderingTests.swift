import LosslessJSON
import Model
import Testing

@testable import Upstream

struct RenderingTests {
  @Test(
    "A response is rendered with the selected fields only",
    arguments: [
      (
        "query A { film(id: 9) { title node: director { name } } }",
        #"{ "data" : {"film":{"larder_Film_id":"9","title":"\u00e9","node":{"larder_Person_id":"p","name":"n"}}}, "extensions": {"cost": 1}}"#,
        #"{"data":{"film":{"title":"\u00e9","node":{"name":"n"}}}}"#
      ),
      (
        #"query A { search(text: "x") { ... on Film { year } ... on Stats { films } } }"#,
        #"{"data":{"search":[{"larder_typename":"Film","larder_Film_id":"1","year":1},null,{"larder_typename":"Podcast","larder_x":1,"n":{"larder_y":2}}]}}"#,
        #"{"data":{"search":[{"year":1},null,{}]}}"#
      ),
      (
        "query A { version }", #"{"data":null,"errors":[{"message":"x", "path":["version"]}]}"#,
        #"{"data":null,"errors":[{"message":"x","path":["version"]}]}"#
      ),
      ("query A { version }", #"{"errors":[{"message":"x"}]}"#, #"{"errors":[{"message":"x"}]}"#),
      (
        "query A { film(id: 9) { notes id } }",
        #"{"data":{"film":{"notes":{"larder_x":1},"id":"9","extra":2}}}"#,
        #"{"data":{"film":{"notes":{"larder_x":1},"id":"9"}}}"#
      ),
      (
        "query A { version film(id: 9) { title } }",
        #"{"data":{"secret":1,"version":"1","film":{"title":"a","x":{"title":"b"},"title":"c"},"version":"2"}}"#,
        #"{"data":{"version":"2","film":{"title":"c"}}}"#
      ),
    ])
  func rendersSelection(operation: String, answer: String, body: String) throws {
    let operation = try Samples.operation(operation)
    let rendered = UpstreamResponseRenderer.render(
      try Answers.answer(answer), selection: operation.selection(for: .none))
    #expect(Answers.text(rendered) == body)
  }

  private static let film = """
    query A { film(id: 9) { year director { name born } poster { url width } } topFilms { year } version }
    """

  private func store(_ answers: String...) throws -> (TinyStore, RegisteredOperation) {
    let operation = try Samples.operation(Self.film)
    var store = TinyStore()
    for answer in answers {
      store.apply(Answers.normalise(try Answers.answer(answer), operation).answer)
    }
    return (store, operation)
  }

  private static let good = #"""
    {"data":{"film":{"larder_Film_id":"9","year":1,"director":{"larder_Person_id":"p","name":"n","born":"b"},"poster":{"url":"u","width":5}},"topFilms":[{"larder_Film_id":"9","year":1},{"larder_Film_id":"8","year":2}],"version":"1"}}
    """#

  @Test("Stored results are rendered in the operation's order")
  func rendersInOperationOrder() throws {
    let (store, operation) = try store(Self.good)
    let rendered = try store.render(operation)
    #expect(rendered.isComplete)
    #expect(
      Answers.text(rendered.body)
        == #"{"data":{"film":{"year":1,"director":{"name":"n","born":"b"},"poster":{"url":"u","width":5}},"topFilms":[{"year":1},{"year":2}],"version":"1"}}"#
    )
  }

  @Test("Deleted entities are dropped, and evicted ones are misses")
  func deletedAndEvictedEntities() throws {
    var (store, operation) = try store(Self.good)
    store.delete(EntityKey(type: "Film", key: "9"))
    let rendered = try store.render(operation)
    #expect(rendered.isComplete)
    #expect(
      Answers.text(rendered.body)
        == #"{"data":{"film":null,"topFilms":[{"year":2}],"version":"1"}}"#)
    store.evict(EntityKey(type: "Film", key: "8"))
    #expect(try store.render(operation).misses == ["topFilms.1"])
  }

  private static let failing = #"""
    {"data":{"film":{"larder_Film_id":"9","year":null,"director":null,"poster":{"url":"u","width":null}},"topFilms":[{"larder_Film_id":"9","year":null}],"version":"2"},
     "errors":[{"message":"a","path":["film","year"]},{"message":"b","path":["film","director","name"]},
     {"message":"c","path":["film","poster","width"]},{"message":"d","path":["topFilms",0,"year"]}]}
    """#

  private static let errors = #"""
    "errors":[{"message":"a","path":["film","year"]},{"message":"b","path":["film","director","name"]},{"message":"c","path":["film","poster","width"]},{"message":"d","path":["topFilms",0,"year"]}]
    """#

  @Test("Failed fields are filled with last-good values")
  func fillsErroredFieldsWithLastGoodValues() throws {
    let (store, operation) = try store(Self.good, Self.failing)
    let rendered = try store.render(operation, onError: .fill)
    #expect(rendered.isComplete)
    #expect(rendered.stalePositions == 4)
    #expect(
      Answers.text(rendered.body)
        == #"{"data":{"film":{"year":1,"director":{"name":"n","born":"b"},"poster":{"url":"u","width":5}},"topFilms":[{"year":1}],"version":"2"},\#(Self.errors),"stale":[["film","year"],["film","director"],["film","poster","width"],["topFilms",0,"year"]]}"#
    )
  }

  @Test("Failed fields are null under PARTIAL")
  func leavesErroredFieldsNullUnderPartial() throws {
    let (store, operation) = try store(Self.good, Self.failing)
    let rendered = try store.render(operation, onError: .partial)
    #expect(rendered.isComplete && rendered.stalePositions == 0)
    #expect(
      Answers.text(rendered.body)
        == #"{"data":{"film":{"year":null,"director":null,"poster":{"url":"u","width":null}},"topFilms":[{"year":null}],"version":"2"},\#(Self.errors)}"#
    )
  }

  @Test("The first failure has no value to fill with")
  func firstFailureHasNoFill() throws {
    let (store, operation) = try store(Self.failing)
    let rendered = try store.render(operation, onError: .fill)
    #expect(rendered.isComplete && rendered.stalePositions == 0)
    #expect(
      Answers.text(rendered.body).hasPrefix(#"{"data":{"film":{"year":null,"director":null,"#))
  }

  @Test("An old list is kept over a list with a hole")
  func keepsListOverHole() throws {
    let operation = try Samples.operation(
      #"query A { search(text: "x") { ... on Film { year } } }"#)
    let hole = #"""
      {"data":{"search":[{"larder_typename":"Film","larder_Film_id":"1","year":2},null]},"errors":[{"message":"x","path":["search",1]}]}
      """#
    var store = TinyStore()
    store.apply(Answers.normalise(try Answers.answer(hole), operation).answer)
    // Nothing better was ever stored: what there is, marked.
    #expect(
      Answers.text(try store.render(operation, onError: .fill).body)
        == #"{"data":{"search":[{"year":2},null]},"errors":[{"message":"x","path":["search",1]}],"stale":[["search"]]}"#
    )
    store = TinyStore()
    store.apply(
      Answers.normalise(
        try Answers.answer(
          #"{"data":{"search":[{"larder_typename":"Film","larder_Film_id":"1","year":1}]}}"#),
        operation
      ).answer)
    store.apply(Answers.normalise(try Answers.answer(hole), operation).answer)
    let rendered = try store.render(operation, onError: .fill)
    #expect(
      Answers.text(rendered.body)
        == #"{"data":{"search":[{"year":2}]},"errors":[{"message":"x","path":["search",1]}],"stale":[["search"]]}"#
    )
  }

  @Test("Every path that is not stored is a miss")
  func listsMisses() throws {
    let registry = try Samples.registry(
      """
      query A { topFilms { id year } version }
      query B { topFilms { id year rating poster { url } } version stats { films } }
      """)
    let a = try #require(registry.operation(named: "A"))
    let b = try #require(registry.operation(named: "B"))
    var answer = Answers.normalise(
      try Answers.answer(#"{"data":{"topFilms":[{"id":"1","year":1}],"version":"1"}}"#), a
    ).answer
    answer.result = answer.result.map {
      ResultWrite(
        key: ResultKey(operation: "B", variables: "{}", scope: .public), root: $0.root,
        types: $0.types)
    }
    var store = TinyStore()
    store.apply(answer)
    #expect(
      try store.render(b).misses == ["topFilms.0.rating", "topFilms.0.poster", "stats"])
  }

  @Test("A field is read from the narrowest layer that has it")
  func readsNarrowestLayer() throws {
    let operation = try Samples.operation("query A { film(id: 9) { id year rating } }")
    let layers = [#"{"year":2}"#, #"{"id":"9","year":1,"rating":5}"#].map { Array($0.utf8) }
    let result = ResultSnapshot(
      key: ResultKey(operation: "A", variables: "{}", scope: .public), call: .none,
      received: Timestamp(milliseconds: 0),
      root: Array(#"{"film({\"id\":\"9\"})":{"$ref":["Film","9"]}}"#.utf8), errors: nil,
      isDue: false,
      entities: [EntityKey(type: "Film", key: "9"): EntityRecord(layers: layers)],
      revision: .zero)
    let rendered = ResultRenderer.render(
      result, selection: operation.selection(for: .none), onError: .fill)
    #expect(Answers.text(rendered.body) == #"{"data":{"film":{"id":"9","year":2,"rating":5}}}"#)
  }
}
