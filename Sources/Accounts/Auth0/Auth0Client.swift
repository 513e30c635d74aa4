import HTTPClient
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// The Auth0 application that this service is, and its tenant.
package struct Auth0Settings: Sendable {
  /// The tenant's base URL, with its custom domain if it has one, and a trailing slash. It is also
  /// the issuer of the tokens.
  package let base: String
  /// The tenant's own domain, which the management API uses even with a custom domain.
  package let tenant: String
  package let clientID: String
  package let clientSecret: String?
  /// The API that access tokens are for. Without one they would be opaque.
  package let audience: String
  /// The database connection with the passwords.
  package let connection: String

  package init(
    base: String, tenant: String, clientID: String, clientSecret: String?, audience: String,
    connection: String
  ) {
    self.base = base
    self.tenant = tenant
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.audience = audience
    self.connection = connection
  }

  var managementAudience: String { "https://\(tenant)/api/v2/" }

  /// - Parameter path: without a leading slash.
  func url(_ path: String) throws(AccountFault) -> HTTPURL {
    do throws(HTTPURL.Fault) {
      return try HTTPURL(base + path)
    } catch {
      throw .misconfigured(cause: "\(base) is not an HTTP URL")
    }
  }
}

/// The kinds of requests to Auth0: the same error code has different meanings for them.
enum Auth0Request: Hashable, Sendable {
  case signUp
  case signIn
  case refresh
  case revoke
  case profile
  case managementToken
  case setPassword
  case endSessions
}

/// The requests to Auth0, one method each.
struct Auth0Client: Sendable {
  private static let passwordRealm = "http://auth0.com/oauth/grant-type/password-realm"
  /// The scope of a sign-in: `offline_access` is for the refresh token, the others for the user's
  /// profile.
  static let sessionScope = "openid profile email offline_access"
  /// The scope of a password check, which opens no session.
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

  /// Signs in with the grant that names the connection, so that the tenant needs no default one.
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

  /// Revokes a refresh token; an unknown one is not an error.
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

  /// - Returns: nil on success; the fault if the management token was refused, so that a new token
  ///   may help.
  func setPassword(
    of user: String, to password: String, managementToken: String
  ) async throws(AccountFault) -> AccountFault? {
    let response = try await response(
      .patch, "api/v2/users/\(PercentCoding.encode(user))",
      body: [
        "password": .string(password), "connection": .string(settings.connection),
      ], fields: [.authorization: "Bearer \(managementToken)"])
    guard response.status != 200 else { return nil }
    let fault = Auth0Problem(response, at: clock.now()).fault(at: .setPassword)
    guard response.status == 401 || response.status == 403 else { throw fault }
    return fault
  }

  /// Ends all of a user's sessions. Auth0 allows this only for Enterprise tenants, and for
  /// applications with `delete:refresh_tokens`.
  func endSessions(of user: String, managementToken: String) async throws(AccountFault) {
    let response = try await response(
      .delete, "api/v2/users/\(PercentCoding.encode(user))/refresh-tokens", body: nil,
      fields: [.authorization: "Bearer \(managementToken)"])
    guard response.status == 202 else {
      throw Auth0Problem(response, at: clock.now()).fault(at: .endSessions)
    }
  }

  private func identify(_ body: inout JSONValue) {
    body["client_id"] = .string(settings.clientID)
    if let secret = settings.clientSecret { body["client_secret"] = .string(secret) }
  }

  /// Forwards the user's address, so that wrong passwords are counted against it and not against
  /// ours. Auth0 accepts it only from a client with a secret.
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
    let response = try await response(method, path, body: body, fields: fields)
    guard response.status == 200 else {
      throw Auth0Problem(response, at: clock.now()).fault(at: request)
    }
    // The response to a revocation has no body.
    return response.body ?? .null
  }

  private func response(
    _ method: HTTPRequest.Method, _ path: String, body: JSONValue?, fields: HTTPFields
  ) async throws(AccountFault) -> JSONExchange.Response {
    let url = try settings.url(path)
    do throws(HTTPClientError) {
      return try await exchange.ask(method, url, body: body, fields: fields)
    } catch {
      throw .unavailable(cause: "\(error)", wasSent: error.wasSent)
    }
  }
}
