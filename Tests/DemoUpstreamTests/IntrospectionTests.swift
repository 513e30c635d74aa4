import GraphQL
import LosslessJSON
import TestSupport
import Testing

@testable import DemoUpstream

struct IntrospectionTests {
  @Test("The introspected schema equals the original")
  func introspectionRoundTrips() throws {
    let answer = try DemoCall()(IntrospectionQuery.newest)
    let schema = try Schema.build(introspection: answer)
    #expect(schema.sdl == FilmsSchema.schema.sdl)
  }

  @Test(
    "Introspection returns parts of the schema",
    arguments: [
      ("{ __type(name: \"Country\") { kind name fields { name } enumValues { name } } }", "BR"),
      ("{ __type(name: \"Film\") { interfaces { name } possibleTypes { name } } }", "Work"),
      ("{ __type(name: \"SearchResult\") { possibleTypes { name } } }", "Series"),
      ("{ __type(name: \"FilmOrder\") { inputFields { name defaultValue } } }", "ASC"),
      ("{ __schema { queryType { name } mutationType { name } } }", "Mutation"),
      (
        "{ __schema { directives { name locations args { name type { kind ofType { name } } } } } }",
        "FRAGMENT_SPREAD"
      ),
      ("{ __type(name: \"Long\") { __typename kind specifiedByURL } }", "__Type"),
    ])
  func introspectsParts(query: String, word: String) throws {
    let answer = try DemoCall()(query)
    #expect(answer["errors"] == nil && answer.text.contains("\"\(word)\""), "\(answer)")
  }

  @Test("Deprecated fields are hidden unless requested")
  func hidesDeprecatedFields() throws {
    let call = DemoCall()
    let usual = try call("{ __type(name: \"Film\") { fields { name } } }")
    let all = try call(
      "{ __type(name: \"Film\") { fields(includeDeprecated: true) { name isDeprecated deprecationReason } } }"
    )
    #expect(!usual.text.contains("\"length\""))
    #expect(
      all.text.contains(
        #"{"name":"length","isDeprecated":true,"deprecationReason":"Use `runtimeMinutes`."}"#))
  }

  @Test("An unknown type is null")
  func anUnknownTypeIsNull() throws {
    #expect(try DemoCall()("{ __type(name: \"Nothing\") { name } }")["data"] == ["__type": nil])
  }
}
