import GraphQL
import Testing
import Upstream

@testable import Composition

struct ManifestDraftsTests {
  private static let row = "fragment Row on Film { id }"

  enum Writer: CaseIterable {
    case apollo
    case relay

    func text(_ bodies: [String]) -> String {
      switch self {
      case .apollo: ManifestDraftsTests.apollo(bodies)
      case .relay: ManifestDraftsTests.relay(bodies)
      }
    }
  }

  private static func apollo(_ bodies: [String]) -> String {
    let operations = bodies.enumerated().map { index, body in
      #"{"id":"i\#(index)","name":"N","type":"query","body":"\#(body)"}"#
    }
    return #"{"format":"apollo-persisted-query-manifest","version":1,"operations":["#
      + operations.joined(separator: ",") + "]}"
  }

  private static func relay(_ bodies: [String]) -> String {
    "{" + bodies.enumerated().map { #""i\#($0)":"\#($1)""# }.joined(separator: ",") + "}"
  }

  private static func drafts(_ text: String) -> ManifestDrafts {
    ManifestDrafts(SourceFile(path: "manifest.json", text: text))
  }

  @Test(
    "Both kinds of manifests become files, and a repeated fragment one", arguments: Writer.allCases)
  func readsBothKinds(writer: Writer) {
    let drafts = Self.drafts(
      writer.text([
        "query A { film { ...Row } } \(Self.row)", "mutation B { rate { ...Row } } \(Self.row)",
        "query a { film { id } }",
      ]))
    #expect(drafts.faults.isEmpty && drafts.omitted.isEmpty)
    #expect(drafts.operations.map(\.fileName) == ["A.graphql", "B.graphql", "a-2.graphql"])
    #expect(drafts.operations.map(\.kind) == [.query, .mutation, .query])
    #expect(drafts.operations[1].text == "mutation B {\n  rate {\n    ...Row\n  }\n}\n")
    #expect(drafts.fragments == ["fragments/Row.graphql": "fragment Row on Film {\n  id\n}\n"])
  }

  @Test(
    "A document that cannot be a file is left out with the reason",
    arguments: [
      ("query A { ", "it cannot be parsed"), ("{ film { id } }", "it has no name"),
      ("query B { a } query C { a }", "has 2 operations"),
      ("fragment X on Film { id }", "has 0 operations"),
      ("query First { other }", "has an operation of this name"),
      ("query D { film { ...Row } } fragment Row on Film { title }", "its fragment Row differs"),
    ])
  func omits(body: String, reason: String) {
    let drafts = Self.drafts(Self.relay(["query First { film { ...Row } } \(Self.row)", body]))
    #expect(drafts.operations.map(\.name) == ["First"])
    #expect(drafts.omitted.count == 1)
    #expect(drafts.omitted.first?.reason.contains(reason) == true, "\(drafts.omitted)")
    #expect(drafts.fragments.count == 1)
  }

  @Test(
    "What is no manifest is a fault",
    arguments: [
      "", "[]", "{}", #"{"format":"other","operations":[]}"#, #"{"i":1}"#,
      #"{"format":"apollo-persisted-query-manifest","version":2,"operations":[]}"#,
    ])
  func refuses(text: String) {
    let drafts = Self.drafts(text)
    #expect(!drafts.faults.isEmpty)
    #expect(drafts.operations.isEmpty)
  }

  @Test("Operations with faults, and fragments with them, are left out by the check")
  func checkLeavesOut() throws {
    let schema = "type Query { film: Film } type Film { id: ID! }"
    let drafts = Self.drafts(
      Self.relay([
        "query Good { film { id } }", "query Wrong { film { nothing } }",
        "query Loose { film { ...Odd } } fragment Odd on Film { nothing }",
      ]))
    let check = try DraftCheck(
      drafts.operations, fragments: drafts.fragments,
      schema: SourceFile(path: "schema.graphql", text: schema), settings: RegistrySettings())
    #expect(check.operations.map(\.name) == ["Good"])
    #expect(check.fragments.isEmpty)
    #expect(check.omitted.map(\.field).sorted() == ["Loose", "Wrong"])
    let failure = #expect(throws: StartFailure.self) {
      _ = try DraftCheck(
        Array(drafts.operations.dropFirst()), fragments: drafts.fragments,
        schema: SourceFile(path: "schema.graphql", text: schema), settings: RegistrySettings())
    }
    #expect(failure?.kind == .faultyOperations)
    #expect(failure?.description.contains("query Wrong: Cannot query field") == true)
  }

  @Test("A faulty schema is reported, not taken for faults of the operations")
  func reportsFaultySchemas() {
    let drafts = Self.drafts(Self.relay(["query A { film { id } }"]))
    let failure = #expect(throws: StartFailure.self) {
      _ = try DraftCheck(
        drafts.operations, fragments: [:],
        schema: SourceFile(path: "schema.graphql", text: "type Query { film: Film }"),
        settings: RegistrySettings())
    }
    #expect(failure?.description.contains("The schema has faults") == true)
    #expect(failure?.description.contains("Film") == true)
  }
}
