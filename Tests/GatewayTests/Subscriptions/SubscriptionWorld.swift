import GRDB
import HTTPClient
import HTTPTypes
import Logging
import LosslessJSON
import Model
import Storage
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import Gateway

/// Subscriptions over a store, a scripted upstream and virtual time.
final class SubscriptionWorld: Sendable {
  private static let schema = """
    type Query {
      items: [Item!]!
      item(id: ID!): Item
      itemsSince(since: String, owner: ID): [Item!]!
      itemsAfter(since: String!): [Item!]!
    }
    type Subscription {
      itemChanged(owner: ID): Item
      itemDeleted: Gone
      itemGone: Item
    }
    type Item { id: ID!  name: String  version: Int!  updatedAt: String }
    type Gone { id: ID! }
    """

  static let operations = """
    query Items @cache(maxAge: 60, scope: PUBLIC, tags: ["list"]) { items { id name version } }
    query ItemsSince($since: String, $owner: ID) {
      itemsSince(since: $since, owner: $owner) { id name version updatedAt }
    }
    query ItemsAfter($since: String!) { itemsAfter(since: $since) { id name version updatedAt } }
    subscription ItemChanged($owner: ID) @effects(invalidates: ["tag:list"]) {
      itemChanged(owner: $owner) { id name version }
    }
    subscription Plain { itemChanged { id name version } }
    subscription ForUsers @access(role: USER) { itemChanged { id name version } }
    subscription ForDevices @access(role: DEVICE) { itemChanged { id name version } }
    subscription ForAdmins @access(role: ADMIN) { itemChanged { id name version } }
    subscription ForAll @access(role: PUBLIC) { itemChanged { id name version } }
    subscription Shared @cache(scope: PUBLIC) { itemChanged { id name version } }
    subscription Team @cache(scope: CLAIM, claim: "org") { itemChanged { id name version } }
    subscription ItemGone @effects(deletes: ["Item:{itemGone.id}"]) { itemGone { id name } }
    subscription ItemDeleted @effects(deletes: ["Item:{itemDeleted.id}"]) { itemDeleted { id } }
    """

  let script = SubscriptionScript()
  let http: ItemHTTP
  let time = VirtualTime()
  let log = RecordedLog()
  let registry: OperationRegistry
  let hub: SubscriptionHub
  let devices: DeviceRegistry
  let signal: CommitSignal
  let cache = RenderedCache(byteLimit: 1 << 20)
  let commits = CommitCount()
  var store: Store { folder.store }
  private let folder: StoreFolder
  private let directory: OperationDirectory
  private let reader: QueryReader
  private let pull: EntityPull

  /// - Parameter folder: a store to continue with, as after a restart.
  init(hasServiceCredentials: Bool = false, folder: StoreFolder? = nil) throws {
    let loaded = OperationRegistry.load(
      files: [SourceFile(path: "items.graphql", text: Self.operations)],
      schemaSources: [SourceFile(path: "schema.graphql", text: Self.schema)],
      settings: RegistrySettings(hasServiceCredentials: hasServiceCredentials))
    registry = try #require(loaded.registry, "\(loaded.findings)")
    let opened = try folder ?? StoreFolder(types: registry.catalogue.types)
    self.folder = opened
    directory = OperationDirectory(registry: registry)
    http = ItemHTTP()
    let store = opened.store
    signal = CommitSignal { _ in try await ContinuousClock().sleep(until: .now + .seconds(3600)) }
    store.observe { [cache, signal, commits] report in
      cache.note(report)
      signal.note(report)
      if report.revision != nil { commits.increment() }
    }
    let clock = WallClock { [time] in time.wall }
    let logger = log.logger
    devices = DeviceRegistry(
      store: store,
      settings: DeviceSettings(
        registration: .open, registrationsPerMinute: 100, expiry: .seconds(86_400)),
      clock: clock, random: RandomBytes { UInt8.random(in: 0...UInt8.max) }, signal: signal,
      logger: logger)
    let calls = CallSequence(after: store.lastCall, head: store.head)
    let epoch = MutationEpoch()
    let failures = FailureMemory(clock: clock, random: { 0.5 })
    let client = UpstreamClient(
      settings: UpstreamConfiguration(url: "http://items.test/graphql"), clock: clock,
      refusal: { [http, time] _, _ in http.refusal(at: time.reading) },
      exchange: { [http] request, _ throws(HTTPClientError) in try await http.exchange(request) })
    hub = SubscriptionHub(
      variables: TemporaryVariables(store: store.reading), opening: script, store: store,
      calls: calls, epoch: epoch, failures: failures, devices: devices, signal: signal,
      clock: clock, uptime: { [time] in time.reading },
      sleep: { [time] in try await time.sleep($0) }, logger: logger)
    pull = EntityPull(
      upstream: client, store: store, cache: cache, calls: calls, pulse: .silent, clock: clock)
    reader = QueryReader(
      upstream: client, store: store, calls: calls, cache: cache, epoch: epoch,
      failures: failures, pulse: .silent, overlaid: OverlaidEntities(), clock: clock,
      logger: logger)
  }

