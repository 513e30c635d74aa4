import LosslessJSON

/// Accounts in `/openapi.json`.
enum OpenAPIAccountPaths {
  static let members: [JSONMember] = [
    JSONMember(
      "/v1/auth/sign-up",
      [
        "post": [
          "operationId": "signUp", "description": "Makes an account and signs it in.",
          "requestBody": body("email", "password"),
          "responses": responses("201", "Signed in.", session),
        ]
      ]),
    JSONMember(
      "/v1/auth/sign-in",
      [
        "post": [
          "operationId": "signIn",
          "description":
            "Signs in. With a Device-Token beside it the device becomes this user's.",
          "requestBody": body("email", "password"),
          "responses": responses("200", "Signed in.", session),
        ]
      ]),
    JSONMember(
      "/v1/auth/refresh",
      [
        "post": [
          "operationId": "refreshTokens",
          "description":
            "Exchanges a refresh token, which ends by that. A used one ends its whole session.",
          "requestBody": body("refreshToken"),
          "responses": responses("200", "Fresh tokens.", session),
        ]
      ]),
    JSONMember(
      "/v1/auth/sign-out",
      [
        "post": [
          "operationId": "signOut",
          "description": """
          Ends the session of a refresh token. With a device's token beside it, what waits in the \
          device's queue is left, parked or dropped, as settings say.
          """,
          "requestBody": body("refreshToken"),
          "responses": responses("204", "Signed out, or there was no such session.", nil),
        ]
      ]),
    JSONMember(
      "/v1/auth/check-password",
      [
        "post": [
          "operationId": "checkPassword", "description": "Tells whether a password is right.",
          "requestBody": body("email", "password"),
          "responses": responses("204", "It is right.", nil),
        ]
      ]),
    JSONMember(
      "/v1/auth/password",
      [
        "put": [
          "operationId": "changePassword",
          "description": """
          Sets another password. Where accounts are kept here, the other sessions end; where Auth0 \
          keeps them, all of them, if it lets this service end them.
          """,
          "requestBody": body("currentPassword", "newPassword"),
          "responses": responses("204", "It is set.", nil),
        ]
      ]),
    JSONMember(
      "/v1/auth/me",
      [
        "get": [
          "operationId": "showUser",
          "responses": responses(
            "200", "The signed-in user.",
            object(["userId": ["type": "string"], "email": ["type": "string"]])),
        ]
      ]),
    JSONMember(
      "/.well-known/jwks.json",
      [
        "get": [
          "operationId": "showKeys",
          "description": "The keys (RFC 7517) that the users' access tokens are checked with.",
          "responses": responses(
            "200", "The key set.", object(["keys": ["type": "array", "items": ["type": "object"]]])
          ),
        ]
      ]),
  ]

  private static let session = object([
    "accessToken": ["type": "string"], "refreshToken": ["type": "string"],
    "expiresIn": ["type": "integer", "description": "Seconds."], "userId": ["type": "string"],
  ])

  private static func object(_ properties: JSONValue) -> JSONValue {
    ["type": "object", "properties": properties]
  }

  private static func body(_ names: String...) -> JSONValue {
    let schema: JSONValue = [
      "type": "object", "additionalProperties": false,
      "required": .array(names.map(JSONValue.string)),
      "properties": .object(names.map { JSONMember($0, ["type": "string", "minLength": 1]) }),
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
