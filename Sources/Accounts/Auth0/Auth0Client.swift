import HTTPClient
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// The requests to Auth0, one method each.
struct Auth0Client: Sendable {
  private static let passwordRealm = "http://auth0.com/oauth/grant-type/password-realm"
  /// What a sign-in asks for: `offline_access` is the refresh token, the others let the user's
  /// address be asked for.
  static let sessionScope = "openid profile email offline_access"
  /// For a check alone: no session is begun.
  static let checkScope = "openid"

  let settings: Auth0Settings
  let exchange: JSONExchange
  let clock: WallClock

  func signUp(_ credentials: Credentials) async throws(AccountFault) {
    _ = try await ask(
      .signUp, .post, "dbconnections/signup",
      body: [
        "client_id": .string(settings.clientID), "connection": .string(settings.connection),
        "email": .string(credentials.email.text), "password": .string(credentials.password),
      ])
  }

  /// The grant that names the connection, so that the tenant needs no default one.
  func signIn(
    name: String, password: String, scope: String, from client: ClientOrigin
  ) async throws(AccountFault) -> JSONValue {
    var body: JSONValue = [
      "grant_type": .string(Self.passwordRealm), "realm": .string(settings.connection),
      "username": .string(name), "password": .string(password),
      "audience": .string(settings.audience), "scope": .string(scope),
    ]
    identify(&body)
    return try await ask(.signIn, .post, "oauth/token", body: body, fields: forwarded(client))
  }

  func refresh(
    _ token: String, from client: ClientOrigin
  ) async throws(AccountFault) -> JSONValue {
    var body: JSONValue = ["grant_type": "refresh_token", "refresh_token": .string(token)]
    identify(&body)
    return try await ask(.refresh, .post, "oauth/token", body: body, fields: forwarded(client))
  }

  /// Answers the same for a token that is not known.
  func revoke(_ token: String) async throws(AccountFault) {
    var body: JSONValue = ["token": .string(token)]
    identify(&body)
    _ = try await ask(.revoke, .post, "oauth/revoke", body: body)
  }

  func profile(accessToken: String) async throws(AccountFault) -> JSONValue {
    try await ask(
      .profile, .get, "userinfo", body: nil,
      fields: [.authorization: "Bearer \(accessToken)"])
  }

  func managementToken() async throws(AccountFault) -> JSONValue {
    var body: JSONValue = [
      "grant_type": "client_credentials", "audience": .string(settings.managementAudience),
    ]
    identify(&body)
    return try await ask(.managementToken, .post, "oauth/token", body: body)
  }

  /// - Returns: nil where it is done; what is wrong where it is the token, and another may do.
  func setPassword(
    of user: String, to password: String, managementToken: String
  ) async throws(AccountFault) -> AccountFault? {
    let answer = try await answer(
      .patch, "api/v2/users/\(PercentCoding.encode(user))",
      body: [
        "password": .string(password), "connection": .string(settings.connection),
      ], fields: [.authorization: "Bearer \(managementToken)"])
    guard answer.status != 200 else { return nil }
    let fault = Auth0Problem(answer, at: clock.now()).fault(at: .setPassword)
    guard answer.status == 401 || answer.status == 403 else { throw fault }
    return fault
  }

  /// Ends a user's sessions, all of them. Auth0 lets Enterprise tenants do that alone, and
  /// applications with `delete:refresh_tokens`.
  func endSessions(of user: String, managementToken: String) async throws(AccountFault) {
    let answer = try await answer(
      .delete, "api/v2/users/\(PercentCoding.encode(user))/refresh-tokens", body: nil,
      fields: [.authorization: "Bearer \(managementToken)"])
    guard answer.status == 202 else {
      throw Auth0Problem(answer, at: clock.now()).fault(at: .endSessions)
    }
  }

  private func identify(_ body: inout JSONValue) {
    body["client_id"] = .string(settings.clientID)
    if let secret = settings.clientSecret { body["client_secret"] = .string(secret) }
  }

  /// So that wrong passwords are counted against the user's address, not against ours. Auth0 takes
  /// it from a client with a secret only.
  private func forwarded(_ client: ClientOrigin) -> HTTPFields {
    guard settings.clientSecret != nil, let address = client.address,
      let name = HTTPField.Name("auth0-forwarded-for")
    else { return [:] }
    return [name: address]
  }

  private func ask(
    _ request: Auth0Request, _ method: HTTPRequest.Method, _ path: String, body: JSONValue?,
    fields: HTTPFields = [:]
  ) async throws(AccountFault) -> JSONValue {
    let answer = try await answer(method, path, body: body, fields: fields)
    guard answer.status == 200 else {
      throw Auth0Problem(answer, at: clock.now()).fault(at: request)
    }
    // A revocation has no body.
    return answer.body ?? .null
  }

  private func answer(
    _ method: HTTPRequest.Method, _ path: String, body: JSONValue?, fields: HTTPFields
  ) async throws(AccountFault) -> JSONExchange.Answer {
    let url = try settings.url(path)
    do throws(HTTPClientError) {
      return try await exchange.ask(method, url, body: body, fields: fields)
    } catch {
      throw .unavailable(cause: "\(error)", wasSent: error.wasSent)
    }
  }
}
