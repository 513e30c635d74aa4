import HTTPClient
import HTTPTypes
import LosslessJSON
import Model
import Synchronization

extension FakeAuth0 {
  func signUp(_ body: JSONValue) -> HTTPClientResponse {
    guard Self.has(body, ["client_id", "email", "password", "connection"]),
      body["client_id"]?.string == Self.clientID, body["connection"]?.string == Self.connection,
      let email = body["email"]?.string, let password = body["password"]?.string
    else { return Self.problem(400, "invalid_request", "bad sign-up") }
    if let weak = Self.weakness(password) {
      return HTTPClientResponse(status: .badRequest, body: weak.bytes)
    }
    return state.withLock { state in
      guard !state.users.contains(where: { $0.email == email }) else {
        let body: JSONValue = [
          "code": "invalid_signup", "description": "Invalid sign up", "statusCode": 400,
          "name": "BadRequestError",
        ]
        return HTTPClientResponse(status: .badRequest, body: body.bytes)
      }
      let id = fresh(&state, "58457f")
      state.users.append(User(id: "auth0|\(id)", email: email, password: password))
      return Self.ok(["_id": .string(id), "email_verified": false, "email": .string(email)])
    }
  }

  static func weakness(_ password: String) -> JSONValue? {
    guard password.count < 8 else { return nil }
    return [
      "name": "PasswordStrengthError", "message": "Password is too weak",
      "code": "invalid_password", "statusCode": 400,
      "description": [
        "rules": [
          [
            "code": "lengthAtLeast", "message": "At least %d characters in length",
            "format": [8], "verified": false,
          ],
          [
            "code": "identicalChars", "message": "No more than %d identical", "format": [2],
            "verified": true,
          ],
        ], "verified": false,
      ],
    ]
  }

  func token(_ body: JSONValue, _ fields: HTTPFields) -> HTTPClientResponse {
    guard isClient(body) else { return Self.problem(401, "invalid_client", "Unauthorized") }
    switch body["grant_type"]?.string {
    case Self.realmGrant: return signIn(body, fields)
    case "refresh_token": return refresh(body)
    case "client_credentials": return managementToken(body)
    default: return Self.problem(400, "unsupported_grant_type", "Unsupported grant type")
    }
  }

  private func signIn(_ body: JSONValue, _ fields: HTTPFields) -> HTTPClientResponse {
    let names: Set = [
      "grant_type", "realm", "username", "password", "client_id", "client_secret", "audience",
      "scope",
    ]
    guard Self.has(body, names), body["realm"]?.string == Self.connection,
      let scope = body["scope"]?.string
    else { return Self.problem(400, "invalid_request", "bad sign-in") }
    guard body["audience"]?.string == Self.audience else {
      return Self.problem(403, "access_denied", "Service not found")
    }
    return state.withLock { state in
      if let name = HTTPField.Name("auth0-forwarded-for"), let address = fields[name] {
        state.forwardedFor.append(address)
      }
      let place = state.users.firstIndex { $0.email == body["username"]?.string }
      if let place, state.users[place].failures >= 10 {
        return Self.problem(
          429, "too_many_attempts",
          "Your account has been blocked after multiple consecutive login attempts.")
      }
      guard let place, state.users[place].password == body["password"]?.string else {
        if let place { state.users[place].failures += 1 }
        return Self.problem(403, "invalid_grant", "Wrong email or password.")
      }
      state.users[place].failures = 0
      return session(of: state.users[place].id, scope: scope, &state)
    }
  }

  private func session(
    of user: String, scope: String, _ state: inout State
  ) -> HTTPClientResponse {
    var answer: JSONValue = [
      "access_token": .string(accessToken(of: user, scope: scope, &state)),
      "token_type": "Bearer", "expires_in": 86400,
    ]
    let scopes = scope.split(separator: " ")
    if scopes.contains("openid") { answer["id_token"] = "id.token.here" }
    if scopes.contains("offline_access") {
      let refresh = fresh(&state, "refresh")
      state.grants.append(Grant(user: user, current: refresh))
      answer["refresh_token"] = .string(refresh)
    }
    return Self.ok(answer)
  }

  private func accessToken(
    of user: String, scope: String, _ state: inout State
  ) -> String {
    let now = seconds()
    let claims: JSONValue = [
      "iss": .string(state.issuer), "sub": .string(user),
      "aud": [.string(Self.audience), .string("\(state.issuer)userinfo")],
      "azp": .string(Self.clientID), "scope": .string(scope), "gty": "password",
      "iat": .number(JSONNumber(now)), "exp": .number(JSONNumber(now + 86400)),
      "jti": .string(fresh(&state, "jti")),
    ]
    let token = (try? key.token(claims)) ?? ""
    state.accessTokens[token] = (user, scope)
    return token
  }

