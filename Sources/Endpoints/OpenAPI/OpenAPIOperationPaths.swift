import Gateway
import LosslessJSON
import Model

/// The paths of one operation in the OpenAPI document.
struct OpenAPIOperationPaths {
  let operation: OperationDescription
  /// The id of the method that the operation is called by; those of others begin with it.
  let id: String
  /// The template's members that all operations have in common.
  let common: JSONValue?
  let schemas: OpenAPISchemas
  /// A response to a caller without credentials; nil for none.
  var example: JSONValue?
  /// Whether all paths are listed.
  let isFull: Bool

  private static let summaryMax = 120

  var members: [JSONMember] {
    let byName = "/v1/operations/\(operation.name)"
    guard let route = operation.route else { return paths(byName, id: id, inPath: []) }
    return paths("/api\(route)", id: id, inPath: Self.names(inPath: route))
      + (isFull ? paths(byName, id: "\(id)ByName", inPath: []) : [])
  }

  private func paths(_ path: String, id: String, inPath: Set<String>) -> [JSONMember] {
    switch operation.kind {
    case .mutation:
      return [JSONMember(path, ["post": post("mutation", id: id, inPath: inPath)])]
    case .subscription:
      return [
        JSONMember("\(path)/stream", ["get": stream("/events", "get", id: id, inPath: inPath)])
      ]
    case .query:
      var methods = [JSONMember("get", get(id: id, inPath: inPath))]
      guard isFull else { return [JSONMember(path, .object(methods))] }
      // A path of its own takes variables in the URL alone.
      if operation.route == nil || inPath.isEmpty && path.hasPrefix("/v1/") {
        methods.append(JSONMember("post", post("post", id: "\(id)Post", inPath: inPath)))
      }
      return [JSONMember(path, .object(methods))]
        + (operation.hasDiff
          ? [JSONMember("\(path)/diff", diff(id: id, inPath: inPath))] : [])
        + [
          JSONMember(
            "\(path)/stream",
            ["get": stream("/stream", "get", id: "\(id)Stream", inPath: inPath)])
        ]
    }
  }

  private func diff(id: String, inPath: Set<String>) -> JSONValue {
    [
      "get": method(
        "/diff", "get", id: "\(id)Diff",
        summary: "The changes of the first list in the response of \(operation.name)",
        parameters: parameters(inPath: inPath)),
      "post": method(
        "/diff", "post", id: "\(id)DiffPost",
        summary: "The changes of a given list in the response of \(operation.name)",
        parameters: parameters(inPath: inPath)),
    ]
  }

  private static func names(inPath route: String) -> Set<String> {
    Set(
      route.split(separator: "/").filter { $0.hasPrefix("{") }.map {
        String($0.dropFirst().dropLast())
      })
  }

  // MARK: Methods

  private func get(id: String, inPath: Set<String>) -> JSONValue {
    let method = method(
      "get", id: id, summary: summary, description: text, parameters: parameters(inPath: inPath))
    return responding(method, with: "application/json", responseSchema, example: example)
  }

  private func post(_ name: String, id: String, inPath: Set<String>) -> JSONValue {
    let inBody = operation.variables.filter { !inPath.contains($0.name) }
    let required = inBody.filter(\.isRequired).map { JSONValue.string($0.name) }
    var schema: JSONValue = ["type": "object", "additionalProperties": false]
    if !required.isEmpty { schema["required"] = .array(required) }
    schema["properties"] = .object(inBody.map { JSONMember($0.name, member(for: $0)) })
    let method = method(
      name, id: id, summary: summary, description: text,
      parameters: parameters(inPath: inPath).filter { $0["in"] == "path" },
      body: [
        "required": .bool(!required.isEmpty),
        "content": ["application/json": ["schema": schema]],
      ])
    return responding(method, with: "application/json", responseSchema)
  }

  private func stream(_ names: String..., id: String, inPath: Set<String>) -> JSONValue {
    let isSubscription = operation.kind == .subscription
    let common = names.reduce(self.common) { $0?[$1] }?["description"]?.string
    let method = method(
      names[0], names[1], id: id,
      summary: isSubscription ? summary : "The response of \(operation.name), whenever it changes",
      description: isSubscription
        ? [text, common].compactMap { $0 }.joined(separator: "\n\n") : common,
      parameters: parameters(inPath: inPath))
    return responding(
      method, with: "text/event-stream",
      [
        "type": "string", "contentMediaType": "text/event-stream",
        "contentSchema": [
          "type": "array",
          "items": [
            "type": "object",
            "properties": [
              "event": ["type": "string"], "id": ["type": "string"], "data": responseSchema,
            ],
          ],
        ],
      ])
  }

  /// A method of a path, from what the template has at these names.
  ///
  /// - Parameter parameters: those of the operation; those of the template follow.
  private func method(
    _ names: String..., id: String, summary: String, description: String? = nil,
    parameters: [JSONValue], body: JSONValue? = nil
  ) -> JSONValue {
    let common = names.reduce(self.common) { $0?[$1] }
    var members = [JSONMember("operationId", .string(id))]
    if let tags = common?["tags"] { members.append(JSONMember("tags", tags)) }
    members.append(JSONMember("summary", .string(summary)))
    if let description = description.map(JSONValue.string) ?? common?["description"] {
      members.append(JSONMember("description", description))
    }
    if let security = common?["security"]?.array {
      members.append(JSONMember("security", .array(admitted(security))))
    }
    let all = parameters + (common?["parameters"]?.array ?? [])
    if !all.isEmpty { members.append(JSONMember("parameters", .array(all))) }
    if let body { members.append(JSONMember("requestBody", body)) }
    let given = ["tags", "description", "security", "parameters"]
    return .object(members + (common?.members ?? []).filter { !given.contains($0.name) })
  }

