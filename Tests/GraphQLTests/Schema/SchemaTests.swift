import GraphQL
import Testing

struct SchemaTests {
  private static let sdl = """
    "The library"
    schema @link { query: Root }
    directive @link on SCHEMA | OBJECT
    scalar Date @specifiedBy(url: "https://example.com")
    interface Node { id: ID! }
    interface Media implements Node { id: ID! }
    type Film implements Media & Node { id: ID! title(lang: Lang = EN): String @deprecated }
    type Person implements Node { id: ID! }
    union Hit = Film | Person
    enum Lang { EN DE @deprecated(reason: "no") }
    input Filter @oneOf { title: String year: Int }
    type Root { film: Film }
    extend type Root @link { hits(filter: Filter): [Hit!]! }
    extend enum Lang { FR }
    extend interface Node @link2
    directive @link2 on INTERFACE
    """

  @Test("Types, fields and directives of SDL are found")
  func findsDeclarations() throws {
    let schema = try Schema.build(sdl: Self.sdl)
    #expect(schema.description == "The library")
    #expect(schema.rootName(for: .query) == "Root")
    #expect(schema.rootType(for: .mutation) == nil)
    #expect(schema.type(named: "Date")?.specifiedByURL == "https://example.com")
    #expect(schema.type(named: "Filter")?.isOneOf == true)
    #expect(schema.type(named: "Root")?.fields.names == ["film", "hits"])
    #expect(schema.type(named: "Lang")?.values.names == ["EN", "DE", "FR"])
    #expect(schema.type(named: "Lang")?.values["DE"]?.deprecationReason == "no")
    let title = try #require(schema.type(named: "Film")?.fields["title"])
    #expect(title.deprecationReason == "No longer supported")
    #expect(title.arguments["lang"]?.defaultValue?.kind == .enum("EN"))
    #expect(schema.type(named: "Root")?.directives.map(\.name.value) == ["link"])
    #expect(schema.type(named: "Nothing") == nil)
  }

