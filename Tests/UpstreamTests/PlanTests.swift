import GraphQL
import Model
import Testing

@testable import Upstream

struct PlanTests {
  @Test("Missing keys and __typename are added")
  func addsKeysAndTypenameWhereMissing() throws {
    let operation = try Samples.operation(
      #"""
      query A($id: ID!) @cache(maxAge: 1) {
        film(id: $id) @authoritative { title director { id name } ...P }
        search(text: "x") { ... on Film { year } ... on Stats { films } }
        node(id: $id) { __typename ... on Person { name } }
      }
      fragment P on Film { genres @complete { label } }
      """#)
    #expect(
      operation.document == """
        query A($id: ID!) {
          film(id: $id) {
            larder_Film_id: id
            title
            director {
              id
              name
            }
            ...P
          }
          search(text: "x") {
            larder_typename: __typename
            ... on Film {
              larder_Film_id: id
            }
            ... on Person {
              larder_Person_id: id
            }
            ... on Film {
              year
            }
            ... on Stats {
              films
            }
          }
          node(id: $id) {
            larder_Node_id: id
            __typename
            ... on Person {
              name
            }
          }
        }

        fragment P on Film {
          genres {
            larder_Genre_code: code
            larder_Genre_lang: lang
            label
          }
        }

        """)
  }

  @Test("Conditional key fields are added unconditionally")
  func doesNotTrustConditionalKeys() throws {
    let operation = try Samples.operation(
      "query A($x: Boolean!) { film(id: 1) { id @include(if: $x) ... @skip(if: $x) { id } } }")
    #expect(operation.document.contains("larder_Film_id: id"))
    let sound = try Samples.operation(
      "query A { film(id: 1) { ... @include(if: true) { ... on Node { id } } title } }")
    #expect(!sound.document.contains("larder_"))
  }

  @Test("Sent documents are valid against the schema")
  func sendsValidDocuments() throws {
    let registry = try Samples.registry(GeneratedOperations.handWritten)
    let schema = try Schema.build(
      sdl: Samples.schema.replacing("@key(fields: \"code lang\")", with: ""))
    for operation in registry.operations {
      let source = Source(name: operation.name, body: operation.document)
      let faults = Validator.validate(try Parser.parse(source), against: schema)
      #expect(faults.isEmpty, "\(faults)\n\(operation.document)")
    }
  }

  private func fields(_ operation: RegisteredOperation, _ query: [(String, String)]) throws
    -> [SelectedField]
  {
    let variables = try operation.coerce(VariablesTests.parameters(query))
    return try #require(operation.selection(for: variables).single).fields
  }

  @Test("Storage names contain canonical arguments")
  func namesFieldsByCanonicalArguments() throws {
    let operation = try Samples.operation(
      """
      query A($w: Int!, $s: Size, $id: ID = 5, $flag: String) {
        a: film(id: 5) { id p: poster(crop: { w: $w }, size: $s) { url } }
        b: film(id: $id) { id poster(size: LARGE, crop: null) { url } title year }
        c: search(text: "é", filter: { title: $flag, genres: "x" }) { __typename }
      }
      """)
    let root = try fields(operation, [("w", "4")])
    #expect(
      root.map(\.storageName) == [
        #"film({"id":"5"})"#, #"film({"id":"5"})"#,
        #"search({"filter":{"genres":["x"]},"text":"é"})"#,
      ])
    #expect(root[0].lookup == EntityKey(type: "Film", key: "5"))
    guard case .object(let a) = root[0].value, case .object(let b) = root[1].value else {
      Issue.record("no objects")
      return
    }
    #expect(
      a.single?.fields.map(\.storageName) == [
        "id", #"poster({"crop":{"w":4,"x":0,"y":0},"size":"SMALL"})"#,
      ])
    #expect(
      b.single?.fields.map(\.storageName) == [
        "id", #"poster({"crop":null,"size":"LARGE"})"#, #"title({"lang":"en"})"#, "year",
      ])
  }

  @Test("Conditions decide which fields are selected, in response order")
  func decidesConditions() throws {
    let operation = try Samples.operation(
      """
      query A($x: Boolean!, $y: Boolean = true) {
        version @include(if: $x) stats @skip(if: $x) { films } v: version @include(if: $y)
        ... @include(if: $y) { version }
      }
      """)
    #expect(try fields(operation, [("x", "true")]).map(\.responseName) == ["version", "v"])
    #expect(
      try fields(operation, [("x", "false")]).map(\.responseName) == ["stats", "v", "version"])
    #expect(
      try fields(operation, [("x", "false"), ("y", "false")]).map(\.responseName) == ["stats"])
  }

  @Test("Selections that no variable affects are shared")
  func sharesConstantSelections() throws {
    let shared = try Samples.operation(
      "query A($x: Boolean!) { version @include(if: $x) stats { films } }")
    let variables = try shared.coerce(VariablesTests.parameters([("x", "true")]))
    #expect(shared.selection(for: variables) === shared.selection(for: variables))
    let open = try Samples.operation("query A($id: ID!) { film(id: $id) { title } }")
    let nine = try open.coerce(VariablesTests.parameters([("id", "9")]))
    let selection = open.selection(for: nine)
    #expect(selection !== open.selection(for: nine))
    guard case .object(let first)? = selection.single?.fields[0].value,
      case .object(let second)? = open.selection(for: nine).single?.fields[0].value
    else {
      Issue.record("no objects")
      return
    }
    #expect(first === second)
  }

  @Test(
    "Pages of connections are detected by argument names",
    arguments: [
      ("films { totalCount }", "films", true),
      ("films(first: 5) { totalCount }", "films", true),
      (#"films(first: 5, after: "a") { totalCount }"#, "films", false),
      (#"films(year: 3, after: null) { totalCount }"#, #"films({"year":3})"#, true),
    ])
  func detectsPages(field: String, family: String, isFirst: Bool) throws {
    let operation = try Samples.operation("query A { \(field) }")
    let selected = try #require(operation.selection(for: .none).single?.fields.first)
    #expect(selected.page == SelectedField.Page(family: family, isFirst: isFirst))
  }

  @Test("Non-null levels and look-ups are planned")
  func nonNullLevelsAndLookups() throws {
    let operation = try Samples.operation(
      "query A { topFilms { id } node(id: 1) { id } genre(code: \"a\", lang: \"b\") { label } }")
    let fields = try #require(operation.selection(for: .none).single).fields
    #expect(fields[0].nonNull == [true, true])
    #expect(fields[1].lookup == nil)
    #expect(fields[2].lookup == EntityKey(type: "Genre", fields: ["a", "b"]))
    guard case .object(let node) = fields[1].value else {
      Issue.record("no object")
      return
    }
    #expect(node.typenameResponseName == "larder_typename")
    #expect(node.single == nil)
    #expect(node.types.keys.sorted() == ["Film", "Person"])
  }

  @Test("Effect targets are resolved with variables")
  func resolvesTargets() throws {
    let operation = try Samples.operation(
      #"""
      mutation A($input: FilmInput!, $genre: JSON)
        @effects(updates: ["Film:$input.id", "Genre:$genre"]) { addFilm(input: $input) { id } log(value: $genre) }
      """#, schema: Samples.schema + "\nextend type Mutation { log(value: JSON): String }")
    let set = try operation.coerce(
      .body(
        Array(#"{"input":{"id":9,"title":"x"},"genre":{"lang":"de","code":"noir"}}"#.utf8)))
    #expect(
      operation.effects.updates.map { operation.resolve($0, with: set) } == [
        .entity(EntityKey(type: "Film", key: "9")),
        .entity(EntityKey(type: "Genre", fields: ["noir", "de"])),
      ])
    let unset = try operation.coerce(.body(Array(#"{"input":{"title":"x"}}"#.utf8)))
    #expect(operation.effects.updates.map { operation.resolve($0, with: unset) } == [nil, nil])
  }
}
