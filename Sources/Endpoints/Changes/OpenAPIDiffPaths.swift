import Gateway
import LosslessJSON

/// What lies below a query's paths, and list diffs, in `/openapi.json`.
enum OpenAPIDiffPaths {
  /// Below one path of a query.
  ///
  /// - Parameters:
  ///   - id: of the query's own `GET`.
  ///   - parameters: the query's.
  static func members(below path: String, id: String, parameters: [JSONValue]) -> [JSONMember] {
    [
      JSONMember(
        "\(path)/diff", diff(id: id, parameters: parameters, of: "the query's first list")),
      JSONMember(
        "\(path)/stream",
        [
          "get": [
            "operationId": .string("\(id)Stream"),
            "description": "The answer, and the answer again whenever what it shows changes.",
            "parameters": .array(
              parameters + [
                [
                  "name": "Last-Event-ID", "in": "header", "schema": ["type": "string"],
                  "description": "The entity tag of the answer that the client has.",
                ], ticket,
              ]),
            "responses": [
              "200": [
                "description": "Events, each a body as the query's own path gives it.",
                "content": ["text/event-stream": ["schema": ["type": "string"]]],
              ],
              "default": problem,
            ],
          ]
        ]),
    ]
  }

  /// `GET` and `POST` of one diff.
  static func diff(id: String, parameters: [JSONValue], of list: String) -> JSONValue {
    [
      "get": [
        "operationId": .string("\(id)Diff"),
        "description": .string("How \(list) became what it is."),
        "parameters": .array(
          parameters + [
            [
              "name": "from", "in": "query", "schema": ["type": "string"],
              "description": "The entity tag of the list that the client has.",
            ]
          ]),
        "responses": responses(extra: [
          JSONMember("304", ["description": "The list is the one that the client has."])
        ]),
      ],
      "post": [
        "operationId": .string("\(id)DiffPost"),
        "description": .string("The same from a list that the client tells."),
        "parameters": .array(parameters),
        "requestBody": ["required": true, "content": ["application/json": ["schema": have]]],
        "responses": responses(extra: []),
      ],
    ]
  }

  /// What stands for a caller who cannot set headers, on streams.
  static let ticket: JSONValue = [
    "name": "ticket", "in": "query", "schema": ["type": "string"],
    "description": "A stream ticket, instead of the caller's headers.",
  ]

  private static let problem: JSONValue = ["$ref": "#/components/responses/Problem"]

  private static let have: JSONValue = [
    "type": "object", "required": ["have"],
    "properties": [
      "have": [
        "type": "array", "description": "Pairs of `Type/id` and `_rev`, in order.",
        "items": [
          "type": "array", "items": ["type": "string"], "minItems": 2, "maxItems": 2,
        ],
      ]
    ],
  ]

  private static func responses(extra: [JSONMember]) -> JSONValue {
    let answer: JSONValue = [
      "description":
        "`kind` is `diff`, or `full` where no base is known or a diff would be larger.",
      "content": [
        "application/json": [
          "schema": [
            "type": "object", "required": ["kind", "etag", "count", "cursor"],
            "properties": .object(properties),
          ]
        ]
      ],
    ]
    return .object([JSONMember("200", answer)] + extra + [JSONMember("default", problem)])
  }

  private static let properties: [JSONMember] = [
    JSONMember("kind", ["type": "string", "enum": ["diff", "full"]]),
    JSONMember("from", ["type": "string"]),
    JSONMember("etag", ["type": "string"]),
    JSONMember("oldCount", ["type": "integer"]),
    JSONMember("count", ["type": "integer"]),
    JSONMember(
      "deletes",
      [
        "type": "array", "items": ["type": "integer"],
        "description": "Places in the old list.",
      ]),
    JSONMember("inserts", steps("index")),
    JSONMember("moves", steps("from", "to")),
    JSONMember("updates", steps("old", "new")),
    JSONMember(
      "entities", ["type": "object", "description": "What was inserted or updated, by `Type/id`."]),
    JSONMember("items", ["type": "array", "items": ["type": "object"]]),
    JSONMember("cursor", ["type": "string"]),
  ]

  private static func steps(_ places: String...) -> JSONValue {
    let members = places.map { JSONMember($0, ["type": "integer"]) }
    return [
      "type": "array",
      "items": [
        "type": "object",
        "properties": .object(members + [JSONMember("id", ["type": "string"])]),
      ],
    ]
  }
}
