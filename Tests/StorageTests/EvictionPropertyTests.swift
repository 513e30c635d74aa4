import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Storage

/// Random writes between the steps of eviction passes: no row that a live result leads to is ever evicted.
struct EvictionPropertyTests {
  private static let hour: Int64 = 3600 * 1000
  private static let policy = EvictionPolicy(
    windows: ["Short": .seconds(2 * 3600), "Long": .seconds(6 * 3600)], bytesMax: 0)

  /// Generates random responses, deletions and purges of several users.
  private struct Player {
    var generator: SeededGenerator
    var call: Int64 = 0
    var now = Timestamp(milliseconds: hour)

    mutating func pick(_ range: ClosedRange<Int>) -> Int {
      Int.random(in: range, using: &generator)
    }

    mutating func scope() -> Scope {
      [Scope.public, .public, .user("u"), .user("v"), .device("d")][pick(0...4)]
    }

    mutating func key() -> EntityKey {
      pick(0...1) == 0 ? .film("\(pick(0...24))") : .person("\(pick(0...24))")
    }

    mutating func fields() -> JSONValue {
      var fields: JSONValue = ["title": .string("t\(pick(0...3))")]
      if pick(0...2) == 0 { fields["next"] = .reference(key()) }
      if pick(0...4) == 0 {
        fields["cast"] = .array((0...pick(0...2)).map { _ in .reference(key()) })
      }
      if pick(0...3) == 0 { fields["next"] = .null }
      if pick(0...3) == 0 {
        fields["role"] = ["__typename": "Role", "by": .reference(key())]
      }
      return fields
    }

    mutating func answer() -> NormalisedResponse {
      call += 1
      // An older call can still be in flight.
      let horizon = pick(0...3) == 0 ? max(1, call - Int64(pick(0...3))) : call
      var builder = ResponseBuilder(call: call, horizon: horizon, scope: scope(), received: now)
      var keys: Set<EntityKey> = []
      for _ in 0...pick(0...3) { keys.insert(key()) }
      for key in keys.sorted(by: { ($0.type, $0.key) < ($1.type, $1.key) }) {
        builder = builder.entity(key, fields())
      }
      if pick(0...9) == 0 { builder = builder.deleting(key()) }
      guard pick(0...2) > 0 else { return builder.build() }
      let operation = ["Short", "Long", "Gone"][pick(0...2)]
      return builder.result(
        operation, variables: "\(pick(0...3))",
        root: ["films": .array(keys.map(JSONValue.reference))]
      ).build()
    }
  }

  @Test(
    "No row that is reachable from a live result is evicted",
    arguments: 1...25 as ClosedRange<UInt64>)
  func reachableRowsStay(seed: UInt64) async throws {
    let fixture = try StoreFixture()
    var player = Player(generator: SeededGenerator(seed: seed))
    var evicted = 0
    for _ in 0..<250 {
      switch player.pick(0...9) {
      case 0:
        player.now = player.now.advanced(by: .seconds(player.pick(0...5000)))
      case 1...4:
        _ = try await fixture.store.apply(player.answer())
      case 5 where player.pick(0...4) == 0:
        player.call += 1
        _ = try await fixture.store.purge(
          [.entity(player.key())], in: nil, call: CallNumber(player.call),
          horizon: CallNumber(player.call))
      default:
        evicted += try await Self.step(fixture, &player, seed: seed)
      }
    }
    #expect(evicted > 0, "seed \(seed) proves nothing")
    try await Self.expectOnlyTheReachable(fixture, player.now, seed: seed)
    fixture.store.close()
  }