  private func refresh(_ body: JSONValue) -> HTTPClientResponse {
    guard
      Self.has(
        body, ["grant_type", "refresh_token", "client_id", "client_secret"], optional: ["scope"]),
      let token = body["refresh_token"]?.string
    else { return Self.problem(400, "invalid_request", "bad refresh") }
    return state.withLock { state in
      let unknown = Self.problem(403, "invalid_grant", "Unknown or invalid refresh token.")
      guard
        let place = state.grants.firstIndex(where: {
          $0.current == token || $0.used.contains(token)
        }), !state.grants[place].isRevoked
      else { return unknown }
      guard state.grants[place].current == token else {
        state.grants[place].isRevoked = true
        return unknown
      }
      let next = fresh(&state, "refresh")
      state.grants[place].used.insert(token)
      state.grants[place].current = next
      let access = accessToken(of: state.grants[place].user, scope: "openid", &state)
      return Self.ok([
        "access_token": .string(access), "refresh_token": .string(next),
        "token_type": "Bearer", "expires_in": 86400,
      ])
    }
  }

  private func managementToken(_ body: JSONValue) -> HTTPClientResponse {
    guard Self.has(body, ["grant_type", "client_id", "client_secret", "audience"]),
      body["audience"]?.string == "https://\(Self.domain)/api/v2/"
    else { return Self.problem(403, "access_denied", "Service not enabled within domain") }
    return state.withLock { state in
      let token = fresh(&state, "management")
      state.managementTokens.insert(token)
      return Self.ok([
        "access_token": .string(token), "token_type": "Bearer", "expires_in": 86400,
      ])
    }
  }

  func revoke(_ body: JSONValue) -> HTTPClientResponse {
    guard isClient(body), Self.has(body, ["client_id", "client_secret", "token"]) else {
      return Self.problem(401, "invalid_client", "Unauthorized")
    }
    state.withLock { state in
      let token = body["token"]?.string ?? ""
      for place in state.grants.indices where state.grants[place].current == token {
        state.grants[place].isRevoked = true
      }
    }
    return HTTPClientResponse(status: .ok)
  }

  func profile(_ fields: HTTPFields) -> HTTPClientResponse {
    let token = fields[.authorization].map { String($0.dropFirst("Bearer ".count)) } ?? ""
    return state.withLock { state in
      guard let (id, scope) = state.accessTokens[token],
        scope.split(separator: " ").contains("openid"),
        let user = state.users.first(where: { $0.id == id })
      else { return HTTPClientResponse(status: .unauthorized, body: Array("Unauthorized".utf8)) }
      return Self.ok(["sub": .string(id), "email": .string(user.email)])
    }
  }

  func setPassword(
    _ target: String, _ body: JSONValue, _ fields: HTTPFields
  ) -> HTTPClientResponse {
    let token = fields[.authorization].map { String($0.dropFirst("Bearer ".count)) } ?? ""
    return state.withLock { state in
      guard state.managementTokens.contains(token) else {
        return Self.managementProblem(401, "Unauthorized", "Invalid token")
      }
      guard Self.has(body, ["password", "connection"]),
        body["connection"]?.string == Self.connection, let password = body["password"]?.string
      else { return Self.managementProblem(400, "Bad Request", "Payload validation error") }
      guard
        let place = state.users.firstIndex(where: {
          $0.id.replacing("|", with: "%7C") == target
        })
      else { return Self.managementProblem(404, "Not Found", "The user does not exist.") }
      guard Self.weakness(password) == nil else {
        return Self.managementProblem(
          400, "Bad Request", "PasswordStrengthError: Password is too weak")
      }
      state.users[place].password = password
      return Self.ok(["user_id": .string(state.users[place].id)])
    }
  }

  func endSessions(_ target: String, _ fields: HTTPFields) -> HTTPClientResponse {
    let token = fields[.authorization].map { String($0.dropFirst("Bearer ".count)) } ?? ""
    return state.withLock { state in
      guard state.managementTokens.contains(token) else {
        return Self.managementProblem(401, "Unauthorized", "Invalid token")
      }
      let user = state.users.first {
        "\($0.id.replacing("|", with: "%7C"))/refresh-tokens" == target
      }
      guard let user else {
        return Self.managementProblem(404, "Not Found", "The user does not exist.")
      }
      for index in state.grants.indices where state.grants[index].user == user.id {
        state.grants[index].isRevoked = true
      }
      return HTTPClientResponse(status: .accepted)
    }
  }

  static func managementProblem(
    _ status: Int, _ error: String, _ message: String
  ) -> HTTPClientResponse {
    let body: JSONValue = [
      "statusCode": .number(JSONNumber(Int64(status))), "error": .string(error),
      "message": .string(message),
    ]
    return HTTPClientResponse(status: .init(code: status), body: body.bytes)
  }
}