  /// The credentials with which the operation can be called, of those that any operation takes.
  private func admitted(_ security: [JSONValue]) -> [JSONValue] {
    security.filter { requirement in
      let schemes = Set(requirement.members?.map(\.name) ?? [])
      return switch operation.role {
      case "PUBLIC"?: true
      case "ADMIN"?: schemes.contains("admin") || schemes.contains("ticket")
      case "DEVICE"?: schemes.contains("device") || schemes.contains("ticket")
      case "USER"?: schemes.contains("bearer") || schemes.contains("ticket")
      default: operation.isOpen || !schemes.isEmpty
      }
    }
  }

  /// A method with the schema of its successful response.
  private func responding(
    _ method: JSONValue, with mediaType: String, _ schema: JSONValue, example: JSONValue? = nil
  ) -> JSONValue {
    var content: JSONValue = ["schema": schema]
    if let example {
      content["examples"] = [
        "stored": ["summary": "A stored response; lists are cut.", "value": example]
      ]
    }
    var method = method
    method["responses"]?["200"]?["content"] = .object([JSONMember(mediaType, content)])
    return method
  }

  private var responseSchema: JSONValue {
    schemas.responses[operation.name] ?? ["$ref": "#/components/schemas/GraphQLResult"]
  }

  // MARK: Variables

  private func parameters(inPath: Set<String>) -> [JSONValue] {
    operation.variables.map { variable in
      let isInPath = inPath.contains(variable.name)
      var parameter: JSONValue = [
        "name": .string(variable.name),
        "in": .string(isInPath ? "path" : "query"),
        "required": .bool(isInPath || variable.isRequired),
        "description": .string(Self.text(of: variable)),
      ]
      let schema = defaulting(self.schema(of: variable), variable)
      if variable.inputType.isStructured {
        // As JSON text: generated clients send an object in other forms, which are not the service's. Members
        // of objects can also be given by their own names: `filter.year.gte=1990`.
        parameter["schema"] = [
          "type": "string", "contentMediaType": "application/json", "contentSchema": schema,
        ]
      } else {
        parameter["schema"] = schema
      }
      return parameter
    }
  }

  /// The schema of a variable as a member of a body, with the variable's description.
  private func member(for variable: OperationDescription.Variable) -> JSONValue {
    let bare = schema(of: variable)
    let isAny = bare["type"] == nil && bare["$ref"] == nil && bare["anyOf"] == nil
    var schema: JSONValue =
      variable.inputType.isNonNull || isAny ? bare : ["anyOf": [bare, ["type": "null"]]]
    if let description = variable.description { schema["description"] = .string(description) }
    return defaulting(schema, variable)
  }

  /// The schema of a variable's values other than null.
  private func schema(of variable: OperationDescription.Variable) -> JSONValue {
    schemas.variables[operation.name]?[variable.name]
      ?? OpenAPIInputSchemas.schema(of: variable.inputType.nullable)
  }

  private func defaulting(
    _ schema: JSONValue, _ variable: OperationDescription.Variable
  ) -> JSONValue {
    guard let text = variable.defaultText, let value = try? JSONValue(checked: text),
      value != .null
    else { return schema }
    var schema = schema
    schema["default"] = value
    return schema
  }

  // MARK: Texts

  /// The first sentence or line of the description.
  private var summary: String {
    let lines = operation.description?.split(whereSeparator: \.isNewline)
    let line = lines?.first.map(String.init) ?? ""
    let sentence = line.firstRange(of: ". ").map { String(line[..<$0.lowerBound]) } ?? line
    let text = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    guard !text.isEmpty, text.count <= Self.summaryMax else {
      return "The \(operation.kind.rawValue) \(operation.name)"
    }
    return text
  }

  /// The descriptions of the operation and its fragments, and whether its responses are cached.
  private var text: String {
    let fragments = operation.fragments.map { "\($0.name): \($0.text)" }
    let upstream = operation.upstream.map { ["Upstream: \($0)"] } ?? []
    return ([operation.description].compactMap { $0 } + fragments + upstream + [operation.reason])
      .joined(separator: "\n\n")
  }

  private static func text(of variable: OperationDescription.Variable) -> String {
    variable.description.map { "\($0) (\(variable.type))" } ?? variable.type
  }
}

extension InputType {
  /// Whether a query string has values as JSON: input objects, and lists of them.
  fileprivate var isStructured: Bool {
    switch self {
    case .nonNull(let inner): inner.isStructured
    case .list(let item): item.nullable.isList || item.isStructured
    case .object: true
    case .int, .float, .string, .boolean, .id, .enumeration, .scalar: false
    }
  }

  private var isList: Bool {
    if case .list = self { true } else { false }
  }
}

/// JSON schemas of variables whose operations have no other description.
enum OpenAPIInputSchemas {
  static func schema(of type: InputType) -> JSONValue {
    switch type {
    case .nonNull(let inner): bare(inner)
    default: bare(type)
    }
  }

  private static func bare(_ type: InputType) -> JSONValue {
    switch type {
    case .nonNull(let inner): bare(inner)
    case .list(let inner):
      [
        "type": "array",
        "items": inner.isNonNull ? bare(inner) : ["anyOf": [bare(inner), ["type": "null"]]],
      ]
    case .int: ["type": "integer", "format": "int32"]
    case .float: ["type": "number"]
    case .string, .id: ["type": "string"]
    case .boolean: ["type": "boolean"]
    case .enumeration(_, let values):
      ["type": "string", "enum": .array(values.map { .string($0) })]
    case .object(let name):
      ["type": "object", "description": .string(name), "additionalProperties": true]
    case .scalar(let name, _): ["description": .string(name)]
    }
  }
}
