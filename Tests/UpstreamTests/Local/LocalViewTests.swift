import Model
import Testing
import Upstream

/// Views defined by fragments in `local.graphql`.
struct LocalViewTests {
  private static let types = """
    type Place { name: String! town: String }
    type List @local {
      id: ID! title: String! place: Place items: [Item!]! @inverse(field: "list")
    }
    type Item @local { id: ID! list: List @inverse(field: "items") }

    """

  private func read(_ text: String) -> (views: [EntityView], findings: [Finding]) {
    var reader = LocalSchemaReader(
      catalogue: EntityCatalogueSample.make(), viewNames: ["FilmCard"])
    let found = reader.read(SourceFile(path: "local.graphql", text: Self.types + text)).findings
    return (reader.views, found)
  }

  @Test("A fragment on a local type is a view")
  func fragmentIsView() throws {
    let (views, findings) = read(
      """
      fragment Whole on List { ...Card ... on List { place { town } } items { id } }
      fragment Card on List { __typename id headline: title }
      """)
    #expect(findings.isEmpty, "\(findings)")
    #expect(views.map(\.name) == ["Whole", "Card"])
    let whole = try #require(views.first?.selection.types["List"])
    #expect(whole.fields.map(\.responseName) == ["id", "headline", "place", "items"])
    #expect(whole.fields.map(\.name) == ["id", "title", "place", "items"])
  }

  @Test("A second fragment of one name is a fault")
  func repeatedNames() {
    let (_, findings) = read(
      """
      fragment Card on List { id }
      fragment Whole on List { id title }
      fragment Card on Item { id }
      fragment Card on List { title }
      """)
    #expect(findings.map(\.severity) == [.fault, .fault], "\(findings)")
    let first = Self.types.split(separator: "\n", omittingEmptySubsequences: false).count
    #expect(findings.map(\.line) == [first + 2, first + 3])
    for finding in findings {
      #expect(finding.message.contains("Card is already defined in line \(first)"), "\(finding)")
    }
  }

  @Test("A selection of a relationship is a view of the nested entity")
  func nestedSelections() throws {
    let (views, findings) = read(
      """
      fragment Whole on List { items { id } items { list { ...Card } } }
      fragment Card on List { headline: title }
      """)
    #expect(findings.isEmpty, "\(findings)")
    let list = try #require(views.first?.selection.types["List"])
    guard case .object(let items) = list.fields.first?.value,
      let item = items.types["Item"], case .object(let inner) = item.fields.last?.value
    else {
      Issue.record("the relationships have no selections")
      return
    }
    #expect(list.fields.map(\.responseName) == ["items"])
    #expect(item.fields.map(\.responseName) == ["id", "list"])
    #expect(inner.types["List"]?.fields.map(\.responseName) == ["headline"])
  }

  @Test("A fragment of the operations can be spread where its type is nested")
  func spreadsFragmentsOfOperations() throws {
    let loaded = OperationRegistry.load(
      files: [
        SourceFile(
          path: "a.graphql",
          text: """
            query A($id: ID!) { film(id: $id) { ...Card } }
            fragment Card on Film { headline: title }
            """)
      ],
      schemaSources: [
        SourceFile(
          path: "schema.graphql",
          text: "type Query { film(id: ID!): Film } type Film { id: ID! title: String }")
      ], settings: RegistrySettings())
    let registry = try #require(loaded.registry, "\(loaded.findings)")
    var reader = LocalSchemaReader(
      catalogue: registry.catalogue, viewNames: Set(registry.views.keys), views: registry.views)
    let findings = reader.read(
      SourceFile(
        path: "local.graphql",
        text: """
          type Favourite @local { id: ID! film: Film }
          fragment One on Favourite { film { ...Card id } }
          fragment Two on Favourite { film { ...Other } }
          fragment Three on Favourite { film { headline: id ...Card title: id title } }
          """)
    ).findings
    #expect(findings.map(\.severity) == [.fault, .fault, .fault], "\(findings)")
    #expect(findings.first?.message.contains("no fragment Other on Film") == true)
    // The first field keeps the response name.
    #expect(findings[1].message == "headline is already the response name of id.")
    #expect(findings[2].message == "title is already the response name of id.")
    let one = reader.views.first { $0.name == "One" }?.selection.types["Favourite"]
    guard case .object(let film)? = one?.fields.first?.value else {
      Issue.record("the relationship has no selection")
      return
    }
    #expect(film.types["Film"]?.fields.map(\.responseName) == ["headline", "id"])
  }

  @Test("A field of an upstream type that no operation selects is reported")
  func unselectedFields() {
    let (_, findings) = read(
      """
      type Favourite @local { id: ID! film: Film }
      fragment Favourites on Favourite { film { id nothing } }
      """)
    #expect(findings.count == 1, "\(findings)")
    #expect(findings.first?.severity == .warning)
    #expect(findings.first?.message.contains("nothing of Film") == true)
  }

  @Test("A selection on an interface is read for each of its types, and its faults reported once")
  func faultsOfInterfaces() {
    let (_, findings) = read(
      """
      interface Kept { id: ID! film: Film }
      type Favourite implements Kept @local { id: ID! film: Film }
      type Seen implements Kept @local { id: ID! film: Film }
      fragment Card on Kept { film { nothing ...Other } }
      """)
    #expect(findings.map(\.severity) == [.warning, .fault], "\(findings)")
    #expect(findings.first?.message.contains("nothing of Film") == true)
    #expect(findings.last?.message.contains("no fragment Other on Film") == true)
  }

  @Test("Selections of one field are merged, and two fields cannot have one response name inside")
  func conflictsInside() {
    let (views, findings) = read(
      """
      fragment A on List { place { name } place { town } items { a: id } items { a: id } }
      fragment B on List { items { a: id } items { a: list { id } } }
      """)
    #expect(findings.map(\.message) == ["a is already the response name of id."], "\(findings)")
    #expect(views.count == 2)
  }

  @Test("A fragment that spreads itself through an object is a fault")
  func recursiveFragment() {
    let faults = read(
      """
      type Ring { next: Ring }
      type Chain @local { id: ID! ring: Ring }
      fragment A on Chain { ring { ...B } }
      fragment B on Ring { next { ...B } }
      """
    ).findings.filter { $0.severity == .fault }
    #expect(faults.contains { $0.message.contains("spreads itself") }, "\(faults)")
  }

  @Test(
    "Invalid views are reported",
    arguments: [
      ("fragment A on Film { id }", "local type"), ("fragment A on List { titel }", "\"title\""),
      ("fragment A on List { place }", "selection"),
      ("fragment A on List { title { id } }", "title"),
      ("fragment A on List { ...A }", "spreads itself"),
      ("fragment A on List { ...B }", "no fragment B"),
      ("fragment A on List { a: id a: title }", "already the response name of id"),
      ("fragment A on List { id @include(if: true) }", "cannot have directives"),
      ("fragment A on List { title(x: 1) }", "cannot have arguments"),
      ("fragment A on List { ... on Item { id } }", "the condition on Item never applies"),
      ("fragment A on List { place { twon } }", "\"town\""),
      ("fragment FilmCard on List { id }", "among the operations"),
      ("query A { id }", "and fragments"),
    ])
  func reportsInvalidViews(text: String, words: String) {
    let faults = read(text).findings.filter { $0.severity == .fault }
    #expect(faults.count == 1, "\(faults)")
    #expect(faults.first?.message.contains(words) == true, "\(faults)")
    #expect(faults.first.map { $0.line == 6 } == true)
  }
}
