import Model
import Testing
import Upstream

@testable import Composition

/// The indexes of `types.<Type>.index`: columns, key paths, and forms of texts.
struct IndexPlanTests {
  private static let schema = """
    type Query { films: [Film!]! }
    type Film { id: ID! title: String year: Int director: Person cast: [Person!] }
    type Person { id: ID! name: String born: Int mentor: Person }
    """
  private static let query = """
    query Films { films { id title year director { id name born mentor { id } } cast { id } } }
    """

  private static func open(_ index: String) throws -> Workspace {
    try OperationsFolder(schema: schema, operations: ["a.graphql": query])
      .open("types:\n  Film:\n    index: \(index)\n")
  }

  private static func type(_ name: String, _ workspace: Workspace) throws -> EntityType {
    try #require(workspace.registry.catalogue.type(named: name))
  }

  @Test("A key path is indexed on every type that it leads through, and a form on its column")
  func distributesPaths() throws {
    let workspace = try Self.open(
      #"[year, director.mentor.born, "director.name[cd]", "title[c]", lower(title)]"#)
    let film = try Self.type("Film", workspace)
    let person = try Self.type("Person", workspace)
    #expect(film.indexes == ["year", "director"])
    #expect(
      film.textIndexes == [
        .init(column: "title", form: .withoutCase), .init(column: "title", form: .lower),
      ])
    #expect(person.indexes == ["mentor", "born"])
    #expect(person.textIndexes == [.init(column: "name", form: .withoutMarks)])
  }

  @Test(
    "An entry that cannot be an index is a fault that names it",
    arguments: [
      ("[cast]", "no operation selects the field cast of Film"),
      ("[cast.name]", "cast.name leads to many entities"),
      ("[director.age]", "Person has no column age"),
      ("[boss.name]", "Film has no relationship boss"),
      (#"["year[cd]"]"#, "is not about a text field"),
      (#"["title[x]"]"#, "a field or a key path such as"),
      ("[director.mentor.mentor.mentor.name]", "a field or a key path such as"),
    ])
  func namesFaults(index: String, words: String) throws {
    do {
      _ = try Self.open(index)
      Issue.record("opened with \(index)")
    } catch {
      #expect("\(error)".contains("types.Film.index"), "\(error)")
      #expect("\(error)".contains(words), "\(error)")
    }
  }
}