  /// Performs one step and compares the tables before and after it.
  private static func step(
    _ fixture: StoreFixture, _ player: inout Player, seed: UInt64
  ) async throws -> Int {
    let before = try await StoredRows(fixture)
    _ = try await fixture.store.evict(
      policy, at: player.now, work: EvictionWork(left: player.pick(1...400)))
    let after = try await StoredRows(fixture)
    let now = player.now
    let live = before.results.filter {
      policy.serves($0.value.operation, received: $0.value.received, at: now)
    }
    for id in live.keys { #expect(after.results[id] != nil, "seed \(seed)") }
    let gone = Set(before.entities.keys).subtracting(after.entities.keys)
    let reachable = before.reachable(from: Array(live.values))
    #expect(gone.isDisjoint(with: reachable), "seed \(seed)")
    for place in gone {
      #expect(before.entities[place] != .some(nil), "a tombstone went, seed \(seed)")
      #expect(after.changes[place]?.kind == 2, "seed \(seed)")
      #expect(after.changes[place]?.revision == before.changes[place]?.revision, "seed \(seed)")
    }
    return gone.count
  }

  /// Without further writes, eviction ends with no row left that could be evicted.
  private static func expectOnlyTheReachable(
    _ fixture: StoreFixture, _ now: Timestamp, seed: UInt64
  ) async throws {
    _ = try await fixture.store.apply(ResponseBuilder(call: 1_000_000).build())
    for _ in 0..<5 {
      while try await fixture.store.evict(policy, at: now, work: EvictionWork(left: 50)).hasMore {}
    }
    let rows = try await StoredRows(fixture)
    let reachable = rows.reachable(from: Array(rows.results.values))
    for (place, contents) in rows.entities where contents != nil && !reachable.contains(place) {
      // A device's row hides any user's, and a user's the public one.
      let wider = rows.entities.contains { other in
        other.key.key == place.key && other.key.scope != place.scope && other.value != nil
      }
      #expect(wider, "\(place) is left over, seed \(seed)")
    }
  }

  /// With real concurrency: each writer of a result reads all of it back at once and later.
  @Test("Live results remain complete while responses are stored concurrently")
  func liveResultsStayComplete() async throws {
    let fixture = try StoreFixture()
    let store = fixture.store
    let selection = FieldSelection.filmsWithDirectors
    let now = Timestamp(milliseconds: Self.hour)
    let calls = CallsInFlight()
    let evicted = try await withThrowingTaskGroup(of: Int.self) { group in
      for writer in 0..<4 {
        group.addTask {
          for round in 0..<120 {
            let call = calls.begin()
            let answer = Self.library(
              call: call, horizon: calls.horizon, writer: writer, round: round, now)
            _ = try await store.apply(answer)
            calls.end(call)
            guard let key = answer.result?.key, key.operation == "Long" else { continue }
            let snapshot = try await store.result(key, selection: selection, viewer: .anonymous)
            #expect(snapshot?.entities.count == 8, "call \(call)")
          }
          return 0
        }
      }
      group.addTask {
        var evicted = 0
        while calls.last < 480 {
          evicted += try await store.evict(Self.policy, at: now, work: EvictionWork(left: 300))
            .entities
        }
        return evicted
      }
      return try await group.reduce(0, +)
    }
    #expect(evicted > 0)
    let rows = try await StoredRows(fixture)
    let live = rows.results.values.filter { $0.operation == "Long" }
    #expect(live.count == 20)
    for result in live {
      let key = ResultKey(operation: "Long", variables: result.variables, scope: .public)
      let snapshot = try await store.result(key, selection: selection, viewer: .anonymous)
      #expect(snapshot?.entities.count == 8)
    }
    store.close()
  }

  /// Four films with a director each. They are garbage at once if the result belongs to no operation; a
  /// live result of the same films follows, with no more fields than can be stored.
  private static func library(
    call: Int64, horizon: Int64, writer: Int, round: Int, _ now: Timestamp
  ) -> NormalisedResponse {
    let page = "\(writer)-\(round / 6 % 5)-\(round % 6 / 4)"
    let isLive = round % 6 == 3
    var builder = ResponseBuilder(call: call, horizon: horizon, received: now)
    let ids = (0..<4).map { "\(page)-\($0)" }
    for id in ids {
      builder = builder.film(id, ["title": "A", "director": .reference(.person(id))])
        .entity(.person(id), ["id": .string(id), "name": "P"])
    }
    return builder.result(
      isLive ? "Long" : "Gone", variables: "\"\(page)\"",
      root: ["films": .array(ids.map { .reference(.film($0)) })]
    ).build()
  }
}
