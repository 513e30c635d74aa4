import Model
import Testing
import Upstream

/// Keys, unique fields and interfaces in `local.graphql`.
struct LocalKeySchemaTests {
  private func read(
    _ text: String
  ) -> (schema: LocalSchema?, views: [EntityView], findings: [Finding]) {
    var reader = LocalSchemaReader(catalogue: EntityCatalogueSample.make())
    let (schema, findings) = reader.read(SourceFile(path: "local.graphql", text: text))
    return (schema, reader.views, findings)
  }

  @Test("A type has a key of its own, unique fields and unique combinations")
  func readsKeysAndUniques() throws {
    let (schema, _, findings) = read(
      """
      directive @key(fields: String!) on OBJECT | INTERFACE
      directive @unique(fields: String) repeatable on OBJECT | FIELD_DEFINITION
      type Profile @local @key(fields: "userId") @unique(fields: "team seat") @unique(fields: "team, name") {
        userId: Int64!
        name: String! @unique
        team: Team
        seat: Int
      }
      type Team @local @key(fields: "country year") { year: Int! country: String! @length(max: 2) }
      """)
    let faults = findings.filter { $0.severity == .fault }
    #expect(faults.isEmpty, "\(faults)")
    let profile = try #require(schema?.types["Profile"])
    #expect(profile.keyFields == ["userId"])
    #expect(profile.uniques == [["name"], ["team", "seat"], ["team", "name"]])
    #expect(profile.entityType.keyFields == ["userId"])
    #expect(schema?.types["Team"]?.keyFields == ["country", "year"])
  }

