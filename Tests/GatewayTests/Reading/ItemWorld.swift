import HTTPClient
import Logging
import LosslessJSON
import Model
import Storage
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import Gateway

/// Reads, mutations and purges over a store and an upstream whose calls the test holds.
final class ItemWorld: Sendable {
  private static let schema = """
    type Query { items: [Item!]!  item(id: ID!): Item }
    type Mutation {
      setItem(id: ID!, name: String!): Item
      deleteItem(id: ID!): ID
      touch: Boolean
    }
    type Item { id: ID!  name: String  version: Int! }
    """

  private static let operations = """
    query Items @cache(maxAge: 60, staleIfError: 600, scope: PUBLIC, tags: ["list"]) {
      items { id name version }
    }
    query Item($id: ID!) @cache(maxAge: 60, staleIfError: 600, scope: PUBLIC) {
      item(id: $id) { id name version }
    }
    query Compared @cache(maxAge: 60, scope: PUBLIC, shadow: 1) { items { id name version } }
    mutation SetItem($id: ID!, $name: String!) { setItem(id: $id, name: $name) { id name version } }
    mutation DropItem($id: ID!) @effects(deletes: ["Item:$id"]) { deleteItem(id: $id) }
    mutation TouchOperation @effects(invalidates: ["Items"]) { touch }
    mutation TouchType @effects(invalidates: ["Item"]) { touch }
    mutation TouchTag @effects(invalidates: ["tag:list"]) { touch }
    """

  let upstream: ItemUpstream
  let store: Store
  let cache = RenderedCache(byteLimit: 1 << 20)
  let clock = TestClock()
  let shares: CallShares
  private let folder: StoreFolder
  private let registry: OperationRegistry
  private let reader: QueryReader
  private let mutations: MutationRunner
  private let purger: Purger

  init(
    _ names: [String: String] = ["1": "one", "2": "two"],
    logger: Logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() },
    shares: CallShares = .unlimited
  ) throws {
    upstream = ItemUpstream(names)
    self.shares = shares
    let loaded = OperationRegistry.load(
      files: [SourceFile(path: "items.graphql", text: Self.operations)],
      schemaSources: [SourceFile(path: "schema.graphql", text: Self.schema)],
      settings: RegistrySettings())
    registry = try #require(loaded.registry, "\(loaded.findings)")
    folder = try StoreFolder(types: registry.catalogue.types)
    store = folder.store
    store.observe { [cache] in cache.note($0) }
    let client = UpstreamClient(
      settings: UpstreamConfiguration(url: "http://items.test/graphql"), clock: clock.clock
    ) { [upstream] request, _ throws(HTTPClientError) in
      try await upstream.exchange(request)
    }
    let calls = CallSequence(after: store.lastCall)
    let epoch = MutationEpoch()
    let upstreams = Upstreams(
      ServedUpstream(client: client, pulse: .silent, shares: shares))
    reader = QueryReader(
      upstreams: upstreams, store: store, calls: calls, cache: cache, epoch: epoch,
      failures: FailureMemory(clock: clock.clock, random: { 0 }),
      overlaid: OverlaidEntities(),
      shadow: ShadowReads(
        upstream: client, clock: clock.clock, random: { 0.5 }, logger: logger),
      clock: clock.clock, logger: logger)
    mutations = MutationRunner(
      upstreams: upstreams, store: store, calls: calls, epoch: epoch,
      clock: clock.clock, logger: logger)
    purger = Purger(store: store, calls: calls, epoch: epoch, names: Purger.Names(registry))
  }

  // MARK: Requests

  func read(
    _ operation: String = "Items", _ variables: JSONValue = [:],
    directives: ReadDirectives = .none, by caller: Caller = .anonymous
  ) async throws -> ReadResponse {
    let operation = try #require(registry.operation(named: operation))
    return try await reader.read(
      ReadRequest(
        operation: operation, variables: try operation.coerce(.value(variables)),
        caller: caller, directives: directives))
  }

  func mutate(
    _ operation: String, _ variables: JSONValue = [:], by caller: Caller = .anonymous
  ) async throws {
    let operation = try #require(registry.operation(named: operation))
    _ = try await mutations.run(
      operation, variables: try operation.coerce(.value(variables)), caller: caller,
      idempotencyKey: "k")
  }

  func purge(_ target: InvalidationTarget) async throws {
    _ = try await purger.purge([target])
  }

  /// Begins a piece of work whose one call upstream is held.
  func held<Value: Sendable>(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> (call: ItemUpstream.Call, task: Task<Value, any Error>) {
    upstream.hold(true)
    let ended = Atomic(false)
    let task = Task {
      defer { ended.store(true, ordering: .releasing) }
      return try await work()
    }
    var looks = Looks()
    while looks.goOn {
      let hasEnded = ended.load(ordering: .acquiring)
      if let call = upstream.takeCall() {
        upstream.hold(false)
        return (call, task)
      }
      if hasEnded { break }
      await looks.pause()
    }
    upstream.hold(false)
    let end = ended.load(ordering: .acquiring) ? "ended with \(await task.result)" : "goes on"
    Issue.record(
      "no call came in \(looks.count) looks; the work \(end)", sourceLocation: sourceLocation)
    throw CancellationError()
  }

  // MARK: Results

  /// Returns the stored item's name; nil if it is not stored.
  func storedName(of id: String) async throws -> String? {
    let key = EntityKey(type: "Item", key: id)
    guard let record = try await store.entity(key, viewer: .anonymous), !record.isDeleted else {
      return nil
    }
    for layer in record.layers {
      if let name = try JSONValue(parsing: layer)["name"]?.string { return name }
    }
    return nil
  }
}

extension ReadResponse {
  /// The names in a response of `Items`, by id.
  var names: [String: String] {
    get throws {
      let items = try JSONValue(parsing: rendered.body)["data"]?["items"]?.array ?? []
      return Dictionary(
        items.map { ($0["id"]?.string ?? "", $0["name"]?.string ?? "") }, uniquingKeysWith: { $1 })
    }
  }
}
