package import Accounts
package import HTTPClient
package import HTTPTypes
package import LosslessJSON
import Model
import Synchronization
import VendorDouble

/// A fake Auth0 tenant, as strict as the real one is documented to be: it refuses unknown members,
/// so that a client that works only by accident fails.
package final class FakeAuth0: Sendable {
  struct User: Sendable {
    var id: String
    var email: String
    var password: String
    var failures = 0
  }

  /// One refresh-token family.
  struct Grant: Sendable {
    var user: String
    var current: String
    var used: Set<String> = []
    var isRevoked = false
  }

  struct State {
    var issuer = FakeAuth0.base
    var users: [User] = []
    var grants: [Grant] = []
    /// Access tokens by their scope.
    var accessTokens: [String: (user: String, scope: String)] = [:]
    var managementTokens: Set<String> = []
    var counter = 0
    var requests: [String] = []
    var forwardedFor: [String] = []
    var scripted: [HTTPClientResponse] = []
    var standing: [Asked: HTTPClientResponse] = [:]
    var asked: [Asked: Int] = [:]
    var isLosingAnswers = false
  }

  package static let domain = "acme.eu.auth0.com"
  package static let base = "https://\(domain)/"
  package static let audience = "https://api.example"
  package static let clientID = "client-1"
  package static let secret = "secret-1"
  static let connection = "Username-Password-Authentication"
  static let realmGrant = "http://auth0.com/oauth/grant-type/password-realm"

  package let key: TestKey
  /// Since 1970.
  let seconds: @Sendable () -> Int64
  let state = Mutex(State())

  package init(seconds: @escaping @Sendable () -> Int64) async throws {
    key = try .rsa("tenant-key")
    self.seconds = seconds
  }

  package static func settings(secret: String? = secret) -> Auth0Settings {
    Auth0Settings(
      base: base, tenant: domain, clientID: clientID, clientSecret: secret, audience: audience,
      connection: connection)
  }

  /// The issuer in tokens, and the tenant's URL.
  package var issuer: String {
    get { state.withLock { $0.issuer } }
    set { state.withLock { $0.issuer = newValue } }
  }

  package var requests: [String] { state.withLock { $0.requests } }
  package var forwardedFor: [String] { state.withLock { $0.forwardedFor } }

  package var managementTokenCount: Int { state.withLock { $0.managementTokens.count } }

  /// Scripts the response to the next request, whatever it is.
  package func answerNext(_ status: Int, _ body: JSONValue, fields: HTTPFields = [:]) {
    state.withLock {
      $0.scripted.append(
        HTTPClientResponse(status: .init(code: status), fields: fields, body: body.bytes))
    }
  }

  /// The next request is executed, and its response is lost.
  package func loseNextAnswer() { state.withLock { $0.isLosingAnswers = true } }

  package func withdrawManagementTokens() { state.withLock { $0.managementTokens = [] } }

  package var exchange: JSONExchange {
    JSONExchange { request, _ throws(HTTPClientError) in
      let line = "\(request.method.rawValue) \(request.url.target)"
      let scripted: HTTPClientResponse? = self.state.withLock { state in
        state.requests.append(line)
        return state.scripted.isEmpty ? nil : state.scripted.removeFirst()
      }
      if let scripted { return scripted }
      let response = self.respond(to: request)
      let isLost = self.state.withLock { state in
        defer { state.isLosingAnswers = false }
        return state.isLosingAnswers
      }
      if isLost { throw .noResponseInTime }
      return response
    }
  }

  package func respond(to request: HTTPClientRequest) -> HTTPClientResponse {
    let body = (try? JSONValue(parsing: request.body)) ?? .null
    let target = request.url.target
    if let asked = Asked(request, body), let answer = standingAnswer(to: asked) { return answer }
    let isJSON = request.fields[.contentType] == "application/json"
    switch (request.method, target) {
    case (.post, "/dbconnections/signup") where isJSON: return signUp(body)
    case (.post, "/oauth/token") where isJSON: return token(body, request.fields)
    case (.post, "/oauth/revoke") where isJSON: return revoke(body)
    case (.get, "/userinfo"): return profile(request.fields)
    case (.patch, _) where isJSON && target.hasPrefix("/api/v2/users/"):
      return setPassword(String(target.dropFirst("/api/v2/users/".count)), body, request.fields)
    case (.delete, _) where target.hasPrefix("/api/v2/users/"):
      return endSessions(String(target.dropFirst("/api/v2/users/".count)), request.fields)
    case (.get, "/.well-known/jwks.json"):
      let keys: JSONValue = ["keys": .array([key.published])]
      return HTTPClientResponse(status: .ok, body: keys.bytes)
    default: return Self.problem(404, "not_found", "\(request.method) \(target)")
    }
  }

  // MARK: Responses

  static func ok(_ body: JSONValue) -> HTTPClientResponse {
    HTTPClientResponse(
      status: .ok, fields: [.contentType: "application/json"], body: body.bytes)
  }

  /// An error in OAuth's form.
  static func problem(_ status: Int, _ error: String, _ text: String) -> HTTPClientResponse {
    let body: JSONValue = ["error": .string(error), "error_description": .string(text)]
    return HTTPClientResponse(status: .init(code: status), body: body.bytes)
  }

  /// Whether a body has these members and no others.
  static func has(
    _ body: JSONValue, _ needed: Set<String>, optional: Set<String> = []
  ) -> Bool {
    let names = Set((body.members ?? []).map(\.name))
    return names.isSuperset(of: needed) && names.isSubset(of: needed.union(optional))
      && body.members?.allSatisfy { $0.value.string != nil } ?? false
  }

  func isClient(_ body: JSONValue) -> Bool {
    body["client_id"]?.string == Self.clientID && body["client_secret"]?.string == Self.secret
  }

  func fresh(_ state: inout State, _ prefix: String) -> String {
    state.counter += 1
    return "\(prefix)-\(state.counter)"
  }
}

/// A ``FakeAuth0`` with an HTTP server.
package final class Auth0Server: Sendable {
  package let tenant: FakeAuth0
  private let server: VendorServer

  /// Listens on a free port, which becomes the tenant's issuer.
  package init(seconds: @escaping @Sendable () -> Int64) async throws {
    let tenant = try await FakeAuth0(seconds: seconds)
    self.tenant = tenant
    server = try await VendorServer { tenant.respond(to: $0) }
    tenant.issuer = "http://127.0.0.1:\(server.port)/"
  }

  package func stop() async {
    await server.stop()
  }
}
