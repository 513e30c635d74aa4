import HTTPServer
import HTTPWire
import LosslessJSON
import Model
import Testing
import Upstream

@testable import Endpoints
@testable import Gateway

struct OpenAPIDocumentTests {
  @Test("The document contains the operating routes")
  func containsOperatingRoutes() throws {
    let document = OpenAPIDocument(operations: [], version: "1.2.3").value()
    #expect(document["openapi"] == "3.1.0")
    #expect(document["info"]?["version"] == "1.2.3")
    for path in ["/healthz", "/readyz", "/metrics", "/v1/operations", "/v1/admin/purge"] {
      #expect(document["paths"]?[path] != nil, "\(path)")
    }
  }

  @Test("Descriptions of operations, fragments and variables appear, with defaults")
  func showsDescriptions() throws {
    let film = OperationDescription(
      name: "Film", description: "One film.",
      fragments: [(name: "FilmRow", text: "What a row shows.")], kind: .query, route: nil,
      variables: [
        OperationDescription.Variable(
          name: "first", description: "How many.", type: "Int! = 3", isRequired: false,
          defaultText: "3", inputType: .nonNull(.int))
      ], policy: nil, role: nil, isOpen: true, isCacheable: false, reason: "never kept")
    let path = OpenAPIDocument(operations: [film], version: "1").value()["paths"]?[
      "/v1/operations/Film"]
    #expect(
      path?["get"]?["description"] == "One film.\n\nFilmRow: What a row shows.\n\nnever kept")
    let parameter = path?["get"]?["parameters"]?.array?.first
    #expect(parameter?["description"] == "How many. (Int! = 3)")
    #expect(parameter?["schema"]?["default"] == 3)
    let body = path?["post"]?["requestBody"]?["content"]?["application/json"]?["schema"]
    #expect(body?["properties"]?["first"]?["default"] == 3)
    #expect(body?["properties"]?["first"]?["description"] == "How many.")
  }
}

/// The OpenAPI document and the route table contain the same paths.
struct OpenAPIRouteTests {
  private static let schema = """
    type Query { films: [Film!]! film(id: ID!): Film }
    type Mutation { rateFilm(id: ID!, stars: Int!): Film }
    type Film { id: ID! title: String }
    """
  private static let documents = """
    query Films @route(path: "/films") { films { id title } }
    query Film($id: ID!) @route(path: "/films/{id}") { film(id: $id) { id title } }
    mutation RateFilm($id: ID!, $stars: Int!) @route(path: "/films/{id}/rating") {
      rateFilm(id: $id, stars: $stars) { id title }
    }
    query Plain { films { id } }
    """

  private let operations: [OperationDescription]
  private let lines: [RouteLine]

  init() throws {
    let loaded = OperationRegistry.load(
      files: [SourceFile(path: "operations.graphql", text: Self.documents)],
      schemaSources: [SourceFile(path: "schema.graphql", text: Self.schema)],
      settings: RegistrySettings())
    let directory = OperationDirectory(
      registry: try #require(loaded.registry, "\(loaded.findings)"))
    operations = directory.descriptions
    lines = LarderRoutes.lines(for: directory.operations, hasPages: false, hasMetrics: true)
  }

  /// The documented operations, as `METHOD /path`.
  private func documented() -> Set<String> {
    let paths = OpenAPIDocument(operations: operations, version: "1").value()["paths"]
    var documented: Set<String> = []
    for path in paths?.members ?? [] {
      for name in path.value.members?.map({ $0.name.uppercased() }) ?? []
      where RequestMethod(name: name) != nil {
        documented.insert("\(name) \(path.name)")
      }
    }
    return documented
  }

  /// A line of the table in the form of the document, which names each operation.
  private func names(of line: RouteLine) -> [String] {
    let path = line.pattern.description.replacing("{key*}", with: "{key}")
    guard path.hasPrefix("/v1/operations/{name}") else { return ["\(line.method.name) \(path)"] }
    let isQueryOnly = line.method == .get || path.hasSuffix("/diff")
    return operations.filter { $0.kind == .query || !isQueryOnly }.map {
      "\(line.method.name) \(path.replacing("{name}", with: $0.name))"
    }
  }

  /// Actions after a key; in the route table they are part of the key.
  private static let keyActions = ["/uploads", "/presign", "/copy"]

  @Test("Every documented path is served")
  func servesEveryDocumentedPath() {
    let served = Set(lines.flatMap(names))
    let unknown = documented().filter { path in
      !served.contains(path) && !Self.keyActions.contains { path.hasSuffix("{key}" + $0) }
    }
    #expect(unknown.isEmpty, "\(unknown.sorted())")
  }

  @Test("Every route is documented")
  func documentsEveryRoute() {
    let missing = Set(lines.flatMap(names)).subtracting(documented())
    #expect(missing.isEmpty, "\(missing.sorted())")
  }
}
