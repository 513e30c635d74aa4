import Model
import Testing
import Upstream

/// Fragments of `local.graphql`.
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

  @Test func aFragmentIsAView() throws {
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

  @Test func aFragmentInsideOfItselfThroughAnObjectIsAFault() {
    let faults = read(
      """
      type Ring { next: Ring }
      type Chain @local { id: ID! ring: Ring }
      fragment A on Chain { ring { ...B } }
      fragment B on Ring { next { ...B } }
      """
    ).findings.filter { $0.severity == .fault }
    #expect(faults.contains { $0.message.contains("inside of itself") }, "\(faults)")
  }

  @Test(arguments: [
    ("fragment A on Film { id }", "local types"), ("fragment A on List { titel }", "\"title\""),
    ("fragment A on List { place }", "selection"), ("fragment A on List { title { id } }", "title"),
    ("fragment A on List { ...A }", "inside of itself"),
    ("fragment A on List { ...B }", "no fragment B"),
    ("fragment A on List { a: id a: title }", "stands for id"),
    ("fragment A on List { id @include(if: true) }", "no directives"),
    ("fragment A on List { title(x: 1) }", "no arguments"),
    ("fragment A on List { ... on Item { id } }", "never a Item"),
    ("fragment A on List { place { twon } }", "\"town\""),
    ("fragment FilmCard on List { id }", "among the operations"),
    ("query A { id }", "nothing else"),
  ])
  func reportsWhatIsNoView(text: String, words: String) {
    let faults = read(text).findings.filter { $0.severity == .fault }
    #expect(faults.count == 1, "\(faults)")
    #expect(faults.first?.message.contains(words) == true, "\(faults)")
    #expect(faults.first.map { $0.line == 6 } == true)
  }
}
