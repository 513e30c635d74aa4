import Model
import Testing

@testable import Gateway

/// Mutations whose outcome the store cannot write.
struct UnstorableOutcomeTests {
  /// One slot for all devices: the mutation that occupies it blocks the others.
  private static func world() async throws -> WorkerWorld {
    try await WorkerWorld(concurrencyMax: 1) { FilmUpstream.rated($0.film) }
  }

  @Test("A response that cannot be stored is left out, and the mutation is applied")
  func unstorableResponseIsLeftOut() async throws {
    let world = try await Self.world()
    let caller = try await world.device()
    _ = try await world.enqueue(WorkerWorld.rating("first"), by: caller)
    try await world.rest()
    let table = try await world.filmTable()
    try await world.tamper(
      """
      CREATE TRIGGER refuse_a BEFORE INSERT ON "\(table)" WHEN NEW.key = 'a'
      BEGIN SELECT RAISE(ABORT, 'refused'); END
      """)
    let ids = try await world.enqueue(
      WorkerWorld.rating("a"), WorkerWorld.rating("b"), by: caller)
    try await world.until { try await world.record(ids[1], of: caller).state == .applied }
    #expect(try await world.record(ids[0], of: caller).state == .applied)
    #expect(world.upstream.calls.map(\.film) == ["first", "a", "b"])
  }

  @Test("A mutation whose own row cannot be written occupies no slot and is recovered later")
  func unwritableRowOccupiesNoSlot() async throws {
    let world = try await Self.world()
    let stuck = try await world.device()
    let other = try await world.device()
    world.upstream.hold()
    let held = try await world.enqueue(WorkerWorld.rating("a"), by: stuck)[0]
    try await world.until { world.upstream.heldCount == 1 }
    try await world.tamper(
      """
      CREATE TRIGGER refuse_end BEFORE UPDATE ON mutation
      WHEN OLD.device = '\(stuck.device?.id ?? "")' AND OLD.state = 'inflight'
      BEGIN SELECT RAISE(ABORT, 'refused'); END
      """)
    world.upstream.release(forGood: true)
    let free = try await world.enqueue(WorkerWorld.rating("b"), by: other)[0]
    try await world.until { world.upstream.calls.contains { $0.film == "b" } }
    try await world.tamper("DROP TRIGGER refuse_end")
    try await world.rest()
    for _ in 0..<20 {
      if try await world.record(held, of: stuck).state == .applied { break }
      try await world.step(atLeast: .seconds(1))
    }
    #expect(try await world.record(held, of: stuck).state == .applied)
    // It is `repeatable`, and its key is the same.
    #expect(Set(world.upstream.calls.filter { $0.film == "a" }.map(\.key)).count == 1)
    try await world.until { try await world.record(free, of: other).state == .applied }
  }
}