  /// The store's folder, for a world after a restart.
  var kept: StoreFolder { folder }

  func standing(
    _ rules: [StandingRule], polls: [PollRule] = [],
    random: @escaping @Sendable () -> Double = { 0.5 }
  ) throws -> StandingWork {
    StandingWork(
      subscriptions: try rules.map { try StandingPlan($0, in: registry) },
      polls: try polls.map { try PollPlan($0, in: registry) }, hub: hub, pull: pull,
      environment: StandingEnvironment(
        clock: WallClock { [time] in time.wall }, uptime: { [time] in time.reading },
        random: random, sleep: { [time] in try await time.sleep($0) }, logger: log.logger))
  }

  // MARK: Clients

  func start(
    _ operation: String, _ variables: JSONValue = [:], by caller: Caller = .anonymous
  ) async throws -> SubscriptionStream.Start {
    try await hub.start(
      directory.operation(named: operation), input: .value(variables),
      context: OperationService.Context(caller: caller))
  }

  /// Opens a stream that a task reads to its end.
  func reader(
    _ operation: String, _ variables: JSONValue = [:], by caller: Caller = .anonymous
  ) async throws -> StreamReader {
    let start = try await start(operation, variables, by: caller)
    let reader = StreamReader(hub, start)
    await reader.waitUntilOpen()
    return reader
  }

  /// The subscription that was opened upstream as the given one, counted from 0.
  func opened(
    _ index: Int = 0, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> SubscriptionScript.Opened {
    await eventually(sourceLocation: sourceLocation) { self.script.opened.count > index }
    return try #require(
      script.opened.count > index ? script.opened[index] : nil, sourceLocation: sourceLocation)
  }

  // MARK: Stored data

  /// Lets the store refuse every change of an entity, or take them again.
  func refuseChanges(_ refuses: Bool) throws {
    let database = try DatabaseQueue(path: "\(folder.path)/larder.sqlite")
    try database.write { database in
      for event in ["INSERT", "UPDATE"] {
        try database.execute(
          sql: refuses
            ? "CREATE TRIGGER refuse_\(event) BEFORE \(event) ON change "
              + "BEGIN SELECT RAISE(ABORT, 'no'); END"
            : "DROP TRIGGER refuse_\(event)")
      }
    }
    try database.close()
  }

  func read(_ operation: String = "Items", noCache: Bool = false) async throws -> ReadResponse {
    let operation = try #require(registry.operation(named: operation))
    return try await reader.read(
      ReadRequest(
        operation: operation, variables: try operation.coerce(.value([:])), caller: .anonymous,
        directives: ReadDirectives(noCache: noCache)))
  }

  /// The stored name of an item; nil if it is not stored or deleted.
  func name(of id: String, viewer: Viewer = .anonymous) async throws -> String? {
    let key = EntityKey(type: "Item", key: id)
    guard let record = try await store.entity(key, viewer: viewer), !record.isDeleted else {
      return nil
    }
    return try record.layers.lazy.compactMap { try JSONValue(parsing: $0)["name"]?.string }.first
  }
}

/// The number of commits that changed something.
final class CommitCount: Sendable {
  private let count = Atomic(0)

  var value: Int { count.load(ordering: .acquiring) }

  func increment() { count.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}

extension Caller {
  /// A caller with an opaque token that is forwarded.
  static func opaque(_ token: String) -> Caller {
    Caller(
      credentials: [Header(name: "authorization", value: "Bearer \(token)")],
      subject: "digest-of-\(token)", hasToken: true)
  }
}

/// Waits until a condition holds; records an issue after two minutes.
func eventually(
  sourceLocation: SourceLocation = #_sourceLocation, _ holds: () async throws -> Bool
) async rethrows {
  if try await eventuallyHolds(within: .seconds(120), holds) { return }
  Issue.record("waited in vain", sourceLocation: sourceLocation)
}

/// A client that reads its stream to the end in a task of its own.
final class StreamReader: Sendable {
  private struct State {
    var frames: [String] = []
    var isOpen = false
    var hasEnded = false
  }

