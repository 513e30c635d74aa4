import LosslessJSON
import Model
import Testing

@testable import Upstream

/// `@cache(lookup:)`: its checks, its proposals, and the result that a call looks up.
struct LookupReaderTests {
  private static let schema = """
    type Query {
      film(id: ID!): Film
      filmById(filmId: String!): Film
      filmWhere(where: FilmKey!): Film
      filmsOf(id: ID!): [Film!]!
      person(id: ID!): Person
      node(id: ID!): Node
      place(name: String!): Place
      films: [Film!]!
    }
    input FilmKey { id: ID! }
    interface Node { id: ID! }
    type Film implements Node { id: ID! title: String }
    type Person implements Node { id: ID! }
    type Place { name: String! }
    """

  private static func load(_ text: String) -> LoadedRegistry {
    OperationRegistry.load(
      files: [SourceFile(path: "a.graphql", text: text)],
      schemaSources: [SourceFile(path: "schema.graphql", text: schema)],
      settings: RegistrySettings())
  }

  private static func operation(_ text: String) throws -> RegisteredOperation {
    let loaded = load(text)
    let registry = try #require(loaded.registry, "\(loaded.findings)")
    return try #require(registry.operations.first)
  }

  private static func cached(_ lookup: String, _ selection: String) -> String {
    "query Q($id: ID!) @cache(staleIfError: 60, lookup: \"\(lookup)\") { \(selection) }"
  }

  @Test(
    "A call looks up the entity that its variables name",
    arguments: [
      ("film(id: $id) { id title }", #"{"film({\"id\":\"7\"})":{"$ref":["Film","7"]}}"#),
      (
        "__typename a: film(id: $id) { title }",
        #"{"__typename":"Query","film({\"id\":\"7\"})":{"$ref":["Film","7"]}}"#
      ),
      ("filmById(filmId: $id) { id }", nil),
      ("...F", #"{"film({\"id\":\"7\"})":{"$ref":["Film","7"]}}"#),
      ("node(id: $id) { id }", #"{"node({\"id\":\"7\"})":{"$ref":["Film","7"]}}"#),
      ("film(id: $id) @skip(if: true) { id }", nil),
      (
        #"film(id: "8") { id } ... @skip(if: true) { film(id: "8") { title } node(id: $id) { id } }"#,
        nil
      ),
    ])
  func looksUpTheNamedEntity(selection: String, root: String?) throws {
    let fragment = selection == "...F" ? " fragment F on Query { film(id: $id) { id } }" : ""
    let loaded = Self.load(Self.cached("Film:$id", selection) + fragment)
    guard let operation = loaded.registry?.operations.first else {
      #expect(root == nil, "\(loaded.findings)")
      return
    }
    let variables = try operation.coerce(.value(["id": "7"]))
    let lookup = operation.lookup(with: variables)
    #expect(lookup.map { String(decoding: $0.root, as: UTF8.self) } == root)
    if root != nil { #expect(lookup?.key == EntityKey(type: "Film", key: "7")) }
  }

  @Test("The key can be in an input object")
  func keyInAnInputObject() throws {
    let operation = try Self.operation(
      """
      query Q($where: FilmKey!) @cache(staleIfError: 60, lookup: "Film:$where.id") {
        filmWhere(where: $where) { title }
      }
      """)
    let lookup = operation.lookup(with: try operation.coerce(.value(["where": ["id": "7"]])))
    #expect(lookup?.key == EntityKey(type: "Film", key: "7"))
    #expect(operation.cacheNote.contains("answered from the stored Film:$where.id"))
  }

  @Test(
    "A lookup that cannot be what the query returns is a fault",
    arguments: [
      ("Film:$id", "film(id: $id) { id } person(id: $id) { id }", "there are 2"),
      ("Film:$id", "filmsOf(id: $id) { id }", "filmsOf returns a list"),
      ("Film:$id", "person(id: $id) { id }", "names Film, but person returns Person"),
      ("Film", "film(id: $id) { id }", "must have the form Type:$variable"),
      ("Flim:$id", "film(id: $id) { id }", "unknown type"),
      ("Film:$no", "film(id: $id) { id }", "unknown variable"),
      ("Place:$id", "place(name: \"x\") { name } film(id: $id) { id }", "has no key"),
    ])
  func reportsFaults(lookup: String, selection: String, words: String) {
    let loaded = Self.load(Self.cached(lookup, selection))
    #expect(loaded.registry == nil)
    #expect(
      loaded.findings.contains { $0.severity == .fault && $0.message.contains(words) },
      "\(loaded.findings)")
  }

  @Test("A lookup without a period of stale data is reported")
  func reportsLookupWithoutEffect() {
    let loaded = Self.load(
      #"query Q($id: ID!) @cache(maxAge: 60, lookup: "Film:$id") { film(id: $id) { id } }"#)
    #expect(loaded.registry != nil)
    #expect(loaded.findings.map(\.severity) == [.warning])
    #expect(loaded.findings.first?.message.contains("staleIfError") == true)
  }

  @Test(
    "A lookup is proposed where a root field's argument looks like the key of its type",
    arguments: [
      ("($id: ID!) @cache(staleIfError: 60) { film(id: $id) { id } }", "Film:$id"),
      ("($f: String!) @cache(staleIfError: 60) { filmById(filmId: $f) { id } }", "Film:$f"),
      ("($id: ID!) @cache(staleIfError: 0) { film(id: $id) { id } }", nil),
      (#"($id: ID!) @cache(staleIfError: 60, lookup: "Film:$id") { film(id: $id) { id } }"#, nil),
      (#"@cache(staleIfError: 60) { film(id: "1") { id } }"#, nil),
      ("($id: ID!) @cache(staleIfError: 60) { filmsOf(id: $id) { id } }", nil),
      ("($id: ID!) @cache(staleIfError: 60) { node(id: $id) { id } }", nil),
      ("($n: String!) @cache(staleIfError: 60) { place(name: $n) { name } }", nil),
      ("($id: ID!) @cache(staleIfError: 60) { film(id: $id) { id } films { id } }", nil),
    ])
  func proposesLookups(text: String, proposal: String?) throws {
    #expect(try Self.operation("query Q\(text)").lookupProposal == proposal)
  }
}
