package import HTTPClient
import HTTPTypes
package import LosslessJSON
import Model
import Synchronization

/// A fake OneSignal application, as strict as the real one is documented to be, and stricter where
/// the documentation is silent: it refuses unknown members, so that a client that works only by
/// accident fails.
package final class FakeOneSignal: Sendable {
  /// A device token and its user.
  struct Subscription: Sendable {
    let id: String
    let type: String
    let token: String
    var user: String
    var isEnabled: Bool
  }

  /// A notification delivered to a device, as its app sees it.
  package struct Delivery: Sendable {
    package let token: String
    package let user: String
    /// Has the notification's data at `custom.a`.
    package let payload: JSONValue
  }

  struct State {
    var subscriptions: [Subscription] = []
    /// Users that are reachable without a device.
    var users: Set<String> = []
    /// The responses by idempotency key.
    var answers: [String: JSONValue] = [:]
    var notifications: [String: JSONValue] = [:]
    var deliveries: [Delivery] = []
    var requests: [String] = []
    var scripted: [HTTPClientResponse] = []
    var isLosingAnswers = false
    var counter = 0
  }

  package static let appID = "b2f7f966-d8cc-11e4-bed1-df8f05be55ba"

  package let form: OneSignalForm
  let state = Mutex(State())

  package init(_ form: OneSignalForm) {
    self.form = form
  }

  package var key: String {
    switch form {
    case .current: "os_v2_app_secret"
    case .legacy: "NGEwMGZmMjItY2NkNy0xMWUz"
    }
  }

  /// The prefix of every path.
  package var pathPrefix: String {
    switch form {
    case .current: ""
    case .legacy: "/api/v1"
    }
  }

  /// `METHOD /path` of all requests, in order, including those with a scripted response.
  package var requests: [String] { state.withLock { $0.requests } }
  package var deliveries: [Delivery] { state.withLock { $0.deliveries } }
  /// The bodies of sent notifications, by id.
  package var notifications: [String: JSONValue] { state.withLock { $0.notifications } }
  /// The user of each enabled token.
  package var owners: [String: String] {
    state.withLock { state in
      Dictionary(
        state.subscriptions.filter(\.isEnabled).map { ($0.token, $0.user) },
        uniquingKeysWith: { _, last in last })
    }
  }

  /// Makes users reachable without a device.
  package func know(_ users: some Sequence<String>) {
    state.withLock { $0.users.formUnion(users) }
  }

  /// Scripts the response to the next request, whatever it is.
  package func answerNext(_ status: Int, _ body: String = "", retryAfter: String? = nil) {
    let fields: HTTPFields = retryAfter.map { [.retryAfter: $0] } ?? [:]
    state.withLock {
      $0.scripted.append(
        HTTPClientResponse(status: .init(code: status), fields: fields, body: Array(body.utf8)))
    }
  }

  /// Whether requests are executed but their responses are lost.
  package var isLosingAnswers: Bool {
    get { state.withLock { $0.isLosingAnswers } }
    set { state.withLock { $0.isLosingAnswers = newValue } }
  }

  /// Handles a request in the process, without a network.
  package func send(
    _ request: HTTPClientRequest, within limit: Duration
  ) async throws(HTTPClientError) -> HTTPClientResponse {
    guard let response = respond(to: request) else { throw .connectionLost }
    return response
  }

  /// - Returns: nil if the response is lost.
  package func respond(to request: HTTPClientRequest) -> HTTPClientResponse? {
    let scripted = state.withLock { state -> HTTPClientResponse? in
      state.requests.append("\(request.method.rawValue) \(request.url.target)")
      return state.scripted.isEmpty ? nil : state.scripted.removeFirst()
    }
    if let scripted { return scripted }
    let response = admitted(request)
    return isLosingAnswers ? nil : response
  }

  // MARK: Admission

  private func admitted(_ request: HTTPClientRequest) -> HTTPClientResponse {
    let scheme = form == .current ? "Key" : "Basic"
    guard let given = request.fields[.authorization] else {
      return Self.refusal(400, "Please include an 'Authorization: \(scheme) …' header")
    }
    guard given == "\(scheme) \(key)" else {
      return Self.refusal(
        403,
        "Access denied.  Please include an 'Authorization: …' header with a valid API key (…)")
    }
    var target = Substring(request.url.target)
    guard target.hasPrefix(pathPrefix) else { return Self.refusal(404, "not found") }
    target = target.dropFirst(pathPrefix.count)
    let parts = target.split(separator: "?", maxSplits: 1)
    let path = parts[0].split(separator: "/").map(String.init)
    var body: JSONValue = [:]
    if !request.body.isEmpty {
      guard request.fields[.contentType] == "application/json",
        let parsed = try? JSONValue(parsing: request.body), parsed.members != nil
      else { return Self.refusal(400, "The body is not a JSON object") }
      body = parsed
    }
    return route(
      request.method, path, query: parts.count > 1 ? String(parts[1]) : "", body: body)
  }

  private func route(
    _ method: HTTPRequest.Method, _ path: [String], query: String, body: JSONValue
  ) -> HTTPClientResponse {
    switch (form, method, path.first, path.count) {
    case (_, .post, "notifications", 1): return create(body)
    case (_, .get, "notifications", 1): return list(query)
    case (.current, _, "apps", 3...):
      guard path[1] == Self.appID else { return Self.refusal(404, "app not found") }
      return users(method, Array(path[2...]), body)
    case (.legacy, .post, "players", 1): return addPlayer(body)
    case (.legacy, .delete, "players", 2):
      guard query == "app_id=\(Self.appID)" else {
        return Self.refusal(400, "app_id not found. You may be missing a Content-Type header.")
      }
      return removeSubscription(path[1]) ?? Self.refusal(404, "No user with this id found")
    default: return Self.refusal(404, "not found")
    }
  }

  // MARK: Responses

  static func answer(
    _ body: JSONValue, status: Int = 200, fields: HTTPFields = [:]
  ) -> HTTPClientResponse {
    HTTPClientResponse(status: .init(code: status), fields: fields, body: body.bytes)
  }

  static func refusal(_ status: Int, _ errors: String...) -> HTTPClientResponse {
    answer(["errors": .array(errors.map { .string($0) })], status: status)
  }

  /// The members of an object that are not known.
  static func unknown(in body: JSONValue, but known: Set<String>) -> [String] {
    (body.members ?? []).map(\.name).filter { !known.contains($0) }
  }

  func fresh(_ state: inout State) -> String {
    state.counter += 1
    let digits = String(state.counter, radix: 16)
    return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
  }

  static func isUUID(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.count) == [8, 4, 4, 4, 12] && parts.joined().allSatisfy(\.isHexDigit)
  }
}

/// OneSignal's two APIs.
package enum OneSignalForm: Sendable, CaseIterable {
  case current, legacy
}
