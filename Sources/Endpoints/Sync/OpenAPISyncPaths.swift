import LosslessJSON

/// The sync queue in `/openapi.json`.
enum OpenAPISyncPaths {
  static let members: [JSONMember] = [
    JSONMember(
      "/v1/mutations",
      [
        "parameters": [deviceToken],
        "post": [
          "operationId": "handOverMutations",
          "description": handingOver,
          "parameters": [idempotencyKey],
          "requestBody": [
            "required": true,
            "content": [
              "application/json": [
                "schema": ["oneOf": [request, ["type": "array", "items": request]]]
              ]
            ],
          ],
          "responses": responses([
            ("200", "What came of a forced mutation.", forced),
            ("202", "What was taken.", ["oneOf": [receipt, ["type": "array", "items": receipt]]]),
          ]),
        ],
        "get": [
          "operationId": "listMutations",
          "description": "What the device handed over, the newest first.",
          "parameters": [
            query("state", ["type": "string"]), query("after", ["type": "string"]),
            query("limit", ["type": "integer", "minimum": 1, "maximum": 200]),
          ],
          "responses": responses([
            ("200", "A page.", object(["items": list(mutation), "next": text]))
          ]),
        ],
      ]),
    JSONMember(
      "/v1/mutations/{id}",
      [
        "parameters": [deviceToken, id],
        "get": [
          "operationId": "showMutation",
          "parameters": [query("wait", ["type": "number", "minimum": 0, "maximum": 60])],
          "responses": responses([("200", "The mutation.", mutation)]),
        ],
        "delete": [
          "operationId": "cancelMutation",
          "description": "Takes back what was never sent.",
          "responses": responses([("200", "The mutation.", mutation)]),
        ],
      ]),
    command("/v1/mutations/{id}/retry", "retryMutation", "Lets a parked mutation go again."),
    command("/v1/mutations/{id}/discard", "discardMutation", "Gives a parked mutation up."),
    JSONMember(
      "/v1/queue",
      [
        "parameters": [deviceToken],
        "get": [
          "operationId": "showQueue",
          "responses": responses([("200", "The device's queue.", queue)]),
        ],
      ]),
    whole("/v1/queue/pause", "pauseQueue", "Nothing goes until it is resumed, forces excepted."),
    whole(
      "/v1/queue/resume", "resumeQueue",
      "Ends a pause. 409 auth_required while the queue waits for a credential."),
    whole(
      "/v1/queue/flush", "flushQueue",
      "Ends debounce and back-off. 409 auth_required while the queue waits for a credential."),
    operators("", "get", "listQueues", "Devices whose queue holds something."),
    operators("/{device}/mutations", "get", "listQueued", "What a device's queue holds."),
    operators("/{device}/pause", "post", "pauseDevice", "Nothing goes until it is resumed."),
    operators("/{device}/resume", "post", "resumeDevice", "Ends a pause."),
    operators("/{device}/flush", "post", "flushDevice", "Ends debounce and back-off."),
    operators("/{device}/mutations/{id}/retry", "post", "retryQueued", "Lets it go again."),
    operators("/{device}/mutations/{id}/discard", "post", "discardQueued", "Gives it up."),
  ]

  /// Below `/v1/admin/queues`, with the admin token.
  private static func operators(
    _ path: String, _ method: String, _ name: String, _ text: String
  ) -> JSONMember {
    var parameters: [JSONValue] = []
    let parts = path.split(separator: "/")
    for name in ["device", "id"] where parts.contains(where: { $0 == "{\(name)}" }) {
      let parameter: JSONValue = [
        "name": .string(name), "in": "path", "required": true, "schema": ["type": "string"],
      ]
      parameters.append(parameter)
    }
    let operation: JSONValue = [
      "operationId": .string(name), "description": .string(text),
      "responses": responses([("200", "The queue, or what it holds.", ["type": "object"])]),
    ]
    return JSONMember(
      "/v1/admin/queues\(path)",
      .object([
        JSONMember("parameters", .array(parameters)), JSONMember(method, operation),
      ]))
  }

