import Accounts
import GRDB
import HTTPClient
import Logging
import LosslessJSON
import Model
import SyncScheduler
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import Gateway
@testable import Storage

/// The sync queues of several devices over a store and a scripted upstream, in virtual time.
final class WorkerWorld: Sendable {
  private static let schema = """
    type Query { film(id: ID!): Film }
    type Mutation {
      rateFilm(id: ID!, stars: Int!): Film
      noteFilm(id: ID!, note: String!): Film
      addFilm(note: String!): Film
    }
    type Film { id: ID!  stars: Int  note: String }
    """

  static let operations = """
    query GetFilm($id: ID!) { film(id: $id) { id stars } }
    mutation RateFilm($id: ID!, $stars: Int!) @sync(object: "Film:$id", repeatable: true) {
      rateFilm(id: $id, stars: $stars) { id stars }
    }
    mutation RateOnce($id: ID!, $stars: Int!) @sync(object: "Film:$id") {
      rateFilm(id: $id, stars: $stars) { id stars }
    }
    """

  let time: VirtualTime
  let upstream: FilmUpstream
  let store: Store
  private let folder: StoreFolder
  private let registry: Mutex<OperationRegistry>
  private let devices: DeviceRegistry
  private let calls: CallSequence
  private let policy: QueuePolicy
  private let concurrencyMax: Int
  private let starts = Atomic<Int>(0)
  private let running: Mutex<SyncQueue?> = Mutex(nil)
  let log = RecordedLog()
  private let expiryClock: Mutex<TrustedClock?> = Mutex(nil)

  init(
    policy: QueuePolicy = QueuePolicy(), concurrencyMax: Int = 8,
    operations: String = WorkerWorld.operations, time: VirtualTime = VirtualTime(),
    answer: @escaping @Sendable (FilmUpstream.Call) -> FilmUpstream.Answer
  ) async throws {
    self.time = time
    self.policy = policy
    self.concurrencyMax = concurrencyMax
    upstream = FilmUpstream(time, answer: answer)
    let loaded = try Self.loadRegistry(operations)
    registry = Mutex(loaded)
    folder = try StoreFolder(types: loaded.catalogue.types)
    store = folder.store
    devices = .forTests(folder, TestClock())
    calls = CallSequence(after: store.lastCall)
    await start()
  }

  static func loadRegistry(
    _ operations: String = WorkerWorld.operations
  ) throws -> OperationRegistry {
    let loaded = OperationRegistry.load(
      files: [SourceFile(path: "films.graphql", text: operations)],
      schemaSources: [SourceFile(path: "schema.graphql", text: schema)],
      settings: RegistrySettings())
    return try #require(loaded.registry, "\(loaded.findings)")
  }

  /// Runs SQL in a transaction of the store, to simulate damage or a full disk.
  func tamper(_ sql: String) async throws {
    try await store.writer.write { db, _ in try db.execute(sql: sql) }
  }

  /// Returns the name of the table of films.
  func filmTable() async throws -> String {
    try await DatabaseQueue(path: "\(folder.path)/larder.sqlite").read { db in
      try String.fetchOne(db, sql: "SELECT table_name FROM entity_type WHERE name = 'Film'") ?? ""
    }
  }

  // MARK: The service

