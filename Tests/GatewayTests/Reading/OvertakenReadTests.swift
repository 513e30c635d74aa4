import LosslessJSON
import Model
import Testing

@testable import Gateway

/// A response in flight while a purge or an invalidation settled can have outdated data: the next read
/// calls upstream.
struct OvertakenReadTests {
  enum First: CaseIterable, Sendable {
    /// Nothing is stored.
    case miss
    /// A fresh result is stored, and the request bypasses it.
    case noCache
    /// A stale result is stored.
    case stale
  }

  enum Barrier: CaseIterable, Sendable {
    case purgeOperation, purgeType, purgeTag, purgeEntity
    case invalidateOperation, invalidateType, invalidateTag
    /// A mutation that shows what it wrote.
    case mutation
  }

  private static func set(_ barrier: Barrier, in world: ItemWorld) async throws {
    switch barrier {
    case .purgeOperation, .purgeType, .purgeTag, .purgeEntity:
      world.upstream.set("1", "new")
    case .invalidateOperation, .invalidateType, .invalidateTag, .mutation: break
    }
    switch barrier {
    case .purgeOperation: try await world.purge(.operation("Items"))
    case .purgeType: try await world.purge(.type("Item"))
    case .purgeTag: try await world.purge(.tag("list"))
    case .purgeEntity: try await world.purge(.entity(EntityKey(type: "Item", key: "1")))
    case .invalidateOperation: try await world.mutate("TouchOperation")
    case .invalidateType: try await world.mutate("TouchType")
    case .invalidateTag: try await world.mutate("TouchTag")
    case .mutation: try await world.mutate("SetItem", ["id": "1", "name": "new"])
    }
  }

  @Test(
    "A read that a purge or an invalidation overtook is fetched again",
    arguments: First.allCases, Barrier.allCases)
  func overtakenReadIsFetchedAgain(first: First, barrier: Barrier) async throws {
    let world = try ItemWorld()
    if first != .miss { _ = try await world.read() }
    if first == .stale { world.clock.advance(by: .seconds(61)) }
    let directives = ReadDirectives(noCache: first == .noCache)
    let (call, reading) = try await world.held { try await world.read(directives: directives) }
    call.execute()
    try await Self.set(barrier, in: world)
    call.respond()
    let late = try await reading.value
    let name = try #require(world.upstream.items["1"]?.name)
    if barrier != .mutation {
      #expect(!late.rendered.isCurrent, "its holders can go on serving it")
    }
    #expect(try await world.read().names["1"] == name)
    // From then on it is served without calling upstream.
    let calls = world.upstream.callCount
    let again = try await world.read()
    #expect(try again.names["1"] == name)
    #expect(!again.outcome.isForwarded)
    #expect(world.upstream.callCount == calls)
  }

  /// The rule's price is bounded: only reads that began before the purge are fetched again.
  @Test("A read that began after the purge is kept")
  func readAfterPurgeIsKept() async throws {
    let world = try ItemWorld()
    try await world.purge(.operation("Items"))
    _ = try await world.read()
    #expect(try await world.read().outcome.isForwarded == false)
    #expect(world.upstream.callCount == 1)
  }
}
