import Filtering
import Foundation
import Logging
import LosslessJSON
import Model
import Storage
import Synchronization
import Testing

@testable import Gateway

/// The change feed over a store of films, with heartbeats under the test's control.
final class FilmFeed: Sendable {
  static let film = EntityType(
    name: "Film", keyFields: ["id"],
    columns: [.init(name: "id", kind: .text), .init(name: "title", kind: .text)])

  let store: Store
  let feed: ChangeFeed
  let signal: CommitSignal
  let heartbeats = HeartbeatClock()
  /// The clock of `now()` in filters.
  let time = TestClock()
  private let folder: String
  private let call = Mutex<Int64>(0)

  init() throws {
    folder = "\(NSTemporaryDirectory())/larder-feed-\(UUID().uuidString)"
    store = try Store.open(
      StoreConfiguration(folder: folder, segment: 1, opened: Timestamp(milliseconds: 0)),
      types: [Self.film])
    signal = CommitSignal { [heartbeats] in try await heartbeats.sleep($0) }
    let clock = time.clock
    let leaf = ObjectShape.Field(value: .leaf, listDepth: 0)
    feed = ChangeFeed(
      store: store.reading,
      validator: CursorValidator(
        codec: CursorCodec(key: KeyRing(root: Array(0..<32)).key(for: .cursor)),
        segments: store.segments, schemaVersion: 1),
      entities: EntityRenderer(
        types: [Self.film],
        shapes: ["Film": ObjectShape(type: "Film", fields: ["id": leaf, "title": leaf])]),
      signal: signal, types: [Self.film], gate: StoredDataGate(hasServiceCredentials: false),
      devices: DeviceRegistry(
        store: store,
        settings: DeviceSettings(
          registration: .open, registrationsPerMinute: 1, expiry: .seconds(86_400)),
        clock: clock,
        random: RandomBytes { UInt8.random(in: 0...UInt8.max) }, signal: signal,
        logger: Logger(label: "feed") { _ in SwiftLogNoOpLogHandler() }),
      deadline: QueryDeadline(limit: .seconds(60)) { .zero }, clock: clock)
    store.observe { [signal] in signal.note($0) }
  }

  deinit {
    store.close()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Returns a filter of films with this condition.
  func filter(_ text: String) -> ChangeFilter {
    let condition = ChangeCondition(
      text, arguments: .none, types: [Self.film], graph: .none, now: time.clock.now()
    ) { Issue.record("\($0): \($1)") }
    return ChangeFilter(types: ["Film"], condition: condition)
  }

  func write(_ id: String, title: String, in scope: Scope = .public) async throws {
    let number = call.withLock { call in
      call += 1
      return CallNumber(call)
    }
    var answer = NormalisedResponse(
      call: number, horizon: number, received: Timestamp(milliseconds: 0), scope: scope)
    var fields: [NormalisedResponse.Field] = []
    for (name, value) in [("id", id), ("title", title)] {
      let start = answer.bytes.count
      answer.bytes += JSONValue.string(value).bytes
      fields.append(.init(name: name, range: start..<answer.bytes.count, merges: false))
    }
    answer.entities = [.init(key: EntityKey(type: "Film", key: id), fields: fields)]
    _ = try await store.apply(answer)
  }

  func delete(_ id: String) async throws {
    let number = call.withLock { call in
      call += 1
      return CallNumber(call)
    }
    var answer = NormalisedResponse(
      call: number, horizon: number, received: Timestamp(milliseconds: 0), scope: .public)
    answer.deletions = [EntityKey(type: "Film", key: id)]
    _ = try await store.apply(answer)
  }

  /// Returns a cursor at the head, as a service with the given schema version would issue it.
  func cursor(schemaVersion: UInt32 = 1) -> String {
    CursorValidator(
      codec: CursorCodec(key: KeyRing(root: Array(0..<32)).key(for: .cursor)),
      segments: store.segments, schemaVersion: schemaVersion
    ).text(at: ChangePlace(caughtUpAt: store.head), viewer: .anonymous, filter: .all)
  }

  /// Opens a stream at the head and reads its first bookmark.
  func stream(_ filter: ChangeFilter = .all) async throws -> ChangeStream {
    let stream = feed.open(
      try await feed.streamStart(caller: .anonymous, filter: filter, since: .head))
    guard try await Self.frame(of: stream).contains("event: bookmark") else {
      throw Failure(.internal, "no bookmark")
    }
    return stream
  }

  /// Returns the next frame as text; empty at the end.
  static func frame(of stream: ChangeStream) async throws -> String {
    String(decoding: try await stream.next() ?? [], as: UTF8.self)
  }
}

/// A clock for the heartbeats of live streams that advances only when a test says so.
final class HeartbeatClock: Sendable {
  private let gate: Gate
  private let release: AsyncStream<Void>.Continuation
  private let asked: AsyncStream<Duration>.Continuation
  /// The requested durations, in order.
  let durations: AsyncStream<Duration>

  init() {
    let (releases, release) = AsyncStream<Void>.makeStream()
    self.release = release
    gate = Gate(releases)
    (durations, asked) = AsyncStream.makeStream()
  }

  deinit { release.finish() }

  /// Sleeps until ``fire()`` is called or the task is cancelled; what is no heartbeat, as the end of a wait,
  /// until it is cancelled.
  func sleep(_ duration: Duration) async throws {
    asked.yield(duration)
    guard duration == CommitSignal.heartbeatInterval else {
      return try await Task.sleep(for: .seconds(3_600))
    }
    try await gate.pass()
  }

  /// Wakes one sleeper, or the next one.
  func fire() { release.yield() }
}

/// Lets one sleeper through for each release.
private actor Gate {
  private let releases: AsyncStream<Void>

  init(_ releases: AsyncStream<Void>) {
    self.releases = releases
  }

  func pass() async throws {
    var iterator = releases.makeAsyncIterator()
    if await iterator.next() == nil { throw CancellationError() }
  }
}
