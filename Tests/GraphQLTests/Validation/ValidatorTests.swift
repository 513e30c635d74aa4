import GraphQL
import Testing

struct ValidatorTests {
  private static let schema = Result {
    try Schema.build(sdl: ReferenceValidator.fixture("films.graphql"), name: "films.graphql")
  }

  private static func faults(_ text: String, name: String = "GraphQL") throws -> [Fault] {
    let document = try Parser.parse(Source(name: name, body: text))
    return Validator.validate(document, against: try schema.get())
  }

  /// A document and its only fault.
  @Test(
    "Each rule reports its message",
    arguments: [
      (
        "{ film(id: 1) { titel } }",
        "Cannot query field \"titel\" on type \"Film\". Did you mean \"title\"?"
      ),
      (
        "{ media { year } }",
        "Cannot query field \"year\" on type \"Media\". Did you mean to use an inline fragment on \"Film\" or \"Series\"?"
      ),
      (
        "{ owner(id: 1, exact: true) { name } }",
        "Cannot query field \"name\" on type \"Owner\". Did you mean to use an inline fragment on \"Named\", \"Person\" or \"Studio\"?"
      ),
      (
        "{ fims { id } }",
        "Cannot query field \"fims\" on type \"Query\". Did you mean \"films\" or \"film\"?"
      ),
      (
        "{ film { id } }",
        "Field \"film\" argument \"id\" of type \"ID!\" is required, but it was not provided."
      ),
      (
        "{ film(id: 1, idd: 2) { id } }",
        "Unknown argument \"idd\" on field \"Query.film\". Did you mean \"id\"?"
      ),
      (
        "{ films(where: {order: ASCC}) { id } }",
        "Value \"ASCC\" does not exist in \"Order\" enum. Did you mean \"ASC\"?"
      ),
      (
        "{ films(where: {order: \"ASC\"}) { id } }",
        "Enum \"Order\" cannot represent non-enum value: \"ASC\". Did you mean \"ASC\" or \"DESC\"?"
      ),
      (
        "{ films(where: {yaer: {}}) { id } }",
        "Field \"yaer\" is not defined by type \"FilmFilter\". Did you mean \"year\"?"
      ),
      ("{ films(ids: [1, null]) { id } }", "Expected value of type \"ID!\", found null."),
      ("{ search(text: 5) { __typename } }", "String cannot represent a non string value: 5"),
      (
        "{ search(text: \"\", limit: 3000000000) { __typename } }",
        "Int cannot represent non 32-bit signed integer value: 3000000000"
      ),
      (
        "{ named(key: {id: 1, name: \"a\"}) { id } }",
        "One-of input object \"Key\" must specify exactly one field."
      ),
      ("{ named(key: {id: null}) { id } }", "Field \"Key.id\" must be non-null."),
      (
        "query ($i: ID) { named(key: {id: $i}) { id } }",
        "Variable \"$i\" must be non-nullable to be used for one-of input object \"Key\"."
      ),
      (
        "query ($i: ID) { film(id: $i) { id } }",
        "Variable \"$i\" of type \"ID\" used in position expecting type \"ID!\"."
      ),
      (
        "query Q($i: ID!) { film(id: $ii) { id } a: film(id: $i) { id } }",
        "Variable \"$ii\" is not defined by operation \"Q\". Did you mean \"$i\"?"
      ),
      ("{ now @sip(if: true) }", "Unknown directive \"@sip\". Did you mean \"@skip\"?"),
      (
        "{ now ...Prt } fragment Part on Query { now }",
        "Unknown fragment \"Prt\". Did you mean \"Part\"?"
      ),
      (
        "{ now { a } }",
        "Field \"now\" must not have a selection since type \"Date!\" has no subfields."
      ),
      (
        "{ films }",
        "Field \"films\" of type \"[Film!]!\" must have a selection of subfields. Did you mean \"films { ... }\"?"
      ),
      (
        "{ films { ... on Series { id } } }",
        "Fragment cannot be spread here as objects of type \"Film\" can never be of type \"Series\"."
      ),
      ("{ films { ... on Sereis { id } } }", "Unknown type \"Sereis\". Did you mean \"Series\"?"),
      (
        "subscription S { a: filmAdded { id } b: filmAdded { id } }",
        "Subscription \"S\" must select only one top level field."
      ),
      (
        "{ films { a: title a: id } }",
        "Fields \"a\" conflict because \"title\" and \"id\" are different fields. Use different aliases on the fields to fetch both if this was intentional."
      ),
      (
        "{ films { friend: director { x: name } } films { friend: director { x: id } } }",
        "Fields \"films\" conflict because subfields \"friend\" conflict because subfields \"x\" conflict because \"name\" and \"id\" are different fields. Use different aliases on the fields to fetch both if this was intentional."
      ),
      (
        "{ media { ... on Film { y: year } ... on Series { y: year } } }",
        "Fields \"y\" conflict because they return conflicting types \"Int\" and \"String\". Use different aliases on the fields to fetch both if this was intentional."
      ),
    ])
  func reportsMessage(text: String, message: String) throws {
    let messages = try Self.faults(text).map(\.message)
    #expect(messages.contains(message), "\(messages)")
    #expect(
      Set(messages).subtracting([message]).allSatisfy { $0.contains("never used") }, "\(messages)")
  }

  @Test(
    "Valid documents have no faults",
    arguments: [
      "{ __schema { types { name } } __type(name: \"Film\") { fields(includeDeprecated: true) { name } } }",
      "{ media { ... on Film { y: rating(scale: 1) } ... on Series { z: year } } }",
      "{ media { ... on Film { owner { name } } ... on Series { owner { __typename } } } }",
      "{ films { ...A ...B } } fragment A on Film { id ...B } fragment B on Film { id title }",
      "query ($l: Int) { search(text: \"\", limit: $l) { __typename } }",
      "query ($d: Boolean) { films(where: {order: DESC}) { id @skip(if: true) } count(where: {a: [$d]}) }",
      "query ($e: Int = 3) { films { cast(first: $e) { id } } }",
      "mutation ($dry: Boolean) { addFilm(film: {title: \"\", genre: NOIR}, dry: $dry) { id } }",
      "{ films(where: {and: {order: ASC}}) { matrix extra } }",
      "{ count(where: {any: [1, \"a\", E, {b: null}]}) }",
      "subscription { ...S } fragment S on Subscription { rated(id: 1) rated(id: 1) }",
      "{ a: count @tag(name: \"a\") @tag(name: \"b\") }",
    ])
  func acceptsValidDocuments(text: String) throws {
    #expect(try Self.faults(text).isEmpty)
  }

  @Test("An operation without a root type is reported")
  func reportsMissingRootType() throws {
    let schema = try Schema.build(sdl: "type Query { a: Int }")
    let document = try Parser.parse(Source(body: "query A { a }\nmutation B { b }"))
    let faults = Validator.validate(document, against: schema)
    #expect(faults.map(\.rule) == [.knownOperationTypes])
    #expect(faults[0].positions == [SourcePosition(line: 2, column: 1)])
  }

  @Test("Fragments of other files are found")
  func joinsFiles() throws {
    let film = Source(name: "film.graphql", body: "query Film {\n  films { ...Card nope }\n}")
    let card = Source(name: "card.graphql", body: "fragment Card on Film { id titel }")
    let document = Document(joining: [try Parser.parse(film), try Parser.parse(card)])
    let faults = Validator.validate(document, against: try Self.schema.get())
    #expect(
      faults.map(\.report) == [
        """
        film.graphql:2:19: Cannot query field "nope" on type "Film". [FieldsOnCorrectType]
        2 |   films { ...Card nope }
          |                   ^
        """,
        """
        card.graphql:1:28: Cannot query field "titel" on type "Film". Did you mean "title"? \
        [FieldsOnCorrectType]
        1 | fragment Card on Film { id titel }
          |                            ^
        """,
      ])
  }

  @Test("Documents of the maximum depth are validated")
  func validatesDeepDocuments() throws {
    let schema = try Schema.build(sdl: "type Query { q(a: [Any]): Query i: Int } scalar Any")
    let open = String(repeating: "q { ", count: 100)
    let lists = String(repeating: "[", count: 98) + String(repeating: "]", count: 98)
    let text = "{ \(open) q(a: \(lists)) { i } \(String(repeating: "}", count: 100)) }"
    let document = try Parser.parse(Source(body: text))
    #expect(Validator.validate(document, against: schema).isEmpty)
    let twice = Document(joining: [document, document])
    #expect(
      Validator.validate(twice, against: schema).allSatisfy { $0.rule == .loneAnonymousOperation })
  }

  @Test("Only the given rules are checked")
  func checksGivenRules() throws {
    let document = try Parser.parse(Source(body: "query A($x: Int) { nope }"))
    let faults = Validator.validate(
      document, against: try Self.schema.get(), rules: [.noUnusedVariables])
    #expect(faults.map(\.rule) == [.noUnusedVariables])
  }
}
