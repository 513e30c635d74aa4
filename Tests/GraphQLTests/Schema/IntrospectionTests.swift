import GraphQL
import LosslessJSON
import TestSupport
import Testing

struct IntrospectionTests {
  private static func answer(types: [JSONValue], directives: [JSONValue] = []) -> JSONValue {
    [
      "data": [
        "__schema": [
          "queryType": ["name": "Query"], "mutationType": nil,
          "types": .array(types), "directives": .array(directives),
        ]
      ]
    ]
  }

  private static let query: JSONValue = [
    "kind": "OBJECT", "name": "Query",
    "fields": [
      ["name": "a", "args": [], "type": ["kind": "SCALAR", "name": "Int", "ofType": nil]]
    ],
  ]

  @Test("Members that an old server lacks are absent")
  func toleratesOldServers() throws {
    let interface: JSONValue = [
      "kind": "INTERFACE", "name": "Node", "interfaces": nil,
      "fields": [
        ["name": "id", "type": ["kind": "NON_NULL", "ofType": ["kind": "SCALAR", "name": "ID"]]]
      ],
    ]
    let legacy: JSONValue = [
      "name": "old", "onField": true, "locations": ["FIELD", "FROM_THE_FUTURE"],
    ]
    let schema = try Schema.build(
      introspection: Self.answer(types: [Self.query, interface], directives: [legacy]))
    #expect("\(try #require(schema.type(named: "Node")?.fields["id"]).type)" == "ID!")
    #expect(schema.directive(named: "old")?.locations == [.field])
    #expect(schema.directive(named: "skip") != nil)
    #expect(schema.validate().isEmpty)
  }

  @Test(
    "The schema is found in a response, its data, or alone",
    arguments: ["data", "__schema", "schema"])
  func findsTheSchema(level: String) throws {
    let whole = Self.answer(types: [Self.query])
    let data = try #require(whole["data"])
    let answer =
      level == "data" ? whole : level == "__schema" ? data : try #require(data["__schema"])
    #expect(try Schema.build(introspection: answer).type(named: "Query") != nil)
  }

  @Test(
    "Malformed introspection is refused",
    arguments: [
      ("{}", "no \"__schema\""), ("[]", "no \"__schema\""), ("{\"data\": null}", "no \"__schema\""),
      ("{\"__schema\": {\"types\": []}}", "no query type"),
      (
        "{\"__schema\": {\"queryType\": {\"name\": \"Q\"}, \"types\": [{\"kind\": \"OBJECT\"}]}}",
        "no name"
      ),
      (
        "{\"__schema\": {\"queryType\": {\"name\": \"Q\"}, \"types\": [{\"name\": \"A B\"}]}}",
        "no name"
      ),
      (
        "{\"__schema\": {\"queryType\": {\"name\": \"Q\"}, \"types\": [{\"name\": \"A\", \"kind\": \"X\"}]}}",
        "unknown kind"
      ),
      (
        "{\"__schema\": {\"queryType\": {\"name\": \"Q\"}, \"types\": [{\"name\": \"A\", \"kind\": \"OBJECT\", \"fields\": [{\"name\": \"f\"}]}]}}",
        "has no type"
      ),
      (
        "{\"__schema\": {\"queryType\": {\"name\": \"Q\"}, \"types\": [{\"name\": \"A\", \"kind\": \"INPUT_OBJECT\", \"inputFields\": [{\"name\": \"f\", \"type\": {\"name\": \"Int\"}, \"defaultValue\": \"{\"}]}]}}",
        "not a valid GraphQL value"
      ),
    ])
  func refusesMalformedIntrospection(text: String, words: String) throws {
    let answer = try JSONValue(parsing: text)
    let faults = #expect(throws: Faults.self) { try Schema.build(introspection: answer) }
    #expect(
      faults?.all.contains { $0.message.contains(words) } == true, "\(String(describing: faults))")
  }

  @Test("The introspection queries are valid", arguments: IntrospectionQuery.all)
  func queriesAreValid(query: String) throws {
    let schema = try Schema.build(sdl: "type Query { a: Int }")
    let document = try Parser.parse(Source(body: query))
    #expect(Validator.validate(document, against: schema).isEmpty)
  }
}
