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
      template: try OpenAPIResource.value(), operations: [film], version: "1", isFull: true
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

  private static func description(
    _ name: String, _ kind: OperationKind = .query, route: String? = nil, role: String? = nil,
    isOpen: Bool = true, variables: [OperationDescription.Variable] = []
  ) -> OperationDescription {
    OperationDescription(
      name: name, documentID: "0", description: "\(name) in a sentence. And more.", fragments: [],
      kind: kind, route: route, variables: variables, policy: nil, role: role, isOpen: isOpen,
      isCacheable: false, reason: "never kept")
  }

  private static let id = OperationDescription.Variable(
    name: "id", description: nil, type: "ID!", isRequired: true, defaultText: nil,
    inputType: .nonNull(.id))

  private static func paths(
    of operations: [OperationDescription], isFull: Bool,
    template: JSONValue? = nil, schemas: OpenAPISchemas = OpenAPISchemas()
  ) throws -> [JSONMember] {
    let document = OpenAPIDocument(
      template: try template ?? OpenAPIResource.value(), operations: operations, version: "1",
      schemas: schemas, isFull: isFull
    ).value()
    return (document["paths"]?.members ?? []).filter {
      $0.name.hasPrefix("/api") || $0.name.hasPrefix("/v1/operations/")
    }
  }

  @Test("Each operation has one path, its own if it has one")
  func listsOnePath() throws {
    let operations = [
      Self.description("Film", route: "/films/{id}", variables: [Self.id]),
      Self.description("Films"), Self.description("Rate", .mutation),
      Self.description("Changed", .subscription, route: "/changed"),
    ]
    let paths = try Self.paths(of: operations, isFull: false)
    #expect(
      paths.map { "\($0.name) \($0.value.members?.map(\.name) ?? [])" } == [
        #"/api/films/{id} ["get"]"#, #"/v1/operations/Films ["get"]"#,
        #"/v1/operations/Rate ["post"]"#, #"/api/changed/stream ["get"]"#,
      ])
    #expect(
      paths.flatMap { $0.value.members ?? [] }.map { $0.value["operationId"] } == [
        "Film", "Films", "Rate", "Changed",
      ])
  }

  @Test("The full document has all paths of an operation, with ids that begin with its name")
  func listsAllPaths() throws {
    let operations = [
      Self.description("Film", route: "/films/{id}", variables: [Self.id]),
      Self.description("Changed", .subscription, route: "/changed"),
    ]
    let paths = try Self.paths(of: operations, isFull: true)
    let methods = paths.flatMap { path in
      (path.value.members ?? []).map {
        "\($0.name) \(path.name) \($0.value["operationId"]?.string ?? "")"
      }
    }
    #expect(
      methods == [
        "get /api/films/{id} Film", "get /api/films/{id}/diff FilmDiff",
        "post /api/films/{id}/diff FilmDiffPost", "get /api/films/{id}/stream FilmStream",
        "get /v1/operations/Film FilmByName", "post /v1/operations/Film FilmByNamePost",
        "get /v1/operations/Film/diff FilmByNameDiff",
        "post /v1/operations/Film/diff FilmByNameDiffPost",
        "get /v1/operations/Film/stream FilmByNameStream",
        "get /api/changed/stream Changed", "get /v1/operations/Changed/stream ChangedByName",
      ])
  }

  @Test("Ids differ from all others also without regard to case")
  func idsDiffer() throws {
    // `search` and `listOperations` are the service's own.
    let operations = ["Search", "film", "Film", "FilmPost", "listoperations"].map {
      Self.description($0)
    }
    let paths = try Self.paths(of: operations, isFull: false)
    #expect(
      paths.flatMap { $0.value.members ?? [] }.map { $0.value["operationId"] } == [
        "SearchOperation", "film", "FilmOperation", "FilmPostOperation",
        "listoperationsOperation",
      ])
  }

  @Test("An operation's methods have their own members, then those of the template")
  func mergesTheTemplate() throws {
    let template: JSONValue = [
      "openapi": "3.1.0", "info": ["title": "A"],
      "x-larder-operation": [
        "get": [
          "tags": ["T"], "security": [[:], ["bearer": []], ["device": []], ["admin": []]],
          "parameters": ["P"], "responses": ["200": ["description": "D"]],
        ],
        "mutation": ["responses": ["200": ["description": "M"]]],
      ],
      "paths": JSONValue.object([]), "components": ["schemas": JSONValue.object([])],
    ]
    let schemas = OpenAPISchemas(
      responses: ["Film": ["$ref": "#/a"], "Rate": ["$ref": "#/b"]],
      variables: ["Film": ["id": ["type": "string"]]])
    let film = Self.description("Film", route: "/films/{id}", variables: [Self.id])
    let paths = try Self.paths(of: [film], isFull: false, template: template, schemas: schemas)
    #expect(
      paths.first?.value["get"]?.text == #"{"operationId":"Film","tags":["T"],"#
        + #""summary":"Film in a sentence","description":"Film in a sentence. And more.\n\n"#
        + #"never kept","security":[{},{"bearer":[]},{"device":[]},{"admin":[]}],"parameters":["#
        + #"{"name":"id","in":"path","required":true,"description":"ID!","#
        + #""schema":{"type":"string"}},"P"],"responses":{"200":{"description":"D","content":"#
        + ##"{"application/json":{"schema":{"$ref":"#/a"}}}}}}"##)
    let rate = Self.description("Rate", .mutation, variables: [Self.id])
    let post = try Self.paths(of: [rate], isFull: false, template: template, schemas: schemas)
      .first?.value["post"]
    #expect(
      post?["requestBody"] == [
        "required": true,
        "content": [
          "application/json": [
            "schema": [
              "type": "object", "additionalProperties": false, "required": ["id"],
              "properties": ["id": ["type": "string"]],
            ]
          ]
        ],
      ])
  }

  @Test(
    "The credentials of an operation are those that its access takes",
    arguments: [
      ("PUBLIC", false, 5), ("ADMIN", false, 1), ("DEVICE", false, 2), ("USER", false, 2),
      (nil, true, 5), (nil, false, 4),
    ] as [(String?, Bool, Int)])
  func listsCredentials(role: String?, isOpen: Bool, count: Int) throws {
    let film = Self.description("Film", role: role, isOpen: isOpen)
    let security = try Self.paths(of: [film], isFull: false)
      .first?.value["get"]?["security"]?.array
    #expect(security?.count == count, "\(security ?? [])")
  }

  @Test("Input objects are JSON in a parameter; other variables have a schema without null")
  func describesParameters() throws {
    let variables = [
      OperationDescription.Variable(
        name: "filter", description: nil, type: "FilmFilter", isRequired: false,
        defaultText: nil, inputType: .object(name: "FilmFilter")),
      OperationDescription.Variable(
        name: "ids", description: nil, type: "[ID!]", isRequired: false, defaultText: nil,
        inputType: .list(.nonNull(.id))),
    ]
    let schemas = OpenAPISchemas(
      variables: ["Films": ["filter": ["$ref": "#/components/schemas/FilmFilter"]]])
    let methods = try Self.paths(
      of: [Self.description("Films", variables: variables)], isFull: true, schemas: schemas
    ).first?.value
    let parameters = methods?["get"]?["parameters"]
    #expect(
      parameters?[0]?["schema"] == [
        "type": "string", "contentMediaType": "application/json",
        "contentSchema": ["$ref": "#/components/schemas/FilmFilter"],
      ])
    #expect(parameters?[0]?["content"] == nil)
    #expect(parameters?[1]?["schema"] == ["type": "array", "items": ["type": "string"]])
    let body = methods?["post"]?["requestBody"]?["content"]?["application/json"]?["schema"]
    #expect(
      body?["properties"]?["filter"] == [
        "anyOf": [["$ref": "#/components/schemas/FilmFilter"], ["type": "null"]]
      ])
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
      template: try OpenAPIResource.value(), operations: operations, version: "1", isFull: true
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
      case .query: operation.hasDiff || !path.hasSuffix("/diff")
      case .mutation: !isQueryOnly
      case .subscription: path.hasSuffix("/stream")
      }
    }
    return named.map { "\(line.method.name) \(path.replacing("{name}", with: $0.name))" }
  }

  /// Actions after a key; in the route table they are part of the key.
  private static let keyActions = ["/uploads", "/presign", "/copy"]

  @Test("Only queries that select a list of entities have diffs")
  func listsDiffsOfLists() throws {
    let routes = Set(lines.map(\.pattern.description))
    #expect(routes.contains("/api/films/diff") && routes.contains("/api/films/{id}/stream"))
    #expect(!routes.contains("/api/films/{id}/diff"))
    let documented = try documented()
    #expect(documented.contains("POST /v1/operations/Plain/diff"))
    #expect(documented.contains("GET /v1/operations/Film/stream"))
    #expect(!documented.contains { $0.contains("Film/diff") || $0.contains("{id}/diff") })
  }

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
