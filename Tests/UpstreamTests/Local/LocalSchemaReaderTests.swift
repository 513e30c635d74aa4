import LosslessJSON
import Model
import Testing
import Upstream

struct LocalSchemaReaderTests {
  private static let catalogue = EntityCatalogueSample.make()

  private func read(_ text: String) -> (schema: LocalSchema?, findings: [Finding]) {
    var reader = LocalSchemaReader(catalogue: Self.catalogue)
    return reader.read(SourceFile(path: "local.graphql", text: text))
  }

  @Test("Types, rules and relationships are read")
  func readsTypesRulesAndRelationships() throws {
    let (schema, findings) = read(
      """
      scalar Int64
      enum Mood { GOOD BAD }
      type Place { x: Float! y: Float! }
      type List @local(scope: USER) @renamed(from: "Folder") {
        id: ID!
        title: String! @length(min: 1, max: 20) @pattern(regex: "[a-z ]+")
        size: Int64 @range(min: 0, max: 10) @default(value: 4)
        mood: Mood @default(value: GOOD)
        place: Place
        items: [Item!]! @inverse(field: "list", onDelete: CASCADE)
      }
      type Item @local(scope: USER) { id: ID! list: List! @inverse(field: "items") tags: [String!] }
      """)
    #expect(findings.isEmpty, "\(findings)")
    let list = try #require(schema?.types["List"])
    #expect(list.scope == .user)
    #expect(list.formerName == "Folder")
    #expect(list.field("size")?.fallback == 4)
    #expect(list.field("title")?.rules.lengthMax == 20)
    #expect(
      list.field("items")?.kind
        == .entity("Item", LocalField.Inverse(field: "list", onDelete: .cascade)))
    #expect(list.entityType.columns.map(\.name) == ["id", "title", "size", "mood"])
  }

  @Test("All faults are reported with their locations")
  func reportsAllFaults() {
    let (schema, findings) = read(
      """
      type A @local { id: ID! b: B @inverse(field: "a") n: Int @length(min: 1) }
      type B @local(scope: USER) { id: ID! a: A c: Strin }
      type C @local { name: String @default(value: 3) }
      interface D { id: ID! }
      type E @local(scope: ALL) @remote { id: ID! }
      """)
    #expect(schema == nil)
    let faults = findings.filter { $0.severity == .fault }
    #expect(Set(faults.map(\.line)) == [1, 2, 3, 4, 5])
    #expect(faults.count >= 8, "\(faults)")
    #expect(faults.allSatisfy { $0.column > 0 && $0.path == "local.graphql" })
    #expect(faults.contains { $0.message.contains("Did you mean \"String\"") })
  }

  @Test(
    "Invalid local schemas are refused with a reason",
    arguments: [
      (
        "type A @local { id: ID! b: B @inverse(field: \"a\") } type B @local { id: ID! a: A }",
        "needs @inverse"
      ),
      (
        """
        type A @local { id: ID! bs: [B!]! @inverse(field: "a") }
        type B @local { id: ID! a: A! @inverse(field: "bs") }
        """, "Use CASCADE or DENY"
      ),
      ("type A @local { id: ID! s: String @pattern(regex: \"(\") }", "is never closed"),
      (
        "type A @local { id: ID! s: String @pattern(regex: \"(a)\\\\1\") }",
        "backreferences and octal escapes are not supported"
      ),
      (
        "type A @local { id: ID! s: String @pattern(regex: \"(?=a)a\") }", "lookaround"
      ),
      (
        "type A @local { id: ID! s: String @pattern(regex: \"(a{1000}){1000}\") }",
        "more than 1000 states"
      ),
      ("type Film @local { id: ID! }", "is an upstream type or built in"),
      (
        "type A @local { id: ID! film: Film @inverse(field: \"a\") }",
        "is an upstream type and cannot"
      ),
      ("type A @local { id: String }", "The type of id must be ID!"),
      ("query A { a }", "and fragments"),
      ("scalar Money type A @local { id: ID! }", "the scalars are Boolean"),
      ("type A @local { id: ID! x: Int @renamed(from: \"y\") y: Int }", "still exists"),
    ])
  func refuses(_ text: String, _ message: String) {
    let (schema, findings) = read(text)
    #expect(schema == nil)
    #expect(findings.contains { $0.message.contains(message) }, "\(findings)")
  }

  @Test("A local type can refer to an upstream type")
  func refersToUpstreamTypes() throws {
    let (schema, findings) = read("type Favourite @local { id: ID! film: Film! }")
    #expect(schema != nil, "\(findings)")
  }
}

enum EntityCatalogueSample {
  /// A catalogue with the type Film.
  static func make() -> EntityCatalogue {
    let loaded = OperationRegistry.load(
      files: [SourceFile(path: "a.graphql", text: "query A($id: ID!) { film(id: $id) { id } }")],
      schemaSources: [
        SourceFile(
          path: "schema.graphql", text: "type Query { film(id: ID!): Film } type Film { id: ID! }")
      ], settings: RegistrySettings())
    guard let registry = loaded.registry else { preconditionFailure("\(loaded.findings)") }
    return registry.catalogue
  }
}
