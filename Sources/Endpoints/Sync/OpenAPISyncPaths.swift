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
          "description": enqueueDescription,
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
            ("200", "The outcome of a forced mutation.", forced),
            (
              "202", "The accepted mutations.",
              ["oneOf": [receipt, ["type": "array", "items": receipt]]]
            ),
          ]),
        ],
        "get": [
          "operationId": "listMutations",
          "description": "The mutations of the device, newest first.",
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
          "description": "Cancels a mutation that was never sent.",
          "responses": responses([("200", "The mutation.", mutation)]),
        ],
      ]),
    command("/v1/mutations/{id}/retry", "retryMutation", "Queues a parked mutation again."),
    command("/v1/mutations/{id}/discard", "discardMutation", "Discards a parked mutation."),
    JSONMember(
      "/v1/queue",
      [
        "parameters": [deviceToken],
        "get": [
          "operationId": "showQueue",
          "responses": responses([("200", "The device's queue.", queue)]),
        ],
      ]),
    whole(
      "/v1/queue/pause", "pauseQueue",
      "Pauses the queue; until it is resumed, only forced mutations are sent."),
    whole(
      "/v1/queue/resume", "resumeQueue",
      "Resumes the queue. 409 auth_required while it waits for a credential."),
    whole(
      "/v1/queue/flush", "flushQueue",
      "Ends debounce and back-off of all mutations. 409 auth_required while the queue waits for a "
        + "credential."),
    operators("", "get", "listQueues", "The devices with queued mutations."),
    operators("/{device}/mutations", "get", "listQueued", "The mutations in a device's queue."),
    operators("/{device}/pause", "post", "pauseDevice", "Pauses a device's queue."),
    operators("/{device}/resume", "post", "resumeDevice", "Resumes a device's queue."),
    operators("/{device}/flush", "post", "flushDevice", "Ends debounce and back-off."),
    operators(
      "/{device}/mutations/{id}/retry", "post", "retryQueued", "Queues a parked mutation again."),
    operators(
      "/{device}/mutations/{id}/discard", "post", "discardQueued", "Discards a parked mutation."),
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
      "responses": responses([("200", "The queue, or its mutations.", ["type": "object"])]),
    ]
    return JSONMember(
      "/v1/admin/queues\(path)",
      .object([
        JSONMember("parameters", .array(parameters)), JSONMember(method, operation),
      ]))
  }

  private static let enqueueDescription: JSONValue = .string(
    "Enqueues a mutation, or an array of 1 to 100 (all or none; item i has key <key>#<i>). Lazy "
      + "and steady mutations are on disk when the response is sent, and are sent upstream later; "
      + "a force is sent at once, and the response is its outcome.")
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
      "object": ["type": "string", "description": "Type:id; overrides the operation's @sync."],
      "refs": ["type": "array", "items": ["type": "string"]],
      "optimistic": [
        "type": "array",
        "description": "The optimistic update: visible only to this device, in every read.",
        "items": optimisticChange,
      ],
      "baseRev": ["type": "string", "description": "Accepted and ignored."],
      "ahead": ["enum": ["all"]],
      "expires": ["type": "integer", "minimum": 1, "description": "Seconds from now."],
    ],
  ]
  private static let optimisticChange: JSONValue = [
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
    _ descriptions: [(status: String, text: String, schema: JSONValue)]
  ) -> JSONValue {
    .object(
      descriptions.map { description in
        var response: JSONValue = ["description": .string(description.text)]
        if description.status == "202" { response["headers"] = OpenAPISchemas.location }
        response["content"] = ["application/json": ["schema": description.schema]]
        return JSONMember(description.status, response)
      } + [JSONMember("default", ["$ref": "#/components/responses/Problem"])])
  }
}