  var sync: SyncQueue {
    get throws { try #require(running.withLock { $0 }) }
  }

  /// Starts the service as a new process does: its queue time is the wall clock's.
  private func start() async {
    let expiring = expiryClock.withLock { $0 }
    let number = starts.wrappingAdd(1, ordering: .relaxed).newValue
    let dice = Mutex(SeededGenerator(seed: UInt64(number)))
    let sync = SyncQueue(
      store: store, registry: registry.withLock { $0 }, localTypes: [],
      upstream: UpstreamClient(
        settings: UpstreamConfiguration(url: "http://films.test/graphql"),
        clock: WallClock { [time] in time.wall }
      ) { [upstream] request, _ throws(HTTPClientError) in
        try await upstream.exchange(request)
      },
      calls: calls, epoch: MutationEpoch(), pulse: .silent,
      cursors: CursorIssuer(
        codec: CursorCodec(key: Self.keys.key(for: .cursor)), segment: 1, schemaVersion: 1,
        head: store.head),
      devices: devices, signal: CommitSignal { _ in },
      sealer: Sealer(key: Self.keys.key(for: .credential), random: RandomBytes { 7 }),
      environment: QueueEnvironment(
        policy: policy, wall: expiring?.now() ?? time.wall,
        reading: { [time] in time.reading },
        boot: "boot \(number)", random: { dice.withLock { $0.next() } },
        sleep: { [time] in try await time.sleep($0) }),
      concurrencyMax: concurrencyMax, transientCodes: ["BUSY"],
      clock: WallClock { [time] in time.wall },
      logger: log.logger,
      makeID: { "\(UInt64.random(in: 0...UInt64.max))" })
    running.withLock { $0 = sync }
    await sync.worker.start()
  }

  private static let keys = KeyRing(root: Array(0..<32))

  /// Restarts the service.
  ///
  /// - Parameters:
  ///   - jump: how far the wall clock is set forward while the service is stopped.
  ///   - operations: the operations of the new deployment; nil keeps them.
  ///   - clock: the queue's clock from now on; nil keeps the wall clock.
  func restart(
    wallForwardBy jump: Duration = .zero, operations: String? = nil,
    expiringBy clock: TrustedClock? = nil
  ) async throws {
    if let clock { expiryClock.withLock { $0 = clock } }
    let worker = try sync.worker
    await worker.end()
    if let operations {
      let loaded = try Self.loadRegistry(operations)
      registry.withLock { $0 = loaded }
    }
    time.setWall(forwardBy: jump)
    await start()
  }

  // MARK: Devices

  func device() async throws -> Caller {
    let made = try await devices.register(
      DeviceRegistration(platform: "ios"), by: .anonymous, from: ClientNetwork("192.0.2.1"))
    return Caller(device: Caller.Device(id: made.device.id, tokenDigest: "digest"))
  }

  static func rating(
    _ film: String, _ mode: MutationMode = .steady, operation: String = "RateFilm",
    stars: Int64 = 4, expiresIn: Duration? = nil
  ) -> MutationRequest {
    MutationRequest(
      operation: operation, mode: mode,
      variables: ["id": .string(film), "stars": .number(JSONNumber(stars))],
      expiresIn: expiresIn, canonicalBytes: Array("\(operation) \(film) \(stars)".utf8))
  }

  /// Enqueues mutations with the film's name as the key.
  ///
  /// - Returns: their ids.
  @discardableResult
  func enqueue(_ requests: MutationRequest..., by caller: Caller) async throws -> [MutationID] {
    try await enqueue(requests, by: caller)
  }

  @discardableResult
  func enqueue(_ requests: [MutationRequest], by caller: Caller) async throws -> [MutationID] {
    let keyed = requests.map {
      (request: $0, key: $0.variables?["id"]?.string ?? "")
    }
    return try await sync.enqueue(keyed, by: caller).map { answer in
      MutationID(try #require(try JSONValue(parsing: answer.body)["id"]?.string))
    }
  }

  func record(_ id: MutationID, of caller: Caller) async throws -> Mutation {
    let device = try #require(caller.device?.id)
    return try #require(try await store.mutation(id, of: device)).mutation
  }

  // MARK: Time

  /// Waits until nothing is running and the worker sleeps.
  func rest(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let worker = try sync.worker
    try await until(sourceLocation: sourceLocation) {
      !worker.isAlarmDue && worker.runningCount == 0 && time.nextWake != nil
    }
  }

  /// Advances the time to the worker's next wake and waits until it rests again.
  ///
  /// - Parameter least: the minimum time to advance.
  func step(
    atLeast least: Duration = .zero, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    if let wake = time.nextWake { time.advance(to: max(wake, time.reading + least)) }
    try await rest(sourceLocation: sourceLocation)
  }

  func until(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
  ) async throws {
    if try await eventuallyHolds(condition) { return }
    Issue.record("waited in vain", sourceLocation: sourceLocation)
    throw CancellationError()
  }
}
