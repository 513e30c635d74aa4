import GraphQL
package import HTTPClient
import HTTPTypes
package import LosslessJSON
import Synchronization
import VendorDouble

/// A fake Hasura 2, as strict as the real one is documented to be, and stricter where the documentation is
/// silent: it refuses unknown members, so that a client that works only by accident fails.
///
/// Its tables are a function of the test: the value of a root field for its arguments. A subscription is a
/// live query: ``change()`` sends the whole result to each subscriber whose result has changed.
package final class FakeHasura: Sendable {
  /// The value of a root field for a role; objects have all fields, and `__typename`.
  package typealias Resolver =
    @Sendable (_ field: String, _ arguments: JSONValue, _ role: String) -> JSONValue

  /// A live query on a connection.
  struct Subscription: Sendable {
    let operation: FakeOperation
    var last: JSONValue?
  }

  struct Session: Sendable {
    let socket: FakeSocket
    let speaksTransportWS: Bool
    /// Nil before the acknowledgement.
    var role: String?
    /// The token of `authorization`; nil with the admin secret.
    var token: String?
    var subscriptions: [String: Subscription] = [:]
  }

  struct State {
    var tokens: [String: String] = [:]
    var sessions: [ObjectIdentifier: Session] = [:]
    var log: [String] = []
    var connectionCount = 0
  }

  package let secret: String
  let resolve: Resolver
  let state = Mutex(State())

  /// - Parameter tokens: the role of each accepted token.
  package init(secret: String, tokens: [String: String] = [:], resolve: @escaping Resolver) {
    self.secret = secret
    self.resolve = resolve
    state.withLock { $0.tokens = tokens }
  }

  /// What clients did: `http NAME`, `connect`, `init ROLE`, `start NAME`, `stop`, `close CODE`.
  package var log: [String] { state.withLock { $0.log } }
  package var connectionCount: Int { state.withLock { $0.connectionCount } }
  /// The number of live queries of all connections.
  package var subscriptionCount: Int {
    state.withLock { $0.sessions.values.reduce(0) { $0 + $1.subscriptions.count } }
  }

  func note(_ entry: String) { state.withLock { $0.log.append(entry) } }

  /// Accepts a token from now on.
  package func accept(token: String, role: String) {
    state.withLock { $0.tokens[token] = role }
  }

  /// Refuses a token from now on, and closes its connections, as when it expires.
  package func expire(token: String) {
    let sockets = state.withLock { state in
      state.tokens[token] = nil
      return state.sessions.values.filter { $0.token == token }.map(\.socket)
    }
    for socket in sockets {
      socket.close(4403, #"{"server_error_msg":"4403: Could not verify JWT: JWTExpired"}"#)
    }
  }

  /// Loses all connections, as when the server is killed.
  package func dropConnections() {
    for session in state.withLock({ Array($0.sessions.values) }) { session.socket.drop() }
  }

  // MARK: HTTP

  /// Handles a request in the process, without a network.
  package func send(
    _ request: HTTPClientRequest, within limit: Duration
  ) async throws(HTTPClientError) -> HTTPClientResponse {
    respond(to: request)
  }

  package func respond(to request: HTTPClientRequest) -> HTTPClientResponse {
    guard request.method == .post, request.url.target == "/v1/graphql" else {
      return HTTPClientResponse(
        status: .notFound,
        body: Array(#"{"path":"$","error":"resource does not exist","code":"not-found"}"#.utf8))
    }
    guard request.fields[.contentType] == "application/json",
      let body = try? JSONValue(parsing: request.body), let members = body.members
    else { return Self.answer(Self.error("$", "invalid-json", "the body is not JSON")) }
    let known: Set<String> = ["query", "variables", "operationName"]
    if let unknown = members.first(where: { !known.contains($0.name) }) {
      return Self.answer(Self.error("$", "parse-failed", "unknown member \(unknown.name)"))
    }
    let names = ["x-hasura-admin-secret", "x-hasura-role", "authorization"]
    let headers = names.compactMap { name in
      HTTPField.Name(name).flatMap { request.fields[$0] }.map { JSONMember(name, .string($0)) }
    }
    let role: String
    switch admit(.object(headers)) {
    case .success(let admitted): role = admitted.role
    case .failure(let refusal): return Self.answer(refusal.body)
    }
    do throws(FakeOperation.Fault) {
      let operation = try FakeOperation(body)
      note("http \(operation.name ?? "")")
      guard operation.kind != .subscription else {
        return Self.answer(
          Self.error("$", "unexpected", "subscriptions are not supported over HTTP"))
      }
      return Self.answer(operation.execute { resolve($0, $1, role) })
    } catch {
      return Self.answer(Self.error("$.query", "validation-failed", error.message))
    }
  }

  /// Every GraphQL response has the status 200.
  private static func answer(_ body: JSONValue) -> HTTPClientResponse {
    HTTPClientResponse(
      status: .ok, fields: [.contentType: "application/json; charset=utf-8"], body: body.bytes)
  }

  static func error(_ path: String, _ code: String, _ message: String) -> JSONValue {
    [
      "errors": [
        [
          "extensions": ["path": .string(path), "code": .string(code)], "message": .string(message),
        ]
      ]
    ]
  }

  // MARK: Credentials

  struct Admission: Sendable {
    let role: String
    let token: String?
  }

  struct Refusal: Error {
    let code: String
    let message: String

    var body: JSONValue { FakeHasura.error("$", code, message) }
  }

  /// The admin secret makes the caller `admin`, or the role that `x-hasura-role` names; a token decides
  /// only without it.
  func admit(_ headers: JSONValue) -> Result<Admission, Refusal> {
    if let given = headers["x-hasura-admin-secret"]?.string {
      guard given == secret else {
        return .failure(
          Refusal(code: "access-denied", message: "invalid \"x-hasura-admin-secret\""))
      }
      return .success(Admission(role: headers["x-hasura-role"]?.string ?? "admin", token: nil))
    }
    guard let authorization = headers["authorization"]?.string else {
      return .failure(
        Refusal(code: "access-denied", message: "x-hasura-admin-secret required, but not found"))
    }
    guard authorization.hasPrefix("Bearer ") else {
      return .failure(Refusal(code: "invalid-headers", message: "Malformed Authorization header"))
    }
    let token = String(authorization.dropFirst("Bearer ".count))
    guard let role = state.withLock({ $0.tokens[token] }) else {
      return .failure(
        Refusal(code: "invalid-jwt", message: "Could not verify JWT: JWSInvalidSignature"))
    }
    return .success(Admission(role: role, token: token))
  }
}
