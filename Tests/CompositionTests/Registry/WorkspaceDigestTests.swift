import Foundation
import Testing

@testable import Composition

struct WorkspaceDigestTests {
  private static let schema = """
    type Query { film(id: ID!): Film films: [Film!]! }
    type Film { id: ID! title: String year: Int }
    """
  private static let operations = [
    "film.graphql": "query Film($id: ID!) { film(id: $id) { id ...Short } }",
    "films.graphql": "query Films @cache(maxAge: 60) { films { ...Short } }",
    "parts/short.graphql": "fragment Short on Film { title }",
  ]
  private static let cluster = """
    files: off
    cluster:
      postgres: postgres://db/larder
      advertise: http://10.0.0.2:8080
      secret: \(String(repeating: "s", count: 32))

    """

  private static func digest(
    schema: String = schema, _ operations: [String: String] = operations, local: String? = nil,
    settings: String = ""
  ) throws -> String {
    let folder = try OperationsFolder(schema: schema, operations: [:])
    for (name, text) in operations {
      let path = "\(folder.path)/operations/\(name)"
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try folder.write(text, to: "operations/\(name)")
    }
    if let local { try folder.write(local, to: "local.graphql") }
    return try #require(try folder.open(cluster + settings).digest)
  }

  @Test("A single machine has no digest")
  func isForClusters() throws {
    let folder = try OperationsFolder(
      schema: Self.schema,
      operations: Self.operations.filter {
        !$0.key.contains("/")
      }.mapValues { $0.replacing("...Short", with: "title") })
    #expect(try folder.open().digest == nil)
  }

  @Test("Names and order of files, order of definitions, comments and layout do not count")
  func ignoresForm() throws {
    let digest = try Self.digest()
    #expect(digest.count == 64)
    let all = Self.operations.values
    #expect(try Self.digest(["one.graphql": all.sorted().joined(separator: "\n")]) == digest)
    #expect(try Self.digest(["one.graphql": all.sorted(by: >).joined(separator: "\n")]) == digest)
    #expect(
      try Self.digest(
        ["z/a.graphql": all.map { "# A comment\n" + $0.replacing(" ", with: ",\n ") }.joined()])
        == digest)
    #expect(
      try Self.digest(
        schema: "type Film { id: ID!, title: String, year: Int }  # first\n"
          + "type Query { film(id: ID!): Film, films: [Film!]! }") == digest)
  }

  @Test(
    "What changes the meaning of an operation counts",
    arguments: [
      "query Films @cache(maxAge: 61) { films { ...Short } }",
      "query Films @cache(maxAge: 60) { films { ...Short year } }",
      "query AllFilms @cache(maxAge: 60) { films { ...Short } }",
      "\"All films\"\nquery Films @cache(maxAge: 60) { films { ...Short } }",
    ])
  func countsOperations(films: String) throws {
    var operations = Self.operations
    operations["films.graphql"] = films
    #expect(try Self.digest(operations) != Self.digest())
  }

  @Test("The schema, local types and settings of types, links and caching count")
  func countsSchemas() throws {
    let digests = [
      try Self.digest(),
      try Self.digest(schema: Self.schema.replacing("year: Int", with: "year: Float")),
      try Self.digest(schema: Self.schema.replacing("year: Int", with: "year: Int length: Int")),
      try Self.digest(local: "type Note { text: String }"),
      try Self.digest(local: "type Note { text: String, stars: Int }"),
      try Self.digest(settings: "types: {Film: {index: [title]}}"),
      try Self.digest(settings: "types: {Film: {search: [title]}}"),
      try Self.digest(settings: "cache: {maxAge: 1s}"),
    ]
    #expect(Set(digests).count == digests.count)
  }

  @Test("Settings of one node do not count")
  func ignoresPlaces() throws {
    #expect(
      try Self.digest(settings: "listen: 127.0.0.1:9\nlog: {level: debug}\ncache: {memory: 1MiB}")
        == Self.digest())
  }
}
