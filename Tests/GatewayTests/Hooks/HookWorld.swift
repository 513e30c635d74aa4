import Cryptography
import LosslessJSON
import Model
import Storage
import TestSupport
import Testing
import Upstream

@testable import Gateway

/// Webhooks over a store, without HTTP.
final class HookWorld: Sendable {
  private static let schema = """
    type Query { items: [Item!]!  item(id: ID!): Item  owners: [Owner!]! }
    type Item { id: ID!  name: String  price: numeric  owner: Owner  secret: String  status: Status }
    type Owner { id: ID!  name: String! }
    type Unseen { id: ID! }
    enum Status { NEW USED }
    scalar numeric
    """

  private static let operations = """
    query Items @cache(scope: PUBLIC, tags: ["list"]) { items { id name price status owner { id name } } }
    query Mine($id: ID!) { item(id: $id) { id secret } }
    """

  static let secret = "0123456789abcdef"
  static let key = Array(repeating: UInt8(7), count: 32)

  let store: Store
  let clock = TestClock()
  let log = RecordedLog()
  let outline: SchemaOutline
  let epoch = MutationEpoch()
  let calls: CallSequence
  let service: HookService
  private let folder: StoreFolder

  init() throws {
    let loaded = OperationRegistry.load(
      files: [SourceFile(path: "items.graphql", text: Self.operations)],
      schemaSources: [SourceFile(path: "schema.graphql", text: Self.schema)],
      settings: RegistrySettings(keepsOutline: true))
    let registry = try #require(loaded.registry, "\(loaded.findings)")
    outline = try #require(registry.outline)
    folder = try StoreFolder(types: registry.catalogue.types)
    store = folder.store
    // Later than the times that messages carry.
    clock.advance(by: .seconds(70_000_000))
    calls = CallSequence(after: store.lastCall)
    service = HookService(
      hooks: [
        Hook(name: "plain", format: .plain(keys: [SymmetricKey(data: Self.key)])),
        Hook(name: "hasura", format: .hasura(secrets: [Self.secret], tables: Self.tables)),
      ], outline: outline, store: store, calls: calls, epoch: epoch, clock: clock.clock,
      logger: log.logger)
  }

  static let tables = [
    "item": HookTable(
      type: "Item",
      columns: ["item_id": ["id"], "owner_id": ["owner"], "internal": [], "kind": ["status"]],
      invalidations: [.operation("Items")]),
    "shop.item": HookTable(type: "Owner"),
    "unseen": HookTable(type: "Unseen"),
  ]

  /// Sends a plain message, signed now.
  func plain(_ body: JSONValue, id: String = "m1") async throws -> HookService.Outcome {
    let timestamp = "\(clock.clock.now().milliseconds / 1_000)"
    let code = HMAC<SHA256>.authenticationCode(
      for: Array("\(id).\(timestamp).".utf8) + body.bytes, using: SymmetricKey(data: Self.key))
    let admission = try service.admit(
      "plain",
      HookService.Credentials(
        id: id, timestamp: timestamp, signature: "v1,\(Base64.encode(Array(code)))", secret: nil))
    return try await service.receive(body.bytes, admission)
  }

  func hasura(
    _ body: JSONValue, secret: String? = HookWorld.secret
  ) async throws -> HookService.Outcome {
    let admission = try service.admit(
      "hasura", HookService.Credentials(id: nil, timestamp: nil, signature: nil, secret: secret))
    return try await service.receive(body.bytes, admission)
  }

  /// An event as Hasura sends it.
  static func event(
    _ operation: String, id: String = "e1", old: JSONValue = .null, new: JSONValue = .null,
    table: String = "item", schema: String = "public",
    created: String = "2026-01-02T03:04:05.678901Z"
  ) -> JSONValue {
    [
      "id": .string(id), "created_at": .string(created),
      "trigger": ["name": "item_changed"],
      "table": ["schema": .string(schema), "name": .string(table)],
      "delivery_info": ["current_retry": 0, "max_retries": 0],
      "event": [
        "op": .string(operation), "session_variables": ["x-hasura-role": "admin"],
        "data": ["old": old, "new": new],
        "trace_context": ["trace_id": "1", "span_id": "2"],
      ],
    ]
  }

  func fields(_ type: String, _ key: String) async throws -> JSONValue? {
    guard
      let record = try await store.entity(
        EntityKey(type: type, key: key), viewer: .anonymous), !record.isDeleted,
      let layer = record.layers.first
    else { return nil }
    return try JSONValue(parsing: layer)
  }
}

/// The failure of an expression.
func failure<Value>(
  _ body: () async throws -> Value, sourceLocation: SourceLocation = #_sourceLocation
) async -> Failure? {
  do {
    _ = try await body()
    Issue.record("no failure", sourceLocation: sourceLocation)
    return nil
  } catch {
    return error as? Failure
  }
}
