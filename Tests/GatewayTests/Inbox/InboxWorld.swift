import Accounts
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

/// The sync queue of a node over its store, and the inbox of its cluster. The node's store is the leader's too:
/// ``drain()`` does the leader's work.
final class InboxWorld: Sendable {
  static let operations = """
    query GetFilm($id: ID!) { film(id: $id) { id stars } }
    mutation RateFilm($id: ID!, $stars: Int!) @sync(object: "Film:$id", repeatable: true) {
      rateFilm(id: $id, stars: $stars) { id stars }
    }
    """

  let inbox = MemoryInbox()
  let time = VirtualTime()
  let upstream: FilmUpstream
  let store: Store
  let sync: SyncQueue
  let log = RecordedLog()
  private let folder: StoreFolder
  private let devices: DeviceRegistry
  private let cursors: CursorIssuer

  init(policy: QueuePolicy = QueuePolicy()) async throws {
    let registry = try WorkerWorld.loadRegistry(Self.operations)
    folder = try StoreFolder(types: registry.catalogue.types)
    store = folder.store
    devices = .forTests(folder, TestClock())
    let upstream = FilmUpstream(time) { _ in .failure(.connectTimedOut) }
    self.upstream = upstream
    let keys = KeyRing(root: Array(0..<32))
    let signal = CommitSignal { [time] in try await time.sleep($0) }
    let overlaid = OverlaidEntities(store.overlays)
    let (time, store) = (time, store)
    let cursors = CursorIssuer(
      codec: CursorCodec(key: keys.key(for: .cursor)), segment: 1, schemaVersion: 1,
      head: store.head)
    self.cursors = cursors
    store.observe { report in
      overlaid.note(report)
      cursors.publish(report.head)
      signal.note(report)
    }
    let environment = QueueEnvironment(
      policy: policy, wall: time.wall, reading: { time.reading }, boot: "boot 1",
      random: { 7 }, sleep: { try await time.sleep($0) })
    let ids = Atomic<Int>(0)
    sync = SyncQueue(
      store: store, registry: registry, localTypes: [],
      upstream: UpstreamClient(
        settings: UpstreamConfiguration(url: "http://films.test/graphql"),
        clock: WallClock { time.wall }
      ) { request, _ throws(HTTPClientError) in try await upstream.exchange(request) },
      calls: CallSequence(after: store.lastCall), epoch: MutationEpoch(), pulse: .silent,
      cursors: cursors, devices: devices, signal: signal,
      sealer: Sealer(key: keys.key(for: .credential), random: RandomBytes { 7 }),
      environment: environment, concurrencyMax: 8, transientCodes: [],
      clock: WallClock { time.wall }, logger: log.logger,
      inbox: ClusterInbox(inbox, store: store, overlaid: overlaid, environment: environment),
      makeID: { "\(ids.wrappingAdd(1, ordering: .relaxed).newValue)" })
  }

  func device() async throws -> Caller {
    let made = try await devices.register(
      DeviceRegistration(platform: "ios"), by: .anonymous, from: ClientNetwork("192.0.2.1"))
    let found = try await devices.identify(token: made.token, user: nil)
    return Caller(device: Caller.Device(id: made.device.id, tokenDigest: found.tokenDigest))
  }

  static func rating(
    _ film: String, stars: Int64 = 4, _ mode: MutationMode = .steady, deletes: Bool = false
  ) -> MutationRequest {
    MutationRequest(
      operation: "RateFilm", mode: mode,
      variables: ["id": .string(film), "stars": .number(JSONNumber(stars))],
      optimistic: deletes
        ? [["op": "delete", "type": "Film", "id": .string(film)]]
        : [
          [
            "op": "merge", "type": "Film", "id": .string(film),
            "fields": ["stars": .number(JSONNumber(stars))],
          ]
        ], canonicalBytes: Array("RateFilm \(film) \(stars) \(mode) \(deletes)".utf8))
  }

  /// Submits one mutation.
  func submit(
    _ request: MutationRequest, _ key: String, by caller: Caller
  ) async throws -> MutationStatus {
    try #require(try await sync.enqueue([(request: request, key: key)], by: caller).first)
  }

  /// The submission that a response's cursor covers besides its revision.
  func entry(of status: MutationStatus) throws -> Int64? {
    let cursor = try #require(try JSONValue(checked: status.body)["cursor"]?.string)
    return cursors.entry(coveredBy: cursor)
  }

  @discardableResult
  func drain() async throws -> Bool {
    let drainer = try #require(sync.drainer)
    return await drainer.drainAll()
  }

  /// Runs the leader's loop during the body.
  func leading(_ body: () async throws -> Void) async throws {
    inbox.set { $0.hasLeader = true }
    let drainer = try #require(sync.drainer)
    let loop = Task { await drainer.run() }
    defer { loop.cancel() }
    try await body()
  }

  func record(_ id: MutationID, of caller: Caller) async throws -> JSONValue {
    try JSONValue(checked: try await sync.mutation(id.value, wait: .zero, by: caller))
  }

  /// Runs a body that must fail.
  func failure(_ body: () async throws -> Void) async throws -> Failure {
    do {
      try await body()
    } catch let failure as Failure {
      return failure
    }
    Issue.record("it did not fail")
    throw CancellationError()
  }
}
