import Filtering
import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Storage

/// Random writes between the pages of random readers: a reader that has caught up has the same
/// state as the store.
struct ChangeLogPropertyTests {
  private static let scopes: [Scope] = [.public, .public, .user("u"), .user("v"), .device("d")]
  private static let viewers: [Viewer] = [
    .anonymous, Viewer(layers: [.user("u"), .public]),
    Viewer(layers: [.device("d"), .user("v"), .public]),
  ]
  private static let keys: [EntityKey] = (0..<12).flatMap {
    [EntityKey.film("\($0)"), .person("\($0)")]
  }

  private struct Writer {
    var generator: SeededGenerator
    var call: Int64 = 0

    mutating func pick(_ range: ClosedRange<Int>) -> Int {
      Int.random(in: range, using: &generator)
    }

    mutating func write(to store: Store) async throws {
      call += 1
      let number = CallNumber(call)
      let scope = ChangeLogPropertyTests.scopes[pick(0...4)]
      let key = keys[pick(0...23)]
      switch pick(0...19) {
      case 0:
        _ = try await store.purge([.entity(key)], in: scope, call: number, horizon: number)
      case 1 where pick(0...3) == 0:
        _ = try await store.purge([.type(key.type)], in: scope, call: number, horizon: number)
      case 2...4:
        _ = try await store.apply(
          ResponseBuilder(call: call, scope: scope).deleting(key).build())
      default:
        var builder = ResponseBuilder(call: call, scope: scope)
        var written: Set<EntityKey> = []
        for _ in 0...pick(0...4) { written.insert(keys[pick(0...23)]) }
        for key in written.sorted(by: { "\($0)" < "\($1)" }) {
          builder = builder.entity(key, ["title": .string("t\(pick(0...5))")])
        }
        _ = try await store.apply(builder.build())
      }
    }
  }

  @Test(
    "A reader that has caught up has the store's state, whatever is written between pages",
    arguments: 1...30 as ClosedRange<UInt64>)
  func aReaderThatCaughtUpHasTheStoresState(seed: UInt64) async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    var writer = Writer(generator: SeededGenerator(seed: seed))
    for _ in 0..<writer.pick(0...40) { try await writer.write(to: store) }
    var followers = Self.viewers.map { LogFollower($0) }
    var timesCaughtUp = 0
    for _ in 0..<300 {
      if writer.pick(0...2) == 0 { try await writer.write(to: store) }
      let index = writer.pick(0...2)
      let page = try await followers[index].takePage(from: store, limit: writer.pick(1...6))
      if page?.isComplete == true {
        timesCaughtUp += 1
        try await Self.expectEqual(followers[index], store, seed: seed)
      }
    }
    #expect(timesCaughtUp > 10, "seed \(seed) proves nothing")
    #expect(followers.flatMap(\.surprises).isEmpty, "seed \(seed)")
    store.close()
  }

  /// An observer with a condition has the same entities as a collection with the same filter.
  @Test(
    "A reader with a condition that has caught up has exactly the matching entities",
    arguments: 1...40 as ClosedRange<UInt64>)
  func aReaderWithAConditionHasTheMatchingEntities(seed: UInt64) async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    let type = StoreFixture.types[0]
    let filter = try Filter(
      "title IN ('t1', 't2') OR NOT title < 't5'", arguments: .none, type: type)
    let conditions = ["Film": ObservedCondition(type: type, filter: filter)]
    var writer = Writer(generator: SeededGenerator(seed: seed))
    for _ in 0..<writer.pick(0...40) { try await writer.write(to: store) }
    try await store.keepHistory(ofTypes: ["Film"])
    var followers = Self.viewers.map { LogFollower($0, conditions: conditions) }
    var timesCaughtUp = 0
    for _ in 0..<400 {
      if writer.pick(0...2) == 0 { try await writer.write(to: store) }
      let index = writer.pick(0...2)
      let page = try await followers[index].takePage(from: store, limit: writer.pick(1...6))
      guard page?.isComplete == true else { continue }
      timesCaughtUp += 1
      let query = EntityQuery(type: type, filter: filter, limit: 1000)
      let passing = try await store.page(query, viewer: followers[index].viewer)
      let shown = try Dictionary(
        uniqueKeysWithValues: passing.items.map { ($0.key, try LogFollower.united($0.record)) })
      #expect(followers[index].held == shown, "seed \(seed)")
    }
    #expect(timesCaughtUp > 10, "seed \(seed) proves nothing")
    #expect(followers.flatMap(\.surprises).isEmpty, "seed \(seed)")
    store.close()
  }

  /// The same with a writer that runs concurrently with the readers.
  @Test(
    "Readers concurrent with a writer catch up once it ends",
    arguments: 1...4 as ClosedRange<UInt64>)
  func concurrentReadersCatchUp(seed: UInt64) async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    let writing = Task {
      var writer = Writer(generator: SeededGenerator(seed: seed))
      for _ in 0..<400 { try await writer.write(to: store) }
    }
    try await withThrowingTaskGroup(of: LogFollower.self) { group in
      for (index, viewer) in Self.viewers.enumerated() {
        group.addTask {
          var follower = LogFollower(viewer)
          for _ in 0..<400 { try await follower.takePage(from: store, limit: index + 1) }
          return follower
        }
      }
      _ = try await writing.value
      for try await var follower in group {
        while try await follower.takePage(from: store, limit: 3)?.isComplete == false {}
        try await Self.expectEqual(follower, store, seed: seed)
      }
    }
    store.close()
  }

  private static func expectEqual(
    _ follower: LogFollower, _ store: Store, seed: UInt64
  ) async throws {
    for key in keys {
      let record = try await store.entity(key, viewer: follower.viewer)
      let shown = try record.flatMap { $0.isDeleted ? nil : try LogFollower.united($0) }
      #expect(follower.held[key] == shown, "\(key) for \(follower.viewer), seed \(seed)")
    }
  }
}
