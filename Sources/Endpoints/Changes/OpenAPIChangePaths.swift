import Gateway
import LosslessJSON

/// The change log in `/openapi.json`.
enum OpenAPIChangePaths {
  static let members: [JSONMember] = [
    JSONMember(
      "/v1/changes",
      [
        "get": [
          "operationId": "listChanges",
          "description":
            "The changes since a cursor; without a cursor, a snapshot of all entities.",
          "parameters": .array(
            filters + [
              parameter("limit", ["type": "integer", "minimum": 1, "maximum": 1000]),
              parameter("wait", ["type": "number", "minimum": 0, "maximum": 60]),
            ]),
          "responses": [
            "200": [
              "description": "One page of changes.",
              "content": ["application/json": ["schema": page]],
            ],
            "410": ["$ref": "#/components/responses/Problem"],
            "default": ["$ref": "#/components/responses/Problem"],
          ],
        ]
      ]),
    JSONMember(
      "/v1/changes/stream",
      [
        "get": [
          "operationId": "streamChanges",
          "description": "The changes as server-sent events: change, bookmark and reset.",
          "parameters": .array(
            filters + [
              ["name": "Last-Event-ID", "in": "header", "schema": ["type": "string"]],
              OpenAPIDiffPaths.ticket,
            ]),
          "responses": [
            "200": [
              "description": "Events; the data of each change is an element of a page's `changes`.",
              "content": ["text/event-stream": ["schema": ["type": "string"]]],
            ],
            "default": ["$ref": "#/components/responses/Problem"],
          ],
        ]
      ]),
  ]

  private static let filters: [JSONValue] =
    [
      parameter("since", ["type": "string"]), parameter("types", ["type": "string"]),
      parameter("on", ["type": "string"]),
      [
        "name": "filter", "in": "query", "schema": ["type": "string"],
        "description":
          "A condition on the entities of `types`; an entity that starts to match counts as new.",
      ],
    ] + OpenAPIEntityPaths.arguments

  private static let page: JSONValue = [
    "type": "object",
    "properties": [
      "cursor": ["type": "string"], "complete": ["type": "boolean"],
      "changes": ["type": "array", "items": ["type": "object"]],
    ],
    "required": ["cursor", "complete", "changes"],
  ]

  private static func parameter(_ name: String, _ schema: JSONValue) -> JSONValue {
    ["name": .string(name), "in": "query", "schema": schema]
  }
}

/// Streams and diffs below a query's paths, and list diffs, in `/openapi.json`.
enum OpenAPIDiffPaths {
  /// The stream and the diff below one path of a query.
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
            "description": "The response, sent again whenever the data in it changes.",
            "parameters": .array(
              parameters + [
                [
                  "name": "Last-Event-ID", "in": "header", "schema": ["type": "string"],
                  "description": "The entity tag of the response that the client has.",
                ], ticket,
              ]),
            "responses": [
              "200": [
                "description": "Events; the data of each is a response body of the query.",
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
        "description": .string(
          "The changes from the client's version of \(list) to the current one."),
        "parameters": .array(
          parameters + [
            [
              "name": "from", "in": "query", "schema": ["type": "string"],
              "description": "The entity tag of the list that the client has.",
            ]
          ]),
        "responses": responses(extra: [
          JSONMember("304", ["description": "The client's list is current."])
        ]),
      ],
      "post": [
        "operationId": .string("\(id)DiffPost"),
        "description": .string("The same, from a list in the request body."),
        "parameters": .array(parameters),
        "requestBody": ["required": true, "content": ["application/json": ["schema": have]]],
        "responses": responses(extra: []),
      ],
    ]
  }

  /// The stream ticket, for callers that cannot set headers.
  static let ticket: JSONValue = [
    "name": "ticket", "in": "query", "schema": ["type": "string"],
    "description": "A stream ticket that identifies the caller instead of headers.",
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
    let response: JSONValue = [
      "description":
        "`kind` is `diff`, or `full` if the base is unknown or a diff would be larger.",
      "content": [
        "application/json": [
          "schema": [
            "type": "object", "required": ["kind", "etag", "count", "cursor"],
            "properties": .object(properties),
          ]
        ]
      ],
    ]
    return .object([JSONMember("200", response)] + extra + [JSONMember("default", problem)])
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
        "description": "Indexes in the old list.",
      ]),
    JSONMember("inserts", steps("index")),
    JSONMember("moves", steps("from", "to")),
    JSONMember("updates", steps("old", "new")),
    JSONMember(
      "entities",
      ["type": "object", "description": "The inserted and updated entities, by `Type/id`."]),
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
