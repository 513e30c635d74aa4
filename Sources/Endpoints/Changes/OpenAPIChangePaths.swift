import LosslessJSON

/// The change log in `/openapi.json`.
enum OpenAPIChangePaths {
  static let members: [JSONMember] = [
    JSONMember(
      "/v1/changes",
      [
        "get": [
          "operationId": "listChanges",
          "description": "What changed since a cursor; without one, everything there is.",
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
          "description": "The same as server-sent events: change, bookmark and reset.",
          "parameters": .array(
            filters + [
              ["name": "Last-Event-ID", "in": "header", "schema": ["type": "string"]],
              OpenAPIDiffPaths.ticket,
            ]),
          "responses": [
            "200": [
              "description": "Events, each change an element of a page's changes.",
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
          "A condition on the entities of `types`, as collections take it: what comes into it is new.",
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
