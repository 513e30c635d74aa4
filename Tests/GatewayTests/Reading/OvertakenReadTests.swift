import LosslessJSON
import Model
import Testing

@testable import Gateway

/// A response that was in flight while a purge or an invalidation settled may hold what these were
/// about: the next read asks upstream.
struct OvertakenReadTests {
  enum First: CaseIterable, Sendable {
    /// Nothing is stored.
    case miss
    /// Something fresh is stored, and the request passes by it.
    case noCache
    /// Something is stored that is too old.
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

  @Test(arguments: First.allCases, Barrier.allCases)
  func theNextReadShowsWhatTheBarrierWasAbout(first: First, barrier: Barrier) async throws {
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
      #expect(!late.rendered.isCurrent, "whoever holds it may go on serving it")
    }
    #expect(try await world.read().names["1"] == name)
    // From then on it is served without asking.
    let calls = world.upstream.callCount
    let again = try await world.read()
    #expect(try again.names["1"] == name)
    #expect(!again.outcome.isForwarded)
    #expect(world.upstream.callCount == calls)
  }

  /// Price of the rule: only what began before the barrier is asked for again.
  @Test func aReadThatBeganAfterThePurgeIsKept() async throws {
    let world = try ItemWorld()
    try await world.purge(.operation("Items"))
    _ = try await world.read()
    #expect(try await world.read().outcome.isForwarded == false)
    #expect(world.upstream.callCount == 1)
  }
}
