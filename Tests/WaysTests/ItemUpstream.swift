import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Synchronization
import Transport

/// An upstream with items that sends its subscriptions as server-sent events, and can be killed.
final class ItemUpstream: Sendable {
  static let schema = """
    type Query { items: [Item!]!  itemsSince(since: Int): [Item!]! }
    type Subscription { itemChanged: Item  itemDeleted: Gone }
    type Item { id: ID!  name: String!  updatedAt: Int! }
    type Gone { id: ID! }
    """

  static let operations = """
    query Items @cache(maxAge: 3600, scope: PUBLIC, tags: ["items"]) { items { id name updatedAt } }
    query ItemsSince($since: Int) @cache(scope: PUBLIC) {
      itemsSince(since: $since) { id name updatedAt }
    }
    subscription ItemChanged @route(path: "/items/changes") @cache(scope: PUBLIC)
      @effects(invalidates: ["tag:items"]) {
      itemChanged { id name updatedAt }
    }
    subscription Mine @access(role: USER) { itemChanged { id name updatedAt } }
    subscription ItemDeleted @cache(scope: PUBLIC) @effects(deletes: ["Item:{itemDeleted.id}"]) {
      itemDeleted { id }
    }
    """

  private struct Item {
    var name: String
    var updatedAt: Int
  }

  private struct State {
    var items: [String: Item] = [:]
    var now = 0
    /// All events, by the field that they belong to.
    var events: [(field: String, value: JSONValue)] = []
    var streams = 0
    var requests: [String] = []
    /// Counts the kills: a stream ends with the server that opened it.
    var generation = 0
    var service: HTTPService?
    var port: UInt16 = 0
  }

  private let group: EventLoopGroup
  private let state = Mutex(State())
  private let changed = AsyncSignal()

  init() throws { group = try EventLoopGroup(count: 1) }

  var url: String { "http://127.0.0.1:\(state.withLock { $0.port })/graphql" }

  /// The number of open event streams.
  var streams: Int { state.withLock { $0.streams } }

  /// The names of the operations that were sent as queries, in order.
  var requests: [String] { state.withLock { $0.requests } }

  var names: [String: String] { state.withLock { $0.items.mapValues(\.name) } }

  // MARK: Items

  /// Changes an item, and sends the event.
  func set(_ id: String, _ name: String) {
    state.withLock { state in
      state.now += 1
      state.items[id] = Item(name: name, updatedAt: state.now)
      state.events.append(("itemChanged", Self.value(of: id, state.items[id])))
    }
    changed.notify()
  }

  func delete(_ id: String) {
    state.withLock { state in
      state.items[id] = nil
      state.events.append(("itemDeleted", ["id": .string(id)]))
    }
    changed.notify()
  }

  private static func value(of id: String, _ item: Item?) -> JSONValue {
    [
      "id": .string(id), "name": .string(item?.name ?? ""),
      "updatedAt": .number(JSONNumber(item?.updatedAt ?? 0)),
    ]
  }

  // MARK: Serving

  func start() async throws {
    let port = state.withLock { $0.port }
    var configuration = HTTPServerConfiguration(
      listeners: [.init(.host("127.0.0.1", port: port))], makeSeed: { 1 })
    configuration.drain.deadline = .milliseconds(100)
    configuration.drain.handshakes = .zero
    configuration.limits.drainIdleDeadline = .zero
    let service = HTTPService(
      configuration: configuration, group: group, handler: Handler(upstream: self))
    let addresses = try await service.listen()
    state.withLock { state in
      state.port = addresses.first?.port ?? 0
      state.service = service
    }
  }

  /// Stops listening and cuts all streams.
  func kill() async {
    let service = state.withLock { state in
      state.generation += 1
      defer { state.service = nil }
      return state.service
    }
    changed.notify()
    await service?.drain()
  }

  func stop() async {
    await kill()
    await group.shutdown()
  }

  private struct Handler: RequestHandler {
    let upstream: ItemUpstream
    var isQuick: Bool { false }

    func respond(to request: ServerRequest) async -> ServerResponse {
      guard let bytes = try? await request.body.collect(upTo: 1 << 20),
        let body = try? JSONValue(parsing: bytes)
      else { return ServerResponse(status: .badRequest) }
      let accepts = request.head["accept"].map { String(decoding: $0, as: UTF8.self) } ?? ""
      return accepts.contains("text/event-stream")
        ? upstream.events(of: body) : upstream.answer(to: body)
    }
  }

  private func answer(to body: JSONValue) -> ServerResponse {
    let name = body["operationName"]?.string ?? ""
    let since = body["variables"]?["since"]?.number?.int64 ?? 0
    let items = state.withLock { state in
      state.requests.append(name)
      return state.items.filter { $0.value.updatedAt >= since }
        .sorted { $0.value.updatedAt < $1.value.updatedAt }
    }
    let list = JSONValue.array(items.map { Self.value(of: $0.key, $0.value) })
    let field = name == "ItemsSince" ? "itemsSince" : "items"
    return ServerResponse(
      contentType: "application/json",
      bytes: JSONValue.object([JSONMember("data", .object([JSONMember(field, list)]))]).bytes)
  }

  /// The events from now on of the field that the document selects.
  private func events(of body: JSONValue) -> ServerResponse {
    let field =
      body["query"]?.string?.contains("itemDeleted") == true ? "itemDeleted" : "itemChanged"
    let (begin, generation) = state.withLock { state in
      state.streams += 1
      return (state.events.count, state.generation)
    }
    return ServerResponse(
      fields: [.contentType: "text/event-stream"],
      body: .stream { writer in
        try await self.send(field, from: begin, generation, to: &writer)
      })
  }

  private func send(
    _ field: String, from begin: Int, _ generation: Int, to writer: inout ResponseWriter
  ) async throws {
    defer { state.withLock { $0.streams -= 1 } }
    var place = begin
    try await writer.write(":\n\n")
    while true {
      let seen = changed.count
      let (events, isOver) = state.withLock { state in
        (Array(state.events[place...]), state.generation != generation)
      }
      if isOver || Task.isCancelled { throw CancellationError() }
      place += events.count
      for event in events where event.field == field {
        let data: JSONValue = .object([
          JSONMember("data", .object([JSONMember(field, event.value)]))
        ])
        try await writer.write("event: next\ndata: \(data.text)\n\n")
      }
      if events.isEmpty { await changed.wait(after: seen) }
    }
  }
}
