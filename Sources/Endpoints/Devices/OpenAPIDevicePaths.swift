import LosslessJSON

/// Devices and stream tickets in `/openapi.json`.
enum OpenAPIDevicePaths {
  static let members: [JSONMember] = [
    JSONMember(
      "/v1/devices",
      [
        "post": [
          "operationId": "registerDevice",
          "description": "Registers a device. Its token is told here and never again.",
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
          "responses": responses("200", "The device that asks.", device),
        ],
        "patch": [
          "operationId": "changeDevice",
          "description": "Changes the members given; null removes a name or a push token.",
          "requestBody": body(required: []),
          "responses": responses("200", "The device as it is now.", device),
        ],
        "delete": [
          "operationId": "removeDevice",
          "description": "Ends the token and removes what is stored for the device alone.",
          "responses": responses("204", "The device is gone.", nil),
        ],
      ]),
    JSONMember(
      "/v1/devices/me/rotate",
      [
        "parameters": [deviceToken],
        "post": [
          "operationId": "rotateDeviceToken",
          "description": "Gives the device another token; the old one ends at once.",
          "responses": responses("200", "The device's id and new token.", token),
        ],
      ]),
    JSONMember(
      "/v1/stream-tickets",
      [
        "post": [
          "operationId": "issueStreamTicket",
          "description":
            "A ticket that stands for the caller once, for 30 seconds, as ?ticket= of a stream.",
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
    "lastUsedAt": ["type": "integer", "description": "The same, up to an hour behind."],
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
    var answer: JSONValue = ["description": .string(text)]
    if let schema { answer["content"] = ["application/json": ["schema": schema]] }
    return .object([
      JSONMember(status, answer),
      JSONMember("default", ["$ref": "#/components/responses/Problem"]),
    ])
  }
}
