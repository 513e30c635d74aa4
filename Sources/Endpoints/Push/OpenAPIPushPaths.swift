import Gateway
import LosslessJSON

/// Push registrations and notifications in `/openapi.json`.
enum OpenAPIPushPaths {
  static let members: [JSONMember] = [
    JSONMember(
      "/v1/push/registration",
      [
        "parameters": [deviceToken],
        "get": [
          "operationId": "showPushRegistration",
          "responses": responses(
            "200", "Whether push notifications to the user reach this device.", registration),
        ],
        "put": [
          "operationId": "registerForPush",
          "description":
            "Registers this device, by its push token, for notifications to the signed-in user.",
          "responses": responses("200", "The registration.", registration),
        ],
        "delete": [
          "operationId": "unregisterFromPush",
          "description": "Ends the registration of this device. Also possible after signing out.",
          "responses": responses("204", "The registration has ended.", nil),
        ],
      ]),
    JSONMember(
      "/v1/push/notifications",
      [
        "post": [
          "operationId": "sendNotification",
          "description":
            "Queues a notification for user ids. It is stored on disk and sent after the response.",
          "parameters": [idempotencyKey],
          "requestBody": [
            "required": true, "content": ["application/json": ["schema": request]],
          ],
          "responses": responses(
            "202", "The notification is queued.", object(["id": ["type": "string"]])),
        ]
      ]),
    JSONMember(
      "/v1/push/notifications/{id}",
      [
        "parameters": [id],
        "get": [
          "operationId": "showNotification",
          "responses": responses(
            "200", "The notification, with its state for each user id.", notification),
        ],
      ]),
    JSONMember(
      "/v1/admin/push/notifications",
      [
        "get": [
          "operationId": "listNotifications",
          "description": "The outbox, newest first.",
          "parameters": [
            ["name": "after", "in": "query", "schema": ["type": "string"]],
            [
              "name": "limit", "in": "query",
              "schema": [
                "type": "integer", "minimum": 1,
                "maximum": .number(JSONNumber(PushService.pageMax)),
              ],
            ],
          ],
          "responses": responses(
            "200", "A page.",
            object([
              "items": ["type": "array", "items": object(summary)], "next": ["type": "string"],
            ])),
        ]
      ]),
  ]

  private static let deviceToken: JSONValue = [
    "name": "Device-Token", "in": "header", "required": true, "schema": ["type": "string"],
  ]
  private static let idempotencyKey: JSONValue = [
    "name": "Idempotency-Key", "in": "header", "required": true,
    "schema": [
      "type": "string", "minLength": 1, "maxLength": .number(JSONNumber(IdempotencyKey.bytesMax)),
    ],
  ]
  private static let id: JSONValue = [
    "name": "id", "in": "path", "required": true, "schema": ["type": "string"],
  ]
  private static let request: JSONValue = [
    "type": "object", "required": ["chatId", "userIds", "text"], "additionalProperties": false,
    "properties": [
      "chatId": text(NotificationLimits.chatIDBytesMax),
      "userIds": [
        "type": "array", "minItems": 1,
        "maxItems": .number(JSONNumber(NotificationLimits.userIDsMax)),
        "items": text(NotificationLimits.userIDBytesMax),
      ],
      "text": text(NotificationLimits.textBytesMax),
      "heading": text(NotificationLimits.headingBytesMax),
      "data": [
        "type": "object",
        "description": .string(
          "Passed to the app with chatId; at most \(NotificationLimits.dataBytesMax) bytes."),
      ],
    ],
  ]
  private static let registration = object([
    "userId": ["type": "string"], "state": ["enum": ["queued", "registered", "failed"]],
    "reason": ["type": "string"],
  ])
  private static let outcome: JSONValue = ["enum": ["queued", "sent", "invalid", "failed"]]
  private static let summary: JSONValue = [
    "id": ["type": "string"],
    "origin": [
      "type": "string", "description": "operator, rule, or user and the id of the sender.",
    ],
    "chatId": ["type": "string"], "text": ["type": "string"], "heading": ["type": "string"],
    "data": ["type": "object"],
    "createdAt": ["type": "integer", "description": "Milliseconds since 1970."],
    "settledAt": [
      "type": "integer", "description": "Milliseconds since 1970; absent while any id is queued.",
    ],
    "counts": object([
      "queued": ["type": "integer"], "sent": ["type": "integer"], "invalid": ["type": "integer"],
      "failed": ["type": "integer"],
    ]),
  ]
  private static let notification = object(
    .object(
      (summary.members ?? []) + [
        JSONMember("states", ["type": "object", "additionalProperties": outcome]),
        JSONMember("reasons", ["type": "array", "items": ["type": "string"]]),
      ]))

  private static func text(_ bytesMax: Int) -> JSONValue {
    ["type": "string", "minLength": 1, "maxLength": .number(JSONNumber(bytesMax))]
  }

  private static func object(_ properties: JSONValue) -> JSONValue {
    ["type": "object", "properties": properties]
  }

  private static func responses(
    _ status: String, _ text: String, _ schema: JSONValue?
  ) -> JSONValue {
    var response: JSONValue = ["description": .string(text)]
    if status == "202" { response["headers"] = OpenAPISchemas.location }
    if let schema { response["content"] = ["application/json": ["schema": schema]] }
    return .object([
      JSONMember(status, response),
      JSONMember("default", ["$ref": "#/components/responses/Problem"]),
    ])
  }
}
