import Testing

@testable import Composition
@testable import Upstream

/// `operations` as a manifest of persisted documents.
struct ManifestOperationsTests {
  private static let schema =
    "type Query { film(id: ID!): Film } type Film { id: ID! title: String }"

  private static func folder(_ manifest: String) throws -> OperationsFolder {
    let folder = try OperationsFolder(schema: schema, operations: [:])
    try folder.write(manifest, to: "persisted.json")
    return folder
  }

  @Test("The operations of a manifest are registered with its ids")
  func registersOperations() throws {
    let folder = try Self.folder(
      #"{"abc":"query One($id: ID!) { film(id: $id) { id ...T } } fragment T on Film { title }"}"#)
    let workspace = try folder.open("operations: persisted.json")
    let operation = try #require(workspace.registry.operation(named: "One"))
    #expect(operation.identity.id == "abc")
    #expect(operation.path == "\(workspace.settings.operationsFolder)#/abc")
  }

  @Test(
    "Faults of a manifest name it, and the place in it",
    arguments: [
      (#"{"abc": "query One { flim }"}"#, "persisted.json#/abc:1:13: fault"),
      ("{\n  \"abc\": 1\n}", "persisted.json:2:10: fault: /abc must be the text"),
      ("[", "persisted.json:1:2: fault: is not JSON"),
      ("{}", "persisted.json:1:1: fault: lists no operation"),
    ])
  func reportsFaults(manifest: String, words: String) throws {
    let folder = try Self.folder(manifest)
    let failure = try #require(
      #expect(throws: StartFailure.self) { try folder.open("operations: persisted.json") })
    #expect("\(failure)".contains(words), "\(failure)")
  }

  @Test("A syntax error of a manifest's document is reported once")
  func reportsSyntaxOnce() throws {
    let folder = try Self.folder(#"{"abc": "query One { film(id: 1 { id } }"}"#)
    let failure = try #require(
      #expect(throws: StartFailure.self) { try folder.open("operations: persisted.json") })
    #expect("\(failure)".contains("persisted.json#/abc:1:"), "\(failure)")
    #expect(!"\(failure)".contains("exactly one operation"), "\(failure)")
  }

  @Test("A name or kind in a manifest that is not the document's is a warning")
  func warnsOfOtherNames() throws {
    let folder = try Self.folder(
      #"{"format":"apollo-persisted-query-manifest","version":1,"operations":["#
        + #"{"id":"a","name":"Wrong","type":"mutation","body":"query Other { film(id: 1) { id } }"}]}"#
    )
    let workspace = try folder.open("operations: persisted.json")
    let texts = workspace.warnings.map(\.message)
    #expect(texts.contains { $0.contains("names this operation Wrong") }, "\(texts)")
    #expect(texts.contains { $0.contains("calls this operation a mutation") }, "\(texts)")
  }

  @Test("A missing manifest is a fault with its path")
  func reportsMissingManifest() throws {
    let folder = try OperationsFolder(schema: Self.schema, operations: [:])
    let failure = try #require(
      #expect(throws: StartFailure.self) { try folder.open("operations: none.json") })
    #expect("\(failure)".contains("none.json: fault: does not exist"), "\(failure)")
  }
}
