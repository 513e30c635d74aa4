import HTTPServer
import HTTPWire
import LosslessJSON
import Model
import Testing
import Upstream

@testable import Composition
@testable import Endpoints
@testable import Gateway

struct OpenAPIDocumentTests {
  @Test("The document contains the operating routes")
  func containsOperatingRoutes() throws {
    let document = OpenAPIDocument(
      template: try OpenAPIResource.value(), operations: [], version: "1.2.3"
    ).value()
    #expect(document["openapi"] == "3.1.0")
    #expect(document["info"]?["version"] == "1.2.3")
    for path in ["/healthz", "/readyz", "/metrics", "/v1/operations", "/v1/admin/purge"] {
      #expect(document["paths"]?[path] != nil, "\(path)")
    }
  }

  @Test("Descriptions of operations, fragments and variables appear, with defaults")
  func showsDescriptions() throws {
    let film = OperationDescription(
      name: "Film", documentID: "0", description: "One film.",
      fragments: [(name: "FilmRow", text: "What a row shows.")], kind: .query, route: nil,
      variables: [
        OperationDescription.Variable(
          name: "first", description: "How many.", type: "Int! = 3", isRequired: false,
          defaultText: "3", inputType: .nonNull(.int))
      ], policy: nil, role: nil, isOpen: true, isCacheable: false, reason: "never kept")
    let paths = OpenAPIDocument(
      template: try OpenAPIResource.value(), operations: [film], version: "1"
    ).value()["paths"]
    let path = paths?["/v1/operations/Film"]
    #expect(
      path?["get"]?["description"] == "One film.\n\nFilmRow: What a row shows.\n\nnever kept")
    let parameter = path?["get"]?["parameters"]?.array?.first
    #expect(parameter?["description"] == "How many. (Int! = 3)")
    #expect(parameter?["schema"]?["default"] == 3)
    let body = path?["post"]?["requestBody"]?["content"]?["application/json"]?["schema"]
    #expect(body?["properties"]?["first"]?["default"] == 3)
    #expect(body?["properties"]?["first"]?["description"] == "How many.")
  }

  @Test("An operation's methods have their own members first, then those of the template")
  func mergesTheTemplate() throws {
    let template: JSONValue = [
      "openapi": "3.1.0", "info": ["title": "A"],
      "x-larder-operation": [
        "get": ["responses": ["200": 1]],
        "post": ["responses": ["200": 2]],
        "/diff": [
          "get": ["description": "Diff.", "parameters": ["from"], "responses": ["200": 3]],
          "post": ["description": "Same.", "requestBody": "have", "responses": ["200": 4]],
        ],
        "/stream": [
          "get": ["description": "Stream.", "parameters": ["ticket"], "responses": ["200": 5]]
        ],
      ],
      "paths": ["/healthz": JSONValue.object([])],
    ]
    let film = OperationDescription(
      name: "Film", documentID: "0", description: "One film.", fragments: [], kind: .query,
      route: "/films/{id}",
      variables: [
        OperationDescription.Variable(
          name: "id", description: nil, type: "ID!", isRequired: true, defaultText: nil,
          inputType: .nonNull(.id))
      ], policy: nil, role: nil, isOpen: true, isCacheable: false, reason: "never kept")
    let value = OpenAPIDocument(template: template, operations: [film], version: "1").value()
    #expect(
      value["paths"]?.members?.map(\.name) == [
        "/v1/operations/Film", "/v1/operations/Film/diff", "/v1/operations/Film/stream",
        "/api/films/{id}", "/api/films/{id}/diff", "/api/films/{id}/stream", "/healthz",
      ])
    #expect(
      value.text == #"{"openapi":"3.1.0","info":{"title":"A","version":"1"},"paths":{"#
        + Self.methods(
          at: "/v1/operations/Film", id: "Film", in: "query",
          body: Self.post(parameters: "", properties: #""id":{"type":["string","integer"]}"#))
        + "," + Self.methods(at: "/api/films/{id}", id: "FilmRoute", in: "path", body: "")
        + #","/healthz":{}}}"#)
  }

  /// The text of the paths of `Film` at one path.
  ///
  /// - Parameter body: the member `post` of the first path.
  private static func methods(
    at path: String, id: String, in place: String, body: String
  ) -> String {
    let own =
      #"{"name":"id","in":"\#(place)","required":true,"description":"ID!","#
      + #""schema":{"type":["string","integer"]}}"#
    return #""\#(path)":{"get":{"operationId":"\#(id)","description":"One film.\n\nnever kept","#
      + #""parameters":[\#(own)],"responses":{"200":1}}\#(body)},"#
      + #""\#(path)/diff":{"get":{"operationId":"\#(id)Diff","description":"Diff.","#
      + #""parameters":[\#(own),"from"],"responses":{"200":3}},"#
      + #""post":{"operationId":"\#(id)DiffPost","description":"Same.","#
      + #""parameters":[\#(own)],"requestBody":"have","responses":{"200":4}}},"#
      + #""\#(path)/stream":{"get":{"operationId":"\#(id)Stream","description":"Stream.","#
      + #""parameters":[\#(own),"ticket"],"responses":{"200":5}}}"#
  }

  private static func post(parameters: String, properties: String) -> String {
    #","post":{"operationId":"FilmPost","description":"One film.\n\nnever kept","#
      + #""parameters":[\#(parameters)],"requestBody":{"required":true,"content":{"#
      + #""application/json":{"schema":{"type":"object","properties":{\#(properties)},"#
      + #""required":["id"]}}}},"responses":{"200":2}}"#
  }
}

/// The OpenAPI document and the route table contain the same paths.
struct OpenAPIRouteTests {
  private static let schema = """
    type Query { films: [Film!]! film(id: ID!): Film }
    type Mutation { rateFilm(id: ID!, stars: Int!): Film }
    type Subscription { filmChanged(id: ID): Film }
    type Film { id: ID! title: String }
    """
  private static let documents = """
    query Films @route(path: "/films") { films { id title } }
    query Film($id: ID!) @route(path: "/films/{id}") { film(id: $id) { id title } }
    mutation RateFilm($id: ID!, $stars: Int!) @route(path: "/films/{id}/rating") {
      rateFilm(id: $id, stars: $stars) { id title }
    }
    query Plain { films { id } }
    subscription FilmChanged($id: ID!) @route(path: "/films/{id}/events") {
      filmChanged(id: $id) { id title }
    }
    subscription AnyChanged { filmChanged { id } }
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
  private func documented() throws -> Set<String> {
    let paths = OpenAPIDocument(
      template: try OpenAPIResource.value(), operations: operations, version: "1"
    ).value()["paths"]
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
    let named = operations.filter { operation in
      switch operation.kind {
      case .query: true
      case .mutation: !isQueryOnly
      case .subscription: path.hasSuffix("/stream")
      }
    }
    return named.map { "\(line.method.name) \(path.replacing("{name}", with: $0.name))" }
  }

  /// Actions after a key; in the route table they are part of the key.
  private static let keyActions = ["/uploads", "/presign", "/copy"]

  @Test("Every documented path is served")
  func servesEveryDocumentedPath() throws {
    let served = Set(lines.flatMap(names))
    let unknown = try documented().filter { path in
      !served.contains(path) && !Self.keyActions.contains { path.hasSuffix("{key}" + $0) }
    }
    #expect(unknown.isEmpty, "\(unknown.sorted())")
  }

  @Test("Every route is documented")
  func documentsEveryRoute() throws {
    let missing = Set(lines.flatMap(names)).subtracting(try documented())
    #expect(missing.isEmpty, "\(missing.sorted())")
  }
}