  @Test("Types implement interfaces, inherit their key and can be referred to by them")
  func readsInterfaces() throws {
    let (schema, views, findings) = read(
      """
      interface Named @key(fields: "code") { code: Int! name: String }
      interface Owned implements Named { code: Int! name: String owner: Named }
      type Cat implements Named @local { code: Int! name: String! toys: [Toy!]! @inverse(field: "owner") }
      type Dog implements Named & Owned @local {
        code: Int! name: String owner: Cat toys: [Toy!]! @inverse(field: "owner")
      }
      type Toy @local { id: ID! owner: Named @inverse(field: "toys") }
      fragment Card on Named { code ... on Dog { owner { name } } }
      fragment ToyCard on Toy { owner { name ... on Cat { toys { id } } } }
      """)
    let faults = findings.filter { $0.severity == .fault }
    #expect(faults.isEmpty, "\(faults)")
    let local = try #require(schema)
    #expect(local.interfaces.mapValues(\.types) == ["Named": ["Cat", "Dog"], "Owned": ["Dog"]])
    #expect(local.types["Dog"]?.keyFields == ["code"])
    #expect(local.types["Toy"]?.field("owner")?.possibleTypes == ["Cat", "Dog"])
    let catalogue = EntityCatalogueSample.make().adding(local)
    #expect(catalogue.possibleTypes["Named"] == ["Cat", "Dog"])
    #expect(
      catalogue.shapes["Toy"]?.fields["owner"]?.value
        == .object(type: "Named", isAbstract: true, holdsEntities: true))
    let card = try #require(views.first { $0.name == "Card" })
    #expect(card.selection.types["Cat"]?.fields.map(\.name) == ["code"])
    #expect(card.selection.types["Dog"]?.fields.map(\.name) == ["code", "owner"])
    guard
      case .object(let owners)? = views.first(where: { $0.name == "ToyCard" })?.selection
        .types["Toy"]?.fields.first?.value
    else {
      Issue.record("the owner has no selection")
      return
    }
    #expect(owners.types["Cat"]?.fields.map(\.name) == ["name", "toys"])
    #expect(owners.types["Dog"]?.fields.map(\.name) == ["name"])
  }

  @Test(
    "Invalid keys, unique fields and interfaces are refused with a reason",
    arguments: [
      ("type A @local { name: String }", "must have the field id: ID!, or name its key"),
      (#"type A @local @key(fields: "b") { a: Int! }"#, "names the unknown field b"),
      (#"type A @local @key(fields: "a") { a: Int }"#, "must be non-null: write a: Int!"),
      (#"type A @local @key(fields: "a") { a: [Int!]! }"#, "must be a scalar or an enum"),
      (#"type A @local @key(fields: "film") { film: Film! }"#, "must be a scalar or an enum"),
      (#"type A @local @key(fields: "a a") { a: Int! }"#, "name each field of the key once"),
      (#"type A @local @key(fields: "") { a: Int! }"#, "name each field of the key once"),
      (
        #"type A @local @key(fields: "a") { a: Int! @default(value: 1) }"#,
        "@default cannot be applied to a key field"
      ),
      (#"type A @local @key(fields: "a") { a: Int! @unique }"#, "unique already"),
      (#"type A @local { id: ID! } type B @key(fields: "x") { x: Int }"#, "types with @local"),
      ("type A @local @unique { id: ID! }", "@unique requires the argument fields"),
      (#"type A @local { id: ID! a: Int @unique(fields: "a") }"#, "has no argument"),
      (#"type A @local @unique(fields: "b") { id: ID! a: Int }"#, "names the unknown field b"),
      ("type A @local { id: ID! a: [Int] @unique }", "a is none of these"),
      (#"type A @local @unique(fields: "a") { id: ID! a: Int @unique }"#, "unique twice"),
      ("type A @local { id: ID! b: B } type B { a: Int @unique }", "fields of types with @local"),
      ("interface I { a: Int }", "No type with @local implements I"),
      ("type A implements I @local { id: ID! }", "I is not an interface of this file"),
      (
        "interface I { a: Int } type A implements I @local { id: ID! }",
        "A lacks the field a: Int of I"
      ),
      (
        "interface I { a: Int! } type A implements I @local { id: ID! a: Int }",
        "A.a must be Int!, as in I"
      ),
      (
        """
        interface I { a: Int } interface J implements I { a: Int }
        type A implements J @local { id: ID! a: Int }
        """, "A must also implement I"
      ),
      (
        "interface I { a: Int } type A implements I { a: Int } type B implements I @local { id: ID! a: Int }",
        "Only types with @local can implement"
      ),
      (
        "interface I { a: Int @range(min: 1) } type A implements I @local { id: ID! a: Int }",
        "@range goes on the fields of the types that implement I"
      ),
      (
        """
        interface I { id: ID! } type A implements I @local { id: ID! }
        type B implements I @local(scope: USER) { id: ID! } type C @local { id: ID! i: I }
        """, "B to a user"
      ),
      (
        """
        interface I { id: ID! } type A implements I @local { id: ID! c: C @inverse(field: "i") }
        type B implements I @local { id: ID! } type C @local { id: ID! i: I @inverse(field: "c") }
        """, "B has no field c"
      ),
      (
        "interface I { a: Int } type A implements I @local { id: ID! a: Int i: I @unique }",
        "i is none of these"
      ),
      (
        """
        interface I { a: Int } type A implements I @local { id: ID! a: Int b: Int }
        fragment F on I { b }
        """, "I has no field b"
      ),
      (
        """
        interface I { a: Int } type A implements I @local { id: ID! a: Int } type B @local { id: ID! }
        fragment F on I { ... on B { id } }
        """, "the condition on B never applies"
      ),
      ("union U = Film", "not U"),
    ])
  func refuses(_ text: String, _ message: String) {
    let (schema, _, findings) = read(text)
    #expect(schema == nil, "\(text)")
    #expect(findings.contains { $0.message.contains(message) }, "\(findings)")
    // A selection on an interface is read once for each type, and reported once.
    #expect(Set(findings).count == findings.count, "\(findings)")
  }

  @Test("The rows of a type are checked again when its key or its unique fields change")
  func descriptionsDiffer() throws {
    func description(_ text: String) throws -> String {
      let schema = try #require(read(text).schema)
      return schema.description(of: try #require(schema.types["A"]))
    }
    let plain = try description("type A @local { id: ID! a: Int! b: Int! }")
    let others = try [
      #"type A @local @key(fields: "a") { id: ID! a: Int! b: Int! }"#,
      #"type A @local @key(fields: "b a") { id: ID! a: Int! b: Int! }"#,
      "type A @local { id: ID! a: Int! @unique b: Int! }",
      #"type A @local @unique(fields: "a b") { id: ID! a: Int! b: Int! }"#,
    ].map(description)
    #expect(Set(others + [plain]).count == 5)
  }
}
