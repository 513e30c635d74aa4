import GraphQL
package import HTTPClient
import HTTPTypes
package import LosslessJSON
import Synchronization
import VendorDouble

/// A fake AppSync API, as strict as the real one is documented to be, and stricter where the documentation
/// is silent.
///
/// The values of root fields are a function of the test. Events are published by the test, as a mutation
/// would, to the subscriptions of one field whose arguments they match.
package final class FakeAppSync: Sendable {
  package typealias Resolver = @Sendable (_ field: String, _ arguments: JSONValue) -> JSONValue

  struct Subscription: Sendable {
    let operation: FakeOperation
    let field: String
    let arguments: JSONValue
  }

  struct Session: Sendable {
    let socket: FakeSocket
    /// Why the connection will be refused after its first message.
    let refusal: Refusal?
    var isAcknowledged = false
    var subscriptions: [String: Subscription] = [:]
  }

  struct State {
    var keys: Set<String>
    var tokens: Set<String>
    var sessions: [ObjectIdentifier: Session] = [:]
    var log: [String] = []
    var connectionCount = 0
    var holdsAcknowledgements = false
  }

  /// The host of the GraphQL endpoint, which every authorization must name.
  package let host: String
  let subscriptionsMax: Int
  let keepAlive: Duration
  let resolve: Resolver
  let state: Mutex<State>

  /// - Parameters:
  ///   - keepAlive: the maximum silence that acknowledgements announce.
  ///   - subscriptionsMax: of one connection.
  package init(
    host: String, keys: Set<String> = [], tokens: Set<String> = [],
    subscriptionsMax: Int = 100, keepAlive: Duration = .seconds(300),
    resolve: @escaping Resolver = { _, _ in .null }
  ) {
    self.host = host
    self.subscriptionsMax = subscriptionsMax
    self.keepAlive = keepAlive
    self.resolve = resolve
    state = Mutex(State(keys: keys, tokens: tokens))
  }

  /// What clients did: `http NAME`, `connect query`, `connect header`, `init`, `start FIELD`, `stop`.
  package var log: [String] { state.withLock { $0.log } }
  package var connectionCount: Int { state.withLock { $0.connectionCount } }
  package var subscriptionCount: Int {
    state.withLock { $0.sessions.values.reduce(0) { $0 + $1.subscriptions.count } }
  }

  /// Whether `start` is not acknowledged.
  package var holdsAcknowledgements: Bool {
    get { state.withLock { $0.holdsAcknowledgements } }
    set { state.withLock { $0.holdsAcknowledgements = newValue } }
  }

  func note(_ entry: String) { state.withLock { $0.log.append(entry) } }

  package func accept(token: String) { state.withLock { _ = $0.tokens.insert(token) } }
  package func refuse(token: String) { state.withLock { _ = $0.tokens.remove(token) } }

  /// Loses all connections.
  package func dropConnections() {
    for session in state.withLock({ Array($0.sessions.values) }) { session.socket.drop() }
  }

  // MARK: HTTPS

  /// Handles a request in the process, without a network.
  package func send(
    _ request: HTTPClientRequest, within limit: Duration
  ) async throws(HTTPClientError) -> HTTPClientResponse {
    respond(to: request)
  }

  package func respond(to request: HTTPClientRequest) -> HTTPClientResponse {
    guard request.method == .post, request.url.target == "/graphql" else {
      return Self.answer(404, Self.error("NotFoundException", "no such path"))
    }
    let names = ["x-api-key", "authorization"]
    var authorization: [JSONMember] = [JSONMember("host", .string(host))]
    for name in names {
      guard let value = HTTPField.Name(name).flatMap({ request.fields[$0] }) else { continue }
      authorization.append(
        JSONMember(name == "authorization" ? "Authorization" : name, .string(value)))
    }
    if let refusal = refusal(of: .object(authorization)) {
      return Self.answer(401, Self.error(refusal.type, refusal.message))
    }
    let known: Set<String> = ["query", "variables", "operationName"]
    guard request.fields[.contentType] == "application/json",
      let body = try? JSONValue(parsing: request.body), let members = body.members,
      members.allSatisfy({ known.contains($0.name) })
    else {
      return Self.answer(
        400, Self.error("MalformedHttpRequestException", "Unable to parse GraphQL query."))
    }
    do throws(FakeOperation.Fault) {
      let operation = try FakeOperation(body)
      note("http \(operation.name ?? "")")
      guard operation.kind != .subscription else {
        return Self.answer(
          400, Self.error("BadRequestException", "subscriptions need the real-time endpoint"))
      }
      return Self.answer(200, operation.execute { resolve($0, $1) })
    } catch {
      // The code of an error is a member of its own.
      return Self.answer(200, Self.error("ValidationError", error.message))
    }
  }

  private static func answer(_ status: Int, _ body: JSONValue) -> HTTPClientResponse {
    HTTPClientResponse(
      status: HTTPResponse.Status(code: status),
      fields: [.contentType: "application/json;charset=UTF-8"], body: body.bytes)
  }

  static func error(_ type: String, _ message: String) -> JSONValue {
    ["errors": [["errorType": .string(type), "message": .string(message)]]]
  }

  // MARK: Authorization

  struct Refusal: Sendable {
    let type: String
    let message: String
    let code: Int64
  }

  private static let knownMembers: Set<String> = [
    "host", "x-api-key", "Authorization", "x-amz-date",
  ]

  /// - Returns: nil if the object names this API and an accepted credential.
  func refusal(of authorization: JSONValue) -> Refusal? {
    guard let members = authorization.members,
      members.allSatisfy({ Self.knownMembers.contains($0.name) && $0.value.string != nil })
    else {
      return Refusal(type: "BadRequestException", message: "malformed authorization", code: 400)
    }
    let unauthorized = Refusal(
      type: "com.amazonaws.deepdish.graphql.auth#UnauthorizedException",
      message: "You are not authorized to make this call.", code: 400)
    guard authorization["host"]?.string == host else { return unauthorized }
    let (keys, tokens) = state.withLock { ($0.keys, $0.tokens) }
    if let token = authorization["Authorization"]?.string {
      return tokens.contains(token) ? nil : unauthorized
    }
    guard let key = authorization["x-api-key"]?.string, keys.contains(key) else {
      return unauthorized
    }
    return nil
  }
}
