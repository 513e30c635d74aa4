import HTTPClient
import HTTPTypes
import LosslessJSON
import Synchronization

/// An upstream with a few items that holds each call before execution and again before the response,
/// until the test continues it.
final class ItemUpstream: Sendable {
  /// One call, on its way through upstream.
  final class Call: Sendable {
    enum Step { case execute, respond }

    let operation: String
    let variables: JSONValue
    private let upstream: ItemUpstream
    private let state = Mutex(State())

    private struct State {
      var allowed: Set<Step> = []
      var waiting: [Step: CheckedContinuation<Void, Never>] = [:]
      var body: JSONValue?
    }

    fileprivate init(_ operation: String, _ variables: JSONValue, _ upstream: ItemUpstream) {
      self.operation = operation
      self.variables = variables
      self.upstream = upstream
    }

    /// Executes the call and computes the response.
    func execute() {
      let body = upstream.execute(self)
      state.withLock { $0.body = body }
      allow(.execute)
    }

    /// Sends the response, which ``execute()`` has computed.
    func respond() { allow(.respond) }

    private func allow(_ step: Step) {
      let waiting = state.withLock { state in
        state.allowed.insert(step)
        return state.waiting.removeValue(forKey: step)
      }
      waiting?.resume()
    }

    fileprivate func response() async -> JSONValue {
      for step in [Step.execute, .respond] {
        await withCheckedContinuation { continuation in
          let isAllowed = state.withLock { state in
            if !state.allowed.contains(step) { state.waiting[step] = continuation }
            return state.allowed.contains(step)
          }
          if isAllowed { continuation.resume() }
        }
      }
      return state.withLock { $0.body } ?? .null
    }
  }

  struct Item: Equatable {
    var name: String
    /// Counts the item's writes, deletions included.
    var version: Int64
  }

  private struct State {
    var items: [String: Item] = [:]
    var version: Int64 = 1
    var isHolding = false
    var calls: [Call] = []
    var callCount = 0
  }

  private let state: Mutex<State>

  init(_ names: [String: String]) {
    state = Mutex(State(items: names.mapValues { Item(name: $0, version: 1) }))
  }

  var items: [String: Item] { state.withLock { $0.items } }

  /// The number of calls so far.
  var callCount: Int { state.withLock { $0.callCount } }

  /// Whether calls wait for the test from now on.
  func hold(_ isHolding: Bool) { state.withLock { $0.isHolding = isHolding } }

  /// The oldest held call that no test has taken yet.
  func takeCall() -> Call? {
    state.withLock { $0.calls.isEmpty ? nil : $0.calls.removeFirst() }
  }

  /// Writes directly, bypassing Larder.
  func set(_ id: String, _ name: String?) {
    state.withLock { state in
      state.version += 1
      state.items[id] = name.map { Item(name: $0, version: state.version) }
    }
  }

  func exchange(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse {
    let body = (try? JSONValue(parsing: request.body)) ?? .null
    let call = Call(body["operationName"]?.string ?? "", body["variables"] ?? [:], self)
    let isHeld = state.withLock { state in
      state.callCount += 1
      if state.isHolding { state.calls.append(call) }
      return state.isHolding
    }
    if !isHeld {
      call.execute()
      call.respond()
    }
    let data = await call.response()
    return HTTPClientResponse(
      status: .ok, fields: [.contentType: "application/json"],
      body: JSONValue.object([JSONMember("data", data)]).bytes)
  }

  // MARK: Executing

  private func execute(_ call: Call) -> JSONValue {
    let id = call.variables["id"]?.string ?? ""
    switch call.operation {
    case "SetItem":
      set(id, call.variables["name"]?.string)
      return ["setItem": item(id)]
    case "DropItem":
      set(id, nil)
      return ["deleteItem": .string(id)]
    case "Items", "Compared":
      let ids = items.keys.sorted()
      return ["items": .array(ids.map(item))]
    case "Item":
      return ["item": item(id)]
    default:
      // A write that the response does not show.
      set("1", call.operation)
      return ["touch": true]
    }
  }

  private func item(_ id: String) -> JSONValue {
    guard let item = items[id] else { return .null }
    return [
      "__typename": "Item", "id": .string(id), "name": .string(item.name),
      "version": .number(JSONNumber(item.version)),
    ]
  }
}
