import Gateway
import LosslessJSON

/// JSON schemas (2020-12, as OpenAPI 3.1 takes them) of what operations take and of problems.
enum OpenAPISchemas {
  /// The response fields of a 202: where what was taken is shown.
  static let location: JSONValue = [
    "Location": [
      "description": "URL of its status.",
      "schema": ["type": "string", "format": "uri-reference"],
    ]
  ]

  static func schema(of shape: VariableShape) -> JSONValue {
    switch shape {
    case .nonNull(let inner): bare(inner)
    default: ["anyOf": [bare(shape), ["type": "null"]]]
    }
  }

  private static func bare(_ shape: VariableShape) -> JSONValue {
    switch shape {
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
    case .scalar(let name): ["description": .string(name)]
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