  @Test("The possible types of abstract types are known")
  func findsPossibleTypes() throws {
    let schema = try Schema.build(sdl: Self.sdl)
    let type = { (name: String) throws in try #require(schema.type(named: name)) }
    #expect(schema.possibleTypes(of: try type("Node")).map(\.name) == ["Film", "Person"])
    #expect(schema.possibleTypes(of: try type("Media")).map(\.name) == ["Film"])
    #expect(schema.possibleTypes(of: try type("Hit")).map(\.name) == ["Film", "Person"])
    #expect(schema.possibleTypes(of: try type("Film")).map(\.name) == ["Film"])
    #expect(schema.possibleTypes(of: try type("Lang")).isEmpty)
    #expect(schema.isSubType("Media", of: "Node"))
    #expect(!schema.isSubType("Node", of: "Media"))
    #expect(!schema.isSubType("Film", of: "Film"))
    #expect(schema.typesOverlap(try type("Media"), try type("Hit")))
    #expect(!schema.typesOverlap(try type("Media"), try type("Person")))
  }

  @Test(
    "Type references are compared by covariance",
    arguments: [
      ("Film!", "Node", true), ("Film", "Node!", false), ("[Film!]!", "[Node]", true),
      ("[Film]", "Film", false), ("Film", "[Film]", false), ("Node", "Film", false),
      ("[[Int!]]!", "[[Int]]", true), ("Int", "Int", true), ("Int", "Float", false),
    ])
  func comparesReferences(type: String, other: String, isSubType: Bool) throws {
    let schema = try Schema.build(sdl: Self.sdl)
    let type = try Parser.parseType(Source(body: type))
    let other = try Parser.parseType(Source(body: other))
    #expect(schema.isSubType(type, of: other) == isSubType)
  }

  @Test("Meta fields are found on the types that have them")
  func findsMetaFields() throws {
    let schema = try Schema.build(sdl: Self.sdl)
    let root = try #require(schema.type(named: "Root"))
    let union = try #require(schema.type(named: "Hit"))
    #expect(schema.field(named: "__schema", on: root)?.type.name.value == "__Schema")
    #expect(schema.field(named: "__type", on: root)?.arguments["name"]?.isRequired == true)
    #expect(schema.field(named: "__typename", on: union) != nil)
    #expect(schema.field(named: "__schema", on: union) == nil)
    #expect(schema.type(named: "__Schema")?.fields["types"] != nil)
    #expect(schema.directive(named: "include")?.locations.contains(.field) == true)
  }

  @Test("Printed SDL builds the same schema")
  func printedSchemaRoundTrips() throws {
    let schema = try Schema.build(sdl: Self.sdl)
    let again = try Schema.build(sdl: schema.sdl)
    #expect(again.sdl == schema.sdl)
    #expect(!schema.sdl.contains("__Type"))
    #expect(!schema.sdl.contains("scalar Int"))
    #expect(schema.sdl.contains("input Filter @oneOf {"))
    #expect(schema.sdl.contains("\"\"\"The library\"\"\"\nschema @link {\n  query: Root\n}"))
  }

  @Test("A default schema definition is not printed")
  func omitsDefaultSchemaDefinition() throws {
    #expect(try Schema.build(sdl: "type Query { a: Int }").sdl == "type Query {\n  a: Int\n}\n")
  }

  @Test("Root types have default names")
  func usesDefaultRootNames() throws {
    let schema = try Schema.build(
      sdl: "type Query { a: Int } type Mutation { b: Int } type Other { c: Int }")
    #expect(schema.rootName(for: .query) == "Query")
    #expect(schema.rootName(for: .mutation) == "Mutation")
    #expect(schema.rootName(for: .subscription) == nil)
  }

  @Test("Documents extend a base schema")
  func extendsASchema() throws {
    let base = try Schema.build(sdl: Self.sdl)
    let more = try Parser.parse(
      Source(
        name: "local.graphql",
        body: """
          type Draft @link { id: ID! film: Film }
          extend type Film { drafts: [Draft!]! }
          directive @local on FIELD
          """))
    let schema = try Schema.build([more], extending: base)
    #expect(schema.rootName(for: .query) == "Root")
    #expect(schema.type(named: "Film")?.fields.names == ["id", "title", "drafts"])
    #expect(schema.directive(named: "local") != nil)
    #expect(schema.possibleTypes(of: try #require(schema.type(named: "Hit"))).count == 2)
    #expect(throws: Faults.self) { try Schema.build([more], extending: schema) }
  }

  @Test("A schema is built from several files")
  func buildsFromSeveralFiles() throws {
    let files = try ["extend type Query { b: B }", "type Query { a: Int }", "type B { c: Query }"]
      .map { try Parser.parse(Source(body: $0)) }
    #expect(try Schema.build(files).type(named: "Query")?.fields.names == ["a", "b"])
  }

  @Test("Tolerated rules are not reported")
  func toleratesRules() throws {
    let document = try Parser.parse(Source(body: "type Query @aws_iam { a: Int @unknown(x: 1) }"))
    #expect(throws: Faults.self) { try Schema.build([document]) }
    let schema = try Schema.build([document], tolerating: [.knownDirectives])
    #expect(schema.type(named: "Query")?.directives.map(\.name.value) == ["aws_iam"])
  }

  @Test("A long cycle of input types is found without recursion")
  func findsLongInputCycles() throws {
    let count = 20_000
    let types = (0..<count).map { "input I\($0) { next: I\(($0 + 1) % count)! }" }
    let text = "type Query { a(i: I0): Int }\n" + types.joined(separator: "\n")
    let (_, faults) = Schema.buildRecovering([try Parser.parse(Source(body: text))])
    #expect(faults.count == 1)
    #expect(faults[0].message.contains("within itself"))
  }
}

struct NearestNamesTests {
  @Test(
    "Similar names are suggested, nearest first",
    arguments: [
      ("titel", ["title", "year"], ["title"]), ("", ["a"], []), ("a", ["b"], []),
      ("a", ["A"], ["A"]),
      ("abc", [], []),
      ("verylongname", ["short"], []), ("FILM", ["film", "firm"], ["film", "firm"]),
      ("ab", ["ba", "abc", "xy"], ["abc", "ba"]), ("aaaa", ["bbbb"], []),
      ("green", ["greem", "geren", "gren", "red"], ["geren", "greem", "gren", "red"]),
    ])
  func suggestsSimilarNames(name: String, names: [String], expected: [String]) {
    #expect(NearestNames.suggestions(for: name, among: names) == expected)
  }

  @Test("Suggestions are phrased as a question")
  func phrasesAQuestion() {
    #expect(NearestNames.didYouMean([]) == "")
    #expect(NearestNames.didYouMean(["a"]) == " Did you mean \"a\"?")
    #expect(NearestNames.didYouMean(["a", "b"]) == " Did you mean \"a\" or \"b\"?")
    #expect(NearestNames.didYouMean(["a", "b", "c"]) == " Did you mean \"a\", \"b\" or \"c\"?")
    #expect(NearestNames.didYouMean(["a", "b", "c", "d", "e", "f"]).contains("\"d\" or \"e\"?"))
    #expect(NearestNames.didYouMean("yaer", among: ["year", "id"]) == " Did you mean \"year\"?")
  }
}
