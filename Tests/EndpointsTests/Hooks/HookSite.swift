import Accounts
import Cryptography
import Gateway
import HTTPClient
import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model
import Storage
import SyncScheduler
import TestSupport
import Testing
import Upstream

@testable import Endpoints

/// The routes of webhooks over a store, without sockets.
final class HookSite: Sendable {
  private static let schema = """
    type Query { films: [Film!]!  film(id: ID!): Film }
    type Film { id: ID!  title: String  year: Int }
    """
  private static let operations = """
    query Films @cache(scope: PUBLIC, tags: ["home"]) { films { id title year } }
    """

  static let bodyBytesMax = 2_048
  static let adminToken = String(repeating: "a", count: 40)
  static let secret = "0123456789abcdef"
  static let key = Array(repeating: UInt8(7), count: 32)

  let clock = TestClock()
  let log = RecordedLog()
  private let folder: StoreFolder
  private let router: Router

  /// - Parameter hasAdmin: whether the settings have an admin token.
  init(hasAdmin: Bool = true) throws {
    let loaded = OperationRegistry.load(
      files: [SourceFile(path: "films.graphql", text: Self.operations)],
      schemaSources: [SourceFile(path: "schema.graphql", text: Self.schema)],
      settings: RegistrySettings(keepsOutline: true))
    let registry = try #require(loaded.registry, "\(loaded.findings)")
    folder = try StoreFolder(types: registry.catalogue.types)
    let (store, wall, logger) = (folder.store, clock.clock, log.logger)
    let random = RandomBytes { 7 }
    let keys = KeyRing(root: Array(0..<32))
    let signal = CommitSignal { _ in }
    let calls = CallSequence(after: store.lastCall)
    let devices = DeviceRegistry(
      store: store,
      settings: DeviceSettings(
        registration: .open, registrationsPerMinute: 10, expiry: .seconds(86_400)),
      clock: wall, random: random, signal: signal, logger: logger)
    let queue = SyncQueue(
      store: store, registry: registry, localTypes: [], upstreams: Upstreams([]), calls: calls,
      epoch: MutationEpoch(),
      cursors: CursorIssuer(
        codec: CursorCodec(key: keys.key(for: .cursor)), segment: 1, schemaVersion: 1,
        head: store.head),
      devices: devices, signal: signal,
      sealer: Sealer(key: keys.key(for: .credential), random: random),
      environment: QueueEnvironment(
        policy: QueuePolicy(), wall: wall.now(), reading: { .zero }, boot: "boot",
        random: { 7 }, sleep: { _ in }),
      concurrency: SendConcurrency(1), transientCodes: [], clock: wall, logger: logger,
      makeID: { "1" })
    let context = EndpointContext(
      callers: CallerIdentifier(
        adminToken: hasAdmin ? Self.adminToken : nil, forwardedNames: [], keys: keys,
        devices: devices, tickets: StreamTickets(clock: wall, random: random)),
      queue: queue, bodyBytesMax: Self.bodyBytesMax, streamStallMax: .seconds(1),
      clock: wall, logger: logger)
    let endpoint = HooksEndpoint(
      context: context,
      hooks: HookService(
        hooks: [
          Hook(name: "cms", format: .plain(keys: [SymmetricKey(data: Self.key)])),
          Hook(
            name: "films",
            format: .hasura(
              secrets: [Self.secret],
              tables: ["film": HookTable(type: "Film", columns: ["film_id": ["id"]])])),
        ], outline: registry.outline, store: store, calls: calls, epoch: MutationEpoch(),
        clock: wall, logger: logger),
      outgoing: OutgoingHooks(
        hooks: [], store: store, entities: EntityRenderer(catalogue: registry.catalogue),
        exchange: HookExchange(clock: wall) { _, _ throws(HTTPClientError) in
          throw .clientClosed
        },
        environment: PushEnvironment(
          wall: wall.now(), reading: { .zero }, boot: "boot", random: random, chance: { 0 },
          sleep: { _ in }),
        logger: logger))
    router = try Router([
      Route(.post, "/v1/hooks/{name}") { await endpoint.receive($0) },
      Route(.get, "/v1/admin/hooks") { request in
        if let refusal = await context.refuse(request, by: .required, effect: .reads) {
          return refusal
        }
        return await endpoint.list(request)
      },
    ])
  }

  /// What a client sees of a response.
  struct Answer {
    let status: Int
    let fields: HTTPFields
    let body: JSONValue

    var code: String? { body["code"]?.string }
  }

  func send(_ request: ServerRequest) async throws -> Answer {
    let response = await router.respond(to: request)
    var body = JSONValue.null
    if case .bytes(let bytes) = response.body, !bytes.isEmpty {
      body = try JSONValue(parsing: bytes)
    }
    return Answer(status: response.status.code, fields: response.fields, body: body)
  }

  /// Sends a request with content.
  func post(
    _ target: String, _ fields: [(String, String)], _ body: String,
    type: String = "application/json"
  ) async throws -> Answer {
    try await send(Self.request(target, fields, body, type: type))
  }

  static func request(
    _ target: String, _ fields: [(String, String)], _ body: String,
    type: String = "application/json"
  ) throws -> ServerRequest {
    let bytes = Array(body.utf8)
    let all = fields + [("Content-Type", type), ("Content-Length", "\(bytes.count)")]
    return ServerRequest(
      head: try head("POST", target, all), body: RequestBody(bytes), id: "r-1")
  }

  /// The header fields of a signed message (Standard Webhooks).
  func signature(
    of body: String, id: String = "m1", ago: Duration = .zero, key: [UInt8] = HookSite.key
  ) -> [(String, String)] {
    let seconds = clock.clock.now().milliseconds / 1_000 - ago.components.seconds
    let code = HMAC<SHA256>.authenticationCode(
      for: Array("\(id).\(seconds).\(body)".utf8), using: SymmetricKey(data: key))
    return [
      ("webhook-id", id), ("webhook-timestamp", "\(seconds)"),
      ("webhook-signature", "v1,\(Base64.encode(Array(code)))"),
    ]
  }

  /// The public copy of a film; nil if it is not stored or deleted.
  func film(_ id: String) async throws -> JSONValue? {
    guard
      let record = try await folder.store.entity(
        EntityKey(type: "Film", key: id), viewer: .anonymous), !record.isDeleted,
      let layer = record.layers.first
    else { return nil }
    return try JSONValue(parsing: layer)
  }
}
