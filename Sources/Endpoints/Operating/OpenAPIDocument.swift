import Gateway
import LosslessJSON
import Model

/// `/openapi.json`: OpenAPI 3.1, generated from the operations served.
struct OpenAPIDocument {
  let operations: [OperationDescription]
  let version: String

  func value() -> JSONValue {
    var paths: [JSONMember] = []
    for operation in operations where operation.kind != .subscription {
      let path = "/v1/operations/\(operation.name)"
      paths.append(JSONMember(path, plainPath(operation)))
      paths += below(path, operation, id: operation.name, inPath: [])
      if let route = operation.route {
        paths.append(JSONMember("/api\(route)", routedPath(operation, route: route)))
        paths += below(
          "/api\(route)", operation, id: "\(operation.name)Route",
          inPath: Self.names(inPath: route))
      }
    }
    return [
      "openapi": "3.1.0",
      "info": ["title": "Larder", "version": .string(version)],
      "paths": .object(
        paths + OpenAPIDevicePaths.members + OpenAPIAccountPaths.members
          + OpenAPIEntityPaths.members + OpenAPIChangePaths.members + OpenAPISyncPaths.members
          + OpenAPIPushPaths.members + OpenAPIFilePaths.members + OpenAPIS3Paths.members
          + OpenAPIOperatingPaths.members),
      "components": [
        "schemas": ["Problem": OpenAPISchemas.problem],
        "responses": ["Problem": OpenAPISchemas.problemResponse],
      ],
    ]
  }

  private func plainPath(_ operation: OperationDescription) -> JSONValue {
    var methods: [JSONMember] = []
    if operation.kind == .query {
      methods.append(JSONMember("get", get(operation, id: operation.name, inPath: [])))
    }
    methods.append(JSONMember("post", post(operation, id: "\(operation.name)Post", inPath: [])))
    return .object(methods)
  }

  private func routedPath(_ operation: OperationDescription, route: String) -> JSONValue {
    let inPath = Self.names(inPath: route)
    let id = "\(operation.name)Route"
    return operation.kind == .query
      ? ["get": get(operation, id: id, inPath: inPath)]
      : ["post": post(operation, id: id, inPath: inPath)]
  }

  /// The paths of a query's stream and diff.
  private func below(
    _ path: String, _ operation: OperationDescription, id: String, inPath: Set<String>
  ) -> [JSONMember] {
    guard operation.kind == .query else { return [] }
    return OpenAPIDiffPaths.members(
      below: path, id: id, parameters: parameters(of: operation, inPath: inPath))
  }

  private static func names(inPath route: String) -> Set<String> {
    Set(
      route.split(separator: "/").filter { $0.hasPrefix("{") }.map {
        String($0.dropFirst().dropLast())
      })
  }

  private func parameters(
    of operation: OperationDescription, inPath: Set<String>
  ) -> [JSONValue] {
    operation.variables.map { variable in
      let isInPath = inPath.contains(variable.name)
      return [
        "name": .string(variable.name),
        "in": .string(isInPath ? "path" : "query"),
        "required": .bool(isInPath || variable.isRequired),
        "description": .string(Self.text(of: variable)),
        "schema": Self.schema(of: variable),
      ]
    }
  }

  /// The descriptions of the operation and its fragments, and whether its responses are cached.
  private static func text(of operation: OperationDescription) -> String {
    let fragments = operation.fragments.map { "\($0.name): \($0.text)" }
    return ([operation.description].compactMap { $0 } + fragments + [operation.reason])
      .joined(separator: "\n\n")
  }

  private static func text(of variable: OperationDescription.Variable) -> String {
    variable.description.map { "\($0) (\(variable.type))" } ?? variable.type
  }

  /// The schema of a variable, with its default.
  private static func schema(of variable: OperationDescription.Variable) -> JSONValue {
    let schema = OpenAPISchemas.schema(of: variable.inputType)
    guard let text = variable.defaultText, let value = try? JSONValue(checked: text) else {
      return schema
    }
    return .object((schema.members ?? []) + [JSONMember("default", value)])
  }

  /// The schema of a variable as a member of a body, with the variable's description.
  private static func member(for variable: OperationDescription.Variable) -> JSONValue {
    let schema = schema(of: variable)
    guard let description = variable.description else { return schema }
    let others = (schema.members ?? []).filter { $0.name != "description" }
    return .object(others + [JSONMember("description", .string(description))])
  }

