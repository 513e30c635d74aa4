import LosslessJSON
import Model
import Testing
import Upstream

/// `extend type` in `local.graphql`: local fields of upstream's types.
struct LocalExtensionTests {
  private static let upstream = OperationRegistry.load(
    files: [
      SourceFile(
        path: "a.graphql",
        text: "query A($id: ID!) { film(id: $id) { id title director { id name } } }")
    ],
    schemaSources: [
      SourceFile(
        path: "schema.graphql",
        text: """
          type Query { film(id: ID!): Film }
          type Film { id: ID! title: String! director: Person secret: String }
          type Person { id: ID! name: String! }
          """)
    ], settings: RegistrySettings(keepsOutline: true))

  private func read(
    _ text: String
  ) throws -> (schema: LocalSchema?, views: [EntityView], findings: [Finding]) {
    let registry = try #require(Self.upstream.registry)
    var reader = LocalSchemaReader(
      catalogue: registry.catalogue, views: registry.views, outline: registry.outline)
    let (schema, findings) = reader.read(SourceFile(path: "local.graphql", text: text))
    return (schema, reader.views, findings)
  }

  private static let whole = """
    extend type Film {
      favourite: Boolean! @local @default(value: false)
      note: String @local(scope: USER) @length(max: 10)
      lists: [MyList!] @local @inverse(field: "films")
    }
    type MyList @local { id: ID! films: [Film!]! @inverse(field: "lists") }
    """

  @Test("Local fields are read as one part for each kind of owner")
  func readsParts() throws {
    let (schema, _, findings) = try read(Self.whole)
    #expect(findings.isEmpty, "\(findings)")
    let parts = try #require(schema?.extensions["Film"])
    #expect(parts.map(\.name) == ["Film@device", "Film@user"])
    #expect(parts.map { $0.fields.map(\.name) } == [["favourite", "lists"], ["note"]])
    #expect(parts.map(\.extended) == ["Film", "Film"])
    #expect(parts[0].field("favourite")?.fallback == false)
    #expect(parts[1].field("note")?.rules.lengthMax == 10)
    #expect(
      schema?.types["MyList"]?.field("films")?.kind
        == .entity("Film", LocalField.Inverse(field: "lists", onDelete: .nullify)))
    let registry = try #require(Self.upstream.registry)
    let catalogue = registry.catalogue.adding(try #require(schema))
    let film = try #require(catalogue.type(named: "Film"))
    #expect(film.columns.map(\.name) == ["id", "director", "title", "favourite", "note"])
    #expect(film.localFields.map(\.owner) == [.device, .user])
    #expect(film.hasLocalField("lists") && !film.hasLocalField("title"))
    #expect(catalogue.shapes["Film"]?.fields["lists"]?.isToMany == true)
    #expect(catalogue.shapes["Film"]?.fields["title"] != nil)
  }

  @Test("Several extensions of a type are one")
  func severalExtensionsAreOne() throws {
    let (schema, _, findings) = try read(
      """
      extend type Film { note: String @local }
      extend type Person { met: Boolean @local @default(value: true) }
      extend type Film { stars: Int @local @range(min: 1, max: 5) }
      """)
    #expect(findings.isEmpty, "\(findings)")
    #expect(schema?.part(of: "Film", owner: .device)?.fields.map(\.name) == ["note", "stars"])
    #expect(schema?.part(of: "Person", owner: .device)?.field("met")?.fallback == true)
    #expect(schema?.part(of: "Film", owner: .user) == nil)
  }

  @Test("A fragment on an extended type is a view of upstream's and local fields")
  func viewsShowBoth() throws {
    let (_, views, findings) = try read(
      Self.whole + "\nfragment Mine on Film { id heading: title favourite lists { id } }")
    #expect(findings.isEmpty, "\(findings)")
    let view = try #require(views.first?.selection.types["Film"])
    #expect(view.fields.map(\.responseName) == ["id", "heading", "favourite", "lists"])
  }

  @Test(
    "Faulty extensions are refused with a reason and a place",
    arguments: [
      ("extend type Film { note: String }", "Film.note needs @local"),
      ("extend type Film { title: String @local }", "Film already has a field title"),
      ("extend type Film { secret: String @local }", "Film already has a field secret"),
      (
        "extend type Film { note: String @local note: Int @local }",
        "The field note is defined twice"
      ),
      (
        "extend type Film { note: String @local } extend type Film { note: Int @local(scope: USER) }",
        "The field note is defined twice"
      ),
      ("extend type Film { stars: Int! @local }", "is non-null and has no @default"),
      ("extend type Film { stars: Int @local @default(value: \"a\") }", "The default"),
      ("extend type Film { note(a: Int): String @local }", "cannot have arguments"),
      ("extend type Film { note: String @local(scope: ROLE) }", "must be one of DEVICE, USER"),
      ("extend type Film @local { note: String @local }", "An extension has no directives"),
      ("extend type Film { note: Strin @local }", "Unknown type Strin"),
      ("extend type Fil { note: String @local }", "Did you mean \"Film\""),
      (
        "type A @local { id: ID! } extend type A { note: String @local }",
        "A cannot be extended: it is defined in this file"
      ),
      ("extend enum Mood { OK }", "Only object types can be extended"),
      ("type A @local { id: ID! note: String @local }", "@local cannot be applied to a field"),
      (
        """
        extend type Film { lists: [MyList!] @local @inverse(field: "films") }
        type MyList @local { id: ID! films: [Film!] }
        """, "MyList.films needs @inverse(field: \"lists\")"
      ),
      (
        """
        extend type Film { lists: [MyList!] @local(scope: USER) @inverse(field: "films") }
        type MyList @local { id: ID! films: [Film!] @inverse(field: "lists") }
        """, "they cannot refer to each other"
      ),
      (
        "type MyList @local { id: ID! films: [Film!] @inverse(field: \"lists\") }",
        "unless the field is added to it with @local(scope: DEVICE)"
      ),
      (
        """
        extend type Film { lists: [MyList!] @local @inverse(field: "films", onDelete: CASCADE) }
        type MyList @local { id: ID! films: [Film!] @inverse(field: "lists") }
        """, "must be NULLIFY on Film.lists"
      ),
      (
        """
        extend type Film { lists: [MyList!] @local @inverse(field: "films") }
        type MyList @local { id: ID! films: [Film!] @inverse(field: "lists", onDelete: CASCADE) }
        """, "cannot have onDelete: CASCADE"
      ),
    ])
  func refusesFaults(text: String, reason: String) throws {
    let (schema, _, findings) = try read(text)
    #expect(schema == nil)
    let faults = findings.filter { $0.severity == .fault }
    #expect(faults.contains { $0.message.contains(reason) }, "\(faults)")
    #expect(faults.allSatisfy { $0.line > 0 && $0.column > 0 }, "\(faults)")
  }
}
