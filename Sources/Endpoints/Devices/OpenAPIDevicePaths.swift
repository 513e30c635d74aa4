import LosslessJSON

/// Devices and stream tickets in `/openapi.json`.
enum OpenAPIDevicePaths {
  static let members: [JSONMember] = [
    JSONMember(
      "/v1/devices",
      [
        "post": [
          "operationId": "registerDevice",
          "description": "Registers a device. Its token is returned only here.",
          "requestBody": body(required: ["platform"]),
          "responses": responses("201", "The device's id and token.", token),
        ]
      ]),
    JSONMember(
      "/v1/devices/me",
      [
        "parameters": [deviceToken],
        "get": [
          "operationId": "showDevice",
          "responses": responses("200", "The calling device.", device),
        ],
        "patch": [
          "operationId": "changeDevice",
          "description": "Changes the given members; null removes a name or a push token.",
          "requestBody": body(required: []),
          "responses": responses("200", "The changed device.", device),
        ],
        "delete": [
          "operationId": "removeDevice",
          "description": "Revokes the token and deletes the device's own data.",
          "responses": responses("204", "The device is removed.", nil),
        ],
      ]),
    JSONMember(
      "/v1/devices/me/rotate",
      [
        "parameters": [deviceToken],
        "post": [
          "operationId": "rotateDeviceToken",
          "description": "Replaces the device's token; the old one is invalid at once.",
          "responses": responses("200", "The device's id and new token.", token),
        ],
      ]),
    JSONMember(
      "/v1/stream-tickets",
      [
        "post": [
          "operationId": "issueStreamTicket",
          "description":
            "Issues a ticket for one stream (?ticket=) of the caller, valid for 30 seconds.",
          "responses": responses(
            "201", "The ticket.",
            object(["ticket": ["type": "string"], "expiresIn": ["type": "integer"]])),
        ]
      ]),
  ]

  private static let deviceToken: JSONValue = [
    "name": "Device-Token", "in": "header", "required": true, "schema": ["type": "string"],
  ]

  private static let token = object(["id": ["type": "string"], "deviceToken": ["type": "string"]])

  private static let device = object([
    "id": ["type": "string"], "platform": ["type": "string"],
    "name": ["type": ["string", "null"]], "pushToken": ["type": ["string", "null"]],
    "userId": ["type": ["string", "null"]],
    "registeredAt": ["type": "integer", "description": "Milliseconds since 1970."],
    "lastUsedAt": [
      "type": "integer", "description": "Milliseconds since 1970, up to an hour out of date.",
    ],
  ])

  private static func object(_ properties: JSONValue) -> JSONValue {
    ["type": "object", "properties": properties]
  }

  private static func body(required: [JSONValue]) -> JSONValue {
    let schema: JSONValue = [
      "type": "object", "required": .array(required), "additionalProperties": false,
      "properties": [
        "platform": ["type": "string", "minLength": 1, "maxLength": 32],
        "name": ["type": ["string", "null"], "minLength": 1, "maxLength": 128],
        "pushToken": ["type": ["string", "null"], "minLength": 1, "maxLength": 4096],
      ],
    ]
    return ["required": true, "content": ["application/json": ["schema": schema]]]
  }

  private static func responses(
    _ status: String, _ text: String, _ schema: JSONValue?
  ) -> JSONValue {
    var response: JSONValue = ["description": .string(text)]
    if let schema { response["content"] = ["application/json": ["schema": schema]] }
    return .object([
      JSONMember(status, response),
      JSONMember("default", ["$ref": "#/components/responses/Problem"]),
    ])
  }
}