  private static let handingOver: JSONValue = .string(
    "Takes a mutation, or an array of 1 to 100 (all or none; item i has key <key>#<i>). Lazy and "
      + "steady ones are on disk with the answer and go by themselves; a force is answered by what "
      + "came of it.")
  private static let text: JSONValue = ["type": "string"]
  private static let deviceToken: JSONValue = [
    "name": "Device-Token", "in": "header", "required": true, "schema": ["type": "string"],
  ]
  private static let idempotencyKey: JSONValue = [
    "name": "Idempotency-Key", "in": "header", "required": true,
    "schema": ["type": "string", "minLength": 1, "maxLength": 255],
  ]
  private static let id: JSONValue = [
    "name": "id", "in": "path", "required": true, "schema": ["type": "string"],
  ]
  private static let request: JSONValue = [
    "type": "object", "required": ["operation", "mode"], "additionalProperties": false,
    "properties": [
      "operation": ["type": "string"], "mode": ["enum": ["lazy", "steady", "force"]],
      "variables": ["type": "object"],
      "object": ["type": "string", "description": "Type:id; wins over the operation's @sync."],
      "refs": ["type": "array", "items": ["type": "string"]],
      "optimistic": [
        "type": "array",
        "description": "What it is expected to do: shows to the device alone, in every read.",
        "items": expectation,
      ],
      "baseRev": ["type": "string", "description": "Accepted; nothing is decided by it."],
      "ahead": ["enum": ["all"]],
      "expires": ["type": "integer", "minimum": 1, "description": "Seconds from now."],
    ],
  ]
  private static let expectation: JSONValue = [
    "type": "object", "required": ["op", "type", "id"], "additionalProperties": false,
    "properties": [
      "op": ["enum": ["create", "merge", "delete"]], "type": ["type": "string"],
      "id": ["type": "string"], "fields": ["type": "object"],
    ],
  ]
  private static let receipt = object([
    "id": ["type": "string"], "state": state, "mode": ["type": "string"],
    "supersedes": ["type": "string"], "cursor": ["type": "string"],
  ])
  private static let forced = object([
    "id": ["type": "string"], "state": state, "response": ["type": "object"],
    "promoted": ["type": "array", "items": ["type": "string"]], "cursor": ["type": "string"],
  ])
  private static let state: JSONValue = [
    "enum": [
      "queued", "inflight", "applied", "rejected", "superseded", "annihilated", "parked", "expired",
      "cancelled", "discarded",
    ]
  ]
  private static let mutation = object([
    "id": ["type": "string"], "operation": ["type": "string"], "mode": ["type": "string"],
    "state": state, "object": ["type": "string"], "attempts": ["type": "integer"],
    "enqueuedAt": ["type": "integer", "description": "Milliseconds since 1970."],
    "settledAt": ["type": "integer"], "reason": ["type": "string"],
    "supersededBy": ["type": "string"], "sharedState": state,
    "temporaryIds": ["type": "object"], "response": ["type": "object"],
    "problem": ["type": "object"],
  ])
  private static let queue = object([
    "pending": ["type": "integer"], "parked": ["type": "integer"],
    "state": ["enum": ["running", "paused", "auth_required"]],
  ])

  private static func command(_ path: String, _ name: String, _ text: String) -> JSONMember {
    JSONMember(
      path,
      [
        "parameters": [deviceToken, id],
        "post": [
          "operationId": .string(name), "description": .string(text),
          "responses": responses([("200", "The mutation.", mutation)]),
        ],
      ])
  }

  private static func whole(_ path: String, _ name: String, _ text: String) -> JSONMember {
    JSONMember(
      path,
      [
        "parameters": [deviceToken],
        "post": [
          "operationId": .string(name), "description": .string(text),
          "responses": responses([("200", "The device's queue.", queue)]),
        ],
      ])
  }

  private static func object(_ properties: JSONValue) -> JSONValue {
    ["type": "object", "properties": properties]
  }

  private static func list(_ items: JSONValue) -> JSONValue { ["type": "array", "items": items] }

  private static func query(_ name: String, _ schema: JSONValue) -> JSONValue {
    ["name": .string(name), "in": "query", "schema": schema]
  }

  private static func responses(
    _ answers: [(status: String, text: String, schema: JSONValue)]
  ) -> JSONValue {
    .object(
      answers.map { answer in
        var response: JSONValue = ["description": .string(answer.text)]
        if answer.status == "202" { response["headers"] = OpenAPISchemas.location }
        response["content"] = ["application/json": ["schema": answer.schema]]
        return JSONMember(answer.status, response)
      } + [JSONMember("default", ["$ref": "#/components/responses/Problem"])])
  }
}
