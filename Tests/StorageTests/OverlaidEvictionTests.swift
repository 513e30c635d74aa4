import LosslessJSON
import Model
import SyncScheduler
import TestSupport
import Testing

@testable import Storage

/// Entities under a device's overlay are never evicted, so that the device sees complete entities and
/// removing the overlay restores the previous state.
struct OverlaidEvictionTests {
  private static let user = Scope.user("u")

  private static func evictAll(_ store: Store, day: Int64) async throws {
    let policy = EvictionPolicy(windows: [:], bytesMax: 0)
    var report = EvictionReport()
    repeat {
      report = try await store.evict(
        policy, at: Timestamp(milliseconds: day * 24 * 3_600_000), work: EvictionWork(left: 200))
    } while report.hasMore
  }

  /// Overlays on some of many entities in two scopes, while all entities could be evicted.
  @Test(
    "Entities under an overlay stay",
    arguments: [1, 2, 3] as [UInt64])
  func entitiesUnderOverlaysStay(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let world = try await QueueWorld()
    var pending: Set<String> = []
    for number in 1...40 {
      let id = "\(number)"
      let scope = Bool.random(using: &random) ? Scope.public : Self.user
      _ = try await world.store.apply(
        ResponseBuilder(call: Int64(number), scope: scope)
          .film(id, ["title": .string("base \(id)"), "year": 1]).build())
      guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
      pending.insert(id)
      _ = try await world.enqueue(
        QueueWorld.arrival(
          "k\(id)", object: .film(id),
          overlays: [
            OverlayChange(.merge, .film(id), fields: Array(#"{"title":"mine \#(id)"}"#.utf8))
          ])
      ).get()
    }
    try await Self.evictAll(world.store, day: 90)
    let viewer = Viewer(layers: [.device(QueueWorld.device), Self.user, .public])
    let below = Viewer(layers: [Self.user, .public])
    for number in 1...40 {
      let id = "\(number)"
      let seen = try await world.fixture.fields(of: .film(id), viewer: viewer)
      let base = try await world.fixture.fields(of: .film(id), viewer: below)
      guard pending.contains(id) else {
        #expect(base == nil, "\(id)")
        continue
      }
      #expect(seen?["title"]?.string == "mine \(id)")
      #expect(seen?["year"] == 1)
      #expect(base?["title"]?.string == "base \(id)")
    }
    for id in pending {
      _ = try await world.store.command(
        .cancel(MutationID("m_k\(id)")), on: QueueWorld.device, timing: world.timing
      ).get()
    }
    // What was read counts as used in the first pass after that.
    for day: Int64 in [180, 270] { try await Self.evictAll(world.store, day: day) }
    for id in pending {
      #expect(try await world.fixture.fields(of: .film(id), viewer: viewer) == nil, "\(id)")
    }
  }
}