  private final class Record: Sendable {
    let state = Mutex(State())
  }

  private let record: Record
  private let task: Task<Void, Never>

  init(_ hub: SubscriptionHub, _ start: SubscriptionStream.Start) {
    let record = Record()
    self.record = record
    task = Task.detached {
      let stream = hub.open(start)
      record.state.withLock { $0.isOpen = true }
      while !Task.isCancelled, let frame = await stream.next() {
        guard let text = Self.text(of: frame) else { continue }
        record.state.withLock { $0.frames.append(text) }
      }
      record.state.withLock { $0.hasEnded = true }
    }
  }

  var frames: [String] { record.state.withLock { $0.frames } }
  var hasEnded: Bool { record.state.withLock { $0.hasEnded } }

  /// Disconnects.
  func leave() async {
    task.cancel()
    await task.value
  }

  func waitUntilOpen() async { await eventually { self.record.state.withLock { $0.isOpen } } }

  /// Waits for a number of frames and returns all that have come.
  func frames(
    _ count: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> [String] {
    await eventually(sourceLocation: sourceLocation) { self.frames.count >= count }
    return frames
  }

  private static func text(of frame: SubscriptionFrame) -> String? {
    switch frame {
    case .next(let body): String(decoding: body, as: UTF8.self)
    case .gap: "gap"
    case .complete: "complete"
    case .error(let failure): "error \(failure.code.rawValue) \(failure.retry.rawValue)"
    case .heartbeat: nil
    }
  }
}

/// The HTTP side of the upstream: queries, answered from a list of items.
final class ItemHTTP: Sendable {
  struct Item: Sendable {
    var name: String
    var version = 1
    var updatedAt = "2024-01-01T00:00:00Z"
  }

  private struct State {
    var items: [String: Item] = [:]
    var calls: [(operation: String, variables: JSONValue)] = []
    var failure: HTTPClientError?
    var admitsAgain: Duration?
    var pageMax = Int.max
  }

  private let state = Mutex(State())

  /// The calls so far, as `Name {"variables":…}`.
  var calls: [String] { state.withLock { $0.calls.map { "\($0.operation) \($0.variables.text)" } } }

  func set(_ id: String, _ item: Item?) { state.withLock { $0.items[id] = item } }
  func fail(with failure: HTTPClientError?) { state.withLock { $0.failure = failure } }
  /// Opens the circuit breaker until a time; nil closes it.
  func refuse(until time: Duration?) { state.withLock { $0.admitsAgain = time } }
  /// Limits the items in one response, oldest first.
  func limit(to count: Int) { state.withLock { $0.pageMax = count } }

  func refusal(at now: Duration) -> Duration? {
    state.withLock { state in
      state.admitsAgain.flatMap { $0 > now ? $0 - now : nil }
    }
  }

  func exchange(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse {
    let body = (try? JSONValue(parsing: request.body)) ?? .null
    let operation = body["operationName"]?.string ?? ""
    let variables = body["variables"] ?? [:]
    let (items, failure, pageMax) = state.withLock { state in
      state.calls.append((operation, variables))
      return (state.items, state.failure, state.pageMax)
    }
    if let failure { throw failure }
    let since = variables["since"]?.string ?? ""
    let sent = items.filter { $0.value.updatedAt >= since }
      .sorted { ($0.value.updatedAt, $0.key) < ($1.value.updatedAt, $1.key) }.prefix(pageMax)
    let list = JSONValue.array(
      sent.map { id, item in
        [
          "id": .string(id), "name": .string(item.name),
          "version": .number(JSONNumber(item.version)),
          "updatedAt": .string(item.updatedAt),
        ]
      })
    let field =
      switch operation {
      case "ItemsSince": "itemsSince"
      case "ItemsAfter": "itemsAfter"
      default: "items"
      }
    return HTTPClientResponse(
      status: .ok, fields: [.contentType: "application/json"],
      body: JSONValue.object([JSONMember("data", .object([JSONMember(field, list)]))]).bytes)
  }
}
