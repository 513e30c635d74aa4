import Gateway
import LosslessJSON
import Model

/// `/openapi.json`: OpenAPI 3.1, the template and the paths of the operations.
///
/// The template, `openapi.yaml`, is a document without these paths. Its member `x-larder-operation` has
/// what the paths of all operations have in common; no member `x-larder-…` is served. Schemas of local types
/// are added to its components, see ``OpenAPILocalTypes``.
struct OpenAPIDocument {
  let template: JSONValue
  let operations: [OperationDescription]
  let version: String
  var local = LocalSchema.none

  /// The prefix of the template's members that are not served.
  private static let ownPrefix = "x-larder-"

  func value() -> JSONValue {
    var document = JSONValue.object(
      (template.members ?? []).filter { !$0.name.hasPrefix(Self.ownPrefix) })
    document["info"]?["version"] = .string(version)
    document["paths"] = .object(
      operations.flatMap { $0.kind == .subscription ? streamPaths(of: $0) : paths(of: $0) }
        + (template["paths"]?.members ?? []))
    if !local.isEmpty { OpenAPILocalTypes(schema: local).add(to: &document) }
    return document
  }

  private func paths(of operation: OperationDescription) -> [JSONMember] {
    let path = "/v1/operations/\(operation.name)"
    var paths = [JSONMember(path, plainPath(operation))]
    paths += below(path, operation, id: operation.name, inPath: [])
    if let route = operation.route {
      paths.append(JSONMember("/api\(route)", routedPath(operation, route: route)))
      paths += below(
        "/api\(route)", operation, id: "\(operation.name)Route", inPath: Self.names(inPath: route))
    }
    return paths
  }

  /// The paths of a subscription, which has only streams.
  private func streamPaths(of operation: OperationDescription) -> [JSONMember] {
    func path(_ path: String, id: String, inPath: Set<String>) -> JSONMember {
      let name = "/events"
      let common = template["x-larder-operation"]?[name]?["get"]?["description"]?.string
      return JSONMember(
        "\(path)/stream",
        [
          "get": method(
            name, "get", id: id,
            description: [Self.text(of: operation), common].compactMap { $0 }
              .joined(separator: "\n\n"),
            parameters: parameters(of: operation, inPath: inPath))
        ])
    }
    let name = operation.name
    let route = operation.route.map {
      path("/api\($0)", id: "\(name)Route", inPath: Self.names(inPath: $0))
    }
    return [path("/v1/operations/\(name)", id: name, inPath: [])] + [route].compactMap { $0 }
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

  /// The paths of a query's diff and stream.
  private func below(
    _ path: String, _ operation: OperationDescription, id: String, inPath: Set<String>
  ) -> [JSONMember] {
    guard operation.kind == .query else { return [] }
    let parameters = parameters(of: operation, inPath: inPath)
    return [
      JSONMember(
        "\(path)/diff",
        [
          "get": method("/diff", "get", id: "\(id)Diff", parameters: parameters),
          "post": method("/diff", "post", id: "\(id)DiffPost", parameters: parameters),
        ]),
      JSONMember(
        "\(path)/stream",
        ["get": method("/stream", "get", id: "\(id)Stream", parameters: parameters)]),
    ]
  }

  /// A method of an operation's path, from what the template has at these names.
  ///
  /// - Parameter parameters: those of the operation; those of the template follow.
  private func method(
    _ names: String..., id: String, description: String? = nil, parameters: [JSONValue],
    body: JSONValue? = nil
  ) -> JSONValue {
    let common = names.reduce(template["x-larder-operation"]) { $0?[$1] }
    var members = [JSONMember("operationId", .string(id))]
    if let description = description.map(JSONValue.string) ?? common?["description"] {
      members.append(JSONMember("description", description))
    }
    members.append(
      JSONMember("parameters", .array(parameters + (common?["parameters"]?.array ?? []))))
    if let body { members.append(JSONMember("requestBody", body)) }
    let others = (common?.members ?? []).filter {
      !["description", "parameters"].contains($0.name)
    }
    return .object(members + others)
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
    let upstream = operation.upstream.map { ["Upstream: \($0)"] } ?? []
    return ([operation.description].compactMap { $0 } + fragments + upstream + [operation.reason])
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
    method(
      "get", id: id, description: Self.text(of: operation),
      parameters: parameters(of: operation, inPath: inPath))
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
    return method(
      "post", id: id, description: Self.text(of: operation), parameters: parameters,
      body: [
        "required": .bool(inBody.contains(where: \.isRequired)),
        "content": ["application/json": ["schema": schema]],
      ])
  }
}

/// JSON schemas (2020-12, as OpenAPI 3.1 uses them) of operations' variables.
enum OpenAPISchemas {
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
}
