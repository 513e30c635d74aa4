import Testing
import Upstream

@testable import Composition

/// Tables of webhooks, against the schema.
struct HooksCheckTests {
  private static func open(_ tables: String) throws -> Workspace {
    try OperationsFolder(
      schema: "type Query { films: [Film!]! } type Film { id: ID! title: String }",
      operations: ["a.graphql": "query Films @cache(scope: PUBLIC) { films { id title } }"]
    ).open(
      "hooks: {in: {erp: {format: hasura, secret: 0123456789abcdef, tables: {\(tables)}}}}")
  }

  @Test(
    "A table whose rows could never be stored is a fault",
    arguments: [
      (
        "item: {type: Film, columns: {id: null}}",
        "the column id is left out, but id is part of the key of Film"
      ),
      ("item: {type: Film, columns: {id: title}}", "no column is left for id"),
      ("item: {type: Film}, public.item: {type: Film}", "is the same table as `item`"),
      ("shop.: {type: Film}", "must be the name of a table"),
      ("' item': {type: Film}", "must be the name of a table"),
    ])
  func refusesTables(tables: String, message: String) throws {
    let failure = try #require(#expect(throws: StartFailure.self) { try Self.open(tables) })
    #expect(failure.kind == .faultySettings)
    #expect(failure.description.contains(message), "\(failure)")
    #expect(failure.description.contains("larder.yaml:2:"), "\(failure)")
  }

  @Test("A key can come from another column, and a name with a space is a warning")
  func acceptsTables() throws {
    let workspace = try Self.open(
      "item: {type: Film, columns: {film_id: id, id: null}}, shop.item: {type: Film}")
    let texts = workspace.warnings.map(\.report)
    #expect(!texts.contains { $0.contains("hooks.in") }, "\(texts)")
    let spaced = try Self.open("a b: {type: Film}").warnings.map(\.report)
    #expect(spaced.contains { $0.contains("`a b`, whose name has a space") }, "\(spaced)")
  }
}
