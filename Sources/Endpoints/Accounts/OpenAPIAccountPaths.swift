import LosslessJSON

/// Accounts in `/openapi.json`.
enum OpenAPIAccountPaths {
  static let members: [JSONMember] = [
    JSONMember(
      "/v1/auth/sign-up",
      [
        "post": [
          "operationId": "signUp", "description": "Creates an account and signs in.",
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
            "Signs in. With a Device-Token, the device is bound to the user.",
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
            "Exchanges a refresh token for new tokens. Reusing a refresh token ends its session.",
          "requestBody": body("refreshToken"),
          "responses": responses("200", "New tokens.", session),
        ]
      ]),
    JSONMember(
      "/v1/auth/sign-out",
      [
        "post": [
          "operationId": "signOut",
          "description": """
          Ends the session of a refresh token. With a Device-Token, the mutations in the device's \
          queue are kept, parked or discarded, as configured in the settings.
          """,
          "requestBody": body("refreshToken"),
          "responses": responses("204", "Signed out, or there was no such session.", nil),
        ]
      ]),
    JSONMember(
      "/v1/auth/check-password",
      [
        "post": [
          "operationId": "checkPassword", "description": "Checks a password.",
          "requestBody": body("email", "password"),
          "responses": responses("204", "The password is correct.", nil),
        ]
      ]),
    JSONMember(
      "/v1/auth/password",
      [
        "put": [
          "operationId": "changePassword",
          "description": """
          Changes the password. With local accounts, all other sessions end; with Auth0, all \
          sessions end, if Auth0 allows this service to end them.
          """,
          "requestBody": body("currentPassword", "newPassword"),
          "responses": responses("204", "The password is changed.", nil),
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
          "description": "The keys (RFC 7517) that verify users' access tokens.",
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
    var response: JSONValue = ["description": .string(text)]
    if let schema { response["content"] = ["application/json": ["schema": schema]] }
    return .object([
      JSONMember(status, response),
      JSONMember("default", ["$ref": "#/components/responses/Problem"]),
    ])
  }
}
