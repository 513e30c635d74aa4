import Foundation
import Generation
import TestSupport
import Testing
import Upstream

@testable import Composition

/// What `check --against` says of two versions of operations.
struct OperationComparisonTests {
  private static let schema = """
    type Query {
      film(id: ID!, language: Language, filter: Filter): Film
      films(limit: Int): [Film!]!
      found: Found
    }
    type Mutation { rate(id: ID!, stars: Int!): Film }
    type Film { id: ID!  title: String!  note: String  year: Int!  language: Language!  studio: Studio }
    type Studio { id: ID!  name: String! }
    union Found = Film | Studio
    enum Language { EN DE }
    input Filter { year: Int  tags: [String!] }
    """
  private static let operations = """
    query Film($id: ID!, $language: Language, $filter: Filter) @route(path: "/films/{id}") {
      film(id: $id, language: $language, filter: $filter) { id title note language studio { id name } }
    }
    query Films($limit: Int = 3) @route(path: "/films") { films(limit: $limit) { id title } }
    query Found { found { __typename ... on Film { id title } ... on Studio { id name } } }
    mutation Rate($id: ID!, $stars: Int!) { rate(id: $id, stars: $stars) { id } }
    """

  private static func version(
    _ operations: String, _ schema: String, upstream: String = ""
  ) throws -> OperationComparison.Version {
    let folder = try OperationsFolder(schema: schema, operations: ["all.graphql": operations])
    let text = "upstream: {url: \"http://127.0.0.1:9/graphql\"\(upstream)}\n"
    let loaded = try Settings.load(
      from: SettingsSources(file: .init(name: "\(folder.path)/larder.yaml", text: text)))
    let workspace = try Workspace.open(loaded, describesInterface: true)
    withExtendedLifetime(folder) {}
    return OperationComparison.Version(
      operations: workspace.registry.operations,
      interface: (workspace.registry.interface ?? ClientInterface()).adding(workspace.local))
  }

  @Test("A version compared with itself has no differences")
  func hasNoDifferences() throws {
    let version = try Self.version(Self.operations, Self.schema)
    #expect(OperationComparison.changes(from: version, to: version).all == [])
  }

  /// Both directions of a replacement in the operations or in the schema.
  ///
  /// - Parameters:
  ///   - forth: a line of the comparison; empty if none is breaking.
  ///   - back: a line of the comparison in the other direction.
  @Test(
    "Each breaking change is named, and what only adds is a note",
    arguments: [
      (
        "mutation Rate($id: ID!, $stars: Int!) { rate(id: $id, stars: $stars) { id } }", "",
        "breaking: Rate: the operation is removed", "note: Rate: the operation is new"
      ),
      (#" @route(path: "/films")"#, "", "breaking: GET /api/films: the path is removed", nil),
      (
        #"path: "/films/{id}""#, #"path: "/works/{id}""#,
        "breaking: GET /api/films/{id}: the path is removed; it is now GET /api/works/{id}",
        "breaking: GET /api/works/{id}: the path is removed; it is now GET /api/films/{id}"
      ),
      ("$limit: Int = 3", "$limit: Int!", "breaking: Films: $limit: it is now required", nil),
      (
        "($limit: Int = 3)", "", "breaking: Films: the variable $limit is removed",
        "note: Films: the variable $limit is new"
      ),
      (
        "language studio", "studio", "breaking: Film: data.film.language: the field is removed", nil
      ),
      ("title note", "title note @include(if: true)", "", nil),
      (
        "title: String!", "title: String", "breaking: Film: data.film.title: it can now be null",
        nil
      ),
      ("year: Int!", "year: Int!", "", nil),
      (
        "language: Language!", "language: String!",
        "breaking: Film: data.film.language: it was Language and is String", nil
      ),
      (
        "EN DE", "EN DE FR", "note: Film: data.film.language: the value FR is new",
        "breaking: Film: $language: the value FR is no longer accepted"
      ),
      (
        "input Filter { year: Int ", "input Filter { year: Int! ",
        "breaking: Film: $filter.year: it is now required", nil
      ),
      (
        "year: Int  tags", "year: Int  day: Int!  tags",
        "breaking: Film: $filter.day: the new field is required",
        "breaking: Film: $filter.day: the field is removed"
      ),
      (
        "tags: [String!]", "tags: [String]", "",
        "breaking: Film: $filter.tags[]: it can no longer be null"
      ),
      (
        "... on Studio { id name }", "... on Studio { id }",
        "breaking: Found: data.found<Studio>.name: the field is removed", nil
      ),
    ] as [(String, String, String, String?)])
  func namesChanges(old: String, new: String, forth: String, back: String?) throws {
    #expect(Self.operations.contains(old) || Self.schema.contains(old))
    let before = try Self.version(Self.operations, Self.schema)
    var operations = Self.operations.replacing(old, with: new)
    // An unused argument remains valid without its variable.
    if new.isEmpty, old.hasPrefix("($limit") {
      operations = operations.replacing("(limit: $limit)", with: "")
    }
    let schema = Self.schema.replacing(old, with: new)
    let after = try Self.version(operations, schema)
    let changes = OperationComparison.changes(from: before, to: after).all.map(\.description)
    let reverse = OperationComparison.changes(from: after, to: before).all.map(\.description)
    if forth.isEmpty {
      #expect(changes.allSatisfy { !$0.hasPrefix("breaking") }, "\(changes)")
    } else {
      #expect(changes.contains(forth), "\(changes)")
    }
    if let back { #expect(reverse.contains(back), "\(reverse)") }
  }

  @Test("Fewer callers are breaking, more are a note")
  func comparesAccess() throws {
    let open = try Self.version(Self.operations, Self.schema)
    let restricted = try Self.version(
      Self.operations.replacing(
        #"@route(path: "/films")"#, with: #"@route(path: "/films") @access(role: DEVICE)"#),
      Self.schema)
    #expect(
      OperationComparison.changes(from: open, to: restricted).all.map(\.description)
        == ["breaking: Films: it was open to anyone and is open to DEVICE"])
    #expect(
      OperationComparison.changes(from: restricted, to: open).all.map(\.description)
        == ["note: Films: it was open to DEVICE and is open to anyone"])
    let guarded = try Self.version(
      Self.operations, Self.schema, upstream: ", headers: {X-Key: secret}")
    let changes = OperationComparison.changes(from: open, to: guarded)
    #expect(changes.isBreaking)
    #expect(
      changes.all.allSatisfy { $0.message.hasSuffix("is open to callers with their own token") })
  }

  @Test("An entity that is no longer stored, or misses a field, is breaking for its readers")
  func comparesEntities() throws {
    let before = try Self.version(Self.operations, Self.schema)
    let after = try Self.version(
      Self.operations.replacing(" studio { id name }", with: "").split(separator: "\n")
        .filter { !$0.hasPrefix("query Found") }.joined(separator: "\n"), Self.schema)
    let changes = OperationComparison.changes(from: before, to: after).all.map(\.description)
    #expect(changes.contains("breaking: /v1/entities/Studio: the type is no longer stored"))
    #expect(changes.contains("breaking: /v1/entities/Film: studio: the field is removed"))
  }
}
