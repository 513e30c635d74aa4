import Foundation
import Testing

@testable import Composition

struct WorkspaceFilesTests {
  private static let schema =
    "type Query { film(id: ID!): Film } type Film { id: ID! title: String }"
  private static let film = "query Film($id: ID!) { film(id: $id) { id title } }"

  private static func make() throws -> (OperationsFolder, WorkspaceFiles) {
    let folder = try OperationsFolder(schema: schema, operations: ["film.graphql": film])
    let workspace = try folder.open()
    return (
      folder,
      WorkspaceFiles(settingsFile: "\(folder.path)/larder.yaml", workspace.settings)
    )
  }

  @Test("Each file that a workspace is read from is seen")
  func filesAreSeen() throws {
    let (folder, files) = try Self.make()
    for (name, text) in [
      ("operations/film.graphql", Self.film + "\n"), ("operations/other.graphql", "# none"),
      ("schema.graphql", Self.schema + "\n"), ("local.graphql", "# none"),
      ("larder.yaml", "# none"),
    ] {
      let before = files.state()
      try folder.write(text, to: name)
      let after = files.state()
      #expect(after.versions != before.versions, "\(name)")
      #expect(after.digests != before.digests, "\(name)")
    }
    let before = files.state()
    try FileManager.default.removeItem(atPath: "\(folder.path)/operations/other.graphql")
    #expect(files.state().versions != before.versions)
    #expect(files.state().digests != before.digests)
  }

  @Test("A file that is replaced by its copy has another version, and the same digest")
  func replacedFilesAreSeen() throws {
    let (folder, files) = try Self.make()
    let before = files.state()
    try folder.write(Self.film, to: "new")
    let path = "\(folder.path)/operations/film.graphql"
    #expect(rename("\(folder.path)/new", path) == 0)
    let after = files.state()
    #expect(after.versions != before.versions)
    #expect(after.digests == before.digests)
  }

  @Test(
    "Files of editors and of others are not seen",
    arguments: [
      "operations/.film.graphql.swp", "operations/film.graphql~", "operations/4913",
      "operations/.#film.graphql", "other.yaml",
    ])
  func otherFilesAreNotSeen(name: String) throws {
    let (folder, files) = try Self.make()
    let before = files.state()
    try folder.write("a", to: name)
    #expect(files.state().versions == before.versions)
    #expect(files.state().digests == before.digests)
  }

  @Test("One file can be taken from an earlier state")
  func filesAreTakenFromEarlierStates() throws {
    let (folder, files) = try Self.make()
    let early = files.state()
    try folder.write("# a", to: "larder.yaml")
    let late = files.state()
    #expect(late.with(files.settingsFile, of: early).digests == early.digests)
    #expect(late.with(files.settingsFile, of: early).versions == early.versions)
  }
}

struct WorkspaceDifferenceTests {
  private static let schema = """
    type Query { film(id: ID!): Film films: [Film!]! } type Film { id: ID! title: String year: Int }
    """

  private static func open(_ operations: String, _ settings: String = "") throws -> Workspace {
    try OperationsFolder(schema: schema, operations: ["a.graphql": operations]).open(settings)
  }

  /// The settings that differ, without the paths: each workspace has a folder of its own.
  private static func settings(_ difference: WorkspaceDifference) -> [String] {
    let paths: Set<String> = ["data", "operations", "schema", "schemas", "local"]
    return difference.settings.filter { !paths.contains($0) }
  }

  private static let film = "query Film($id: ID!) { film(id: $id) { id title } }\n"

  @Test("Added, removed and changed operations are named, and no others")
  func operationsAreNamed() throws {
    let before = try Self.open(
      Self.film + "query Old { films { id } }\nquery Same { films { id year } }\n")
    let after = try Self.open(
      Self.film.replacing("title", with: "year")
        + "query Same   { films { id year } } # a comment\nquery New { films { id } }\n")
    let difference = WorkspaceDifference(from: before, to: after)
    #expect(difference.added == ["New"])
    #expect(difference.removed == ["Old"])
    #expect(difference.changed == ["Film"])
    #expect(Self.settings(difference) == [])
  }

  @Test(
    "An operation with other rules is changed",
    arguments: ["@cache(maxAge: 7)", "@access(role: ADMIN)", "@route(path: \"/f/{id}\")"])
  func rulesAreChanges(directive: String) throws {
    let before = try Self.open(Self.film)
    let after = try Self.open(Self.film.replacing("!) {", with: "!) \(directive) {"))
    #expect(WorkspaceDifference(from: before, to: after).changed == ["Film"])
  }

  @Test("Changed settings are named")
  func settingsAreNamed() throws {
    let before = try Self.open(Self.film, "cache: {staleIfError: 1h}\n")
    let after = try Self.open(Self.film, "log: {level: debug}\n")
    let difference = WorkspaceDifference(from: before, to: after)
    #expect(Self.settings(difference) == ["cache.staleIfError", "log.level"])
    #expect(difference.changed == ["Film"] || difference.changed == [])
  }
}