  private func get(
    _ operation: OperationDescription, id: String, inPath: Set<String>
  ) -> JSONValue {
    [
      "operationId": .string(id),
      "description": .string(Self.text(of: operation)),
      "parameters": .array(parameters(of: operation, inPath: inPath)),
      "responses": responses(
        extra: [JSONMember("304", ["description": "Unchanged; the entity tag matches."])]),
    ]
  }

  private func post(
    _ operation: OperationDescription, id: String, inPath: Set<String>
  ) -> JSONValue {
    let inBody = operation.variables.filter { !inPath.contains($0.name) }
    let parameters = operation.variables.filter { inPath.contains($0.name) }.map {
      variable -> JSONValue in
      [
        "name": .string(variable.name), "in": "path", "required": true,
        "schema": OpenAPISchemas.schema(of: variable.inputType),
      ]
    }
    let schema: JSONValue = [
      "type": "object",
      "properties": .object(
        inBody.map { JSONMember($0.name, Self.member(for: $0)) }),
      "required": .array(inBody.filter(\.isRequired).map { .string($0.name) }),
    ]
    return [
      "operationId": .string(id),
      "description": .string(Self.text(of: operation)),
      "parameters": .array(parameters),
      "requestBody": [
        "required": .bool(inBody.contains(where: \.isRequired)),
        "content": ["application/json": ["schema": schema]],
      ],
      "responses": responses(extra: []),
    ]
  }

  private func responses(extra: [JSONMember]) -> JSONValue {
    let response: JSONValue = [
      "description": "The operation's data, in the shape of the upstream API.",
      "content": [
        "application/json": [
          "schema": [
            "type": "object",
            "properties": [
              "data": ["type": ["object", "null"]], "errors": ["type": "array"],
              "stale": ["type": "array"],
            ],
          ]
        ]
      ],
    ]
    let problem: JSONValue = ["$ref": "#/components/responses/Problem"]
    return .object([JSONMember("200", response)] + extra + [JSONMember("default", problem)])
  }
}

/// JSON schemas (2020-12, as OpenAPI 3.1 uses them) of operations' variables and of problems.
enum OpenAPISchemas {
  /// The response fields of a 202: the URL of the accepted resource.
  static let location: JSONValue = [
    "Location": [
      "description": "The URL that shows its status.",
      "schema": ["type": "string", "format": "uri-reference"],
    ]
  ]

  static func schema(of type: InputType) -> JSONValue {
    switch type {
    case .nonNull(let inner): bare(inner)
    default: ["anyOf": [bare(type), ["type": "null"]]]
    }
  }

  private static func bare(_ type: InputType) -> JSONValue {
    switch type {
    case .nonNull(let inner): bare(inner)
    case .list(let inner): ["type": "array", "items": schema(of: inner)]
    case .int: ["type": "integer", "format": "int32"]
    case .float: ["type": "number"]
    case .string: ["type": "string"]
    case .boolean: ["type": "boolean"]
    case .id: ["type": ["string", "integer"]]
    case .enumeration(_, let values):
      ["type": "string", "enum": .array(values.map { .string($0) })]
    case .object(let name): ["type": "object", "description": .string(name)]
    case .scalar(let name, _): ["description": .string(name)]
    }
  }

  static let problem: JSONValue = [
    "type": "object",
    "required": ["type", "title", "status", "detail", "code", "retry"],
    "properties": [
      "type": ["type": "string"], "title": ["type": "string"], "status": ["type": "integer"],
      "detail": ["type": "string"], "instance": ["type": "string"], "code": ["type": "string"],
      "retry": ["type": "string", "enum": ["never", "after", "same-key", "new-key"]],
      "requestId": ["type": "string"],
      "errors": [
        "type": "array",
        "items": [
          "type": "object", "required": ["detail"],
          "properties": [
            "pointer": ["type": "string"], "parameter": ["type": "string"],
            "detail": ["type": "string"],
          ],
        ],
      ],
    ],
  ]

  static let problemResponse: JSONValue = [
    "description": "An error (RFC 9457).",
    "content": [
      "application/problem+json": ["schema": ["$ref": "#/components/schemas/Problem"]]
    ],
  ]
}
