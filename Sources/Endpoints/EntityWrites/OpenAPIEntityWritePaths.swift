import LosslessJSON
import Model

/// Writes below `/v1/entities` in `/openapi.json`: further methods of the paths in
/// ``OpenAPIEntityPaths``.
enum OpenAPIEntityWritePaths {
  static func methods(of path: String) -> [JSONMember] { byPath[path] ?? [] }

  private static let byPath: [String: [JSONMember]] = [
    "/v1/entities": [
      operation(
        "post", "writeEntities", "The outcome of each operation; either all are applied or none.",
        body: list)
    ],
    "/v1/entities/{type}": [
      operation(
        "post", "insertEntity", "The new entity.", [inPath("type")], body: entity,
        success: "201"),
      operation(
        "patch", "updateEntities", "The number of entities that the filter matched: `matched`.",
        [inPath("type")] + filter, body: entity),
      operation(
        "delete", "deleteEntities", "The number of entities that the filter matched: `matched`.",
        [inPath("type")] + filter),
    ],
    "/v1/entities/{type}/{id}": [
      operation(
        "put", "insertOrUpdateEntity", "The entity; 201 if it is new.",
        one + [ifMatch, ifNoneMatch], body: entity),
      operation("patch", "updateEntity", "The entity.", one + [ifMatch], body: entity),
      operation(
        "delete", "deleteEntity", "The entity is deleted.", one + [ifMatch], success: "204"),
    ],
  ]

  // MARK: Parameters

  private static let one = [inPath("type"), inPath("id")]

  private static func inPath(_ name: String) -> JSONValue {
    ["name": .string(name), "in": "path", "required": true, "schema": ["type": "string"]]
  }

  private static let filter: [JSONValue] =
    [
      [
        "name": "filter", "in": "query", "required": true, "schema": ["type": "string"],
        "description": "Selects the entities, for example `age >= :min AND name LIKE ?`.",
      ]
    ] + OpenAPIEntityPaths.arguments

  private static let ifMatch: JSONValue = [
    "name": "If-Match", "in": "header", "schema": ["type": "string"],
    "description": .string(
      "Entity tags of reads of the entity (each write returns the new one), values of `_rev` in "
        + "quotes, or `*`."),
  ]

  private static let ifNoneMatch: JSONValue = [
    "name": "If-None-Match", "in": "header", "schema": ["type": "string", "enum": ["*"]],
    "description": "Writes only if the entity does not exist.",
  ]

  // MARK: Bodies

  private static let entity: JSONValue = ["type": "object"]

  private static let list: JSONValue = [
    "type": "array", "maxItems": 1000,
    "items": [
      "type": "object", "required": ["op", "type"], "additionalProperties": false,
      "properties": [
        "op": [
          "type": "string", "enum": .array(WriteAction.allCases.map { .string($0.rawValue) }),
        ],
        "type": ["type": "string"], "id": ["type": "string"],
        "filter": ["type": "string", "description": "Instead of `id`, for update and delete."],
        "args": [
          "type": ["array", "object"],
          "description": "The value of each `?` in the filter, in order, or of each `:name`.",
        ],
        "data": ["type": "object"],
        "ifMatch": ["type": "string", "description": "A value of `_rev`, an entity tag, or `*`."],
      ],
    ],
  ]

  private static func operation(
    _ method: String, _ id: String, _ text: String, _ parameters: [JSONValue] = [],
    body: JSONValue? = nil, success: String = "200"
  ) -> JSONMember {
    var response: JSONValue = ["description": .string(text)]
    if success != "204" {
      response["content"] = ["application/json": ["schema": ["type": "object"]]]
    }
    var operation: JSONValue = [
      "operationId": .string(id), "parameters": .array(parameters),
      "responses": .object([
        JSONMember(success, response),
        JSONMember("default", ["$ref": "#/components/responses/Problem"]),
      ]),
    ]
    if let body {
      operation["requestBody"] = [
        "required": true, "content": ["application/json": ["schema": body]],
      ]
    }
    return JSONMember(method, operation)
  }
}
