import LosslessJSON
import Model
import Storage
import Testing

@testable import Gateway

/// The retention of idempotency keys.
struct KeyRetentionTests {
  private static let day = Duration.seconds(86_400)

  private static func submit(
    _ request: MutationRequest, to world: WorkerWorld, by caller: Caller
  ) async throws -> (id: MutationID, isReplay: Bool) {
    let status = try #require(
      try await world.sync.enqueue([(request: request, key: "k")], by: caller).first)
    let id = try #require(try JSONValue(parsing: status.body)["id"]?.string)
    return (MutationID(id), status.isReplay)
  }

  @Test(
    "A key stands for the same mutation for thirty days, whatever the wall clock shows",
    arguments: [Duration.zero, day * 365, .zero - day * 365])
  func keyIsRetainedForThirtyDays(jump: Duration) async throws {
    let world = try await WorkerWorld { FilmUpstream.rated($0.film) }
    let caller = try await world.device()
    let request = WorkerWorld.rating("a")
    let first = try await Self.submit(request, to: world, by: caller)
    #expect(!first.isReplay)
    try await world.until { try await world.record(first.id, of: caller).state == .applied }
    world.time.setWall(forwardBy: jump)
    for days in [29, 30] {
      world.time.advance(to: Self.day * days)
      #expect(try await !world.sync.forgetEnded(at: world.time.lived))
      let again = try await Self.submit(request, to: world, by: caller)
      #expect(again.id == first.id && again.isReplay)
    }
    world.time.advance(by: .milliseconds(1))
    _ = try await world.sync.forgetEnded(at: world.time.lived)
    let new = try await Self.submit(request, to: world, by: caller)
    #expect(!new.isReplay && new.id != first.id)
    try await world.until { world.upstream.callCount == 2 }
  }

  @Test("Another payload under the key is refused for as long")
  func anotherPayloadIsRefused() async throws {
    let world = try await WorkerWorld { FilmUpstream.rated($0.film) }
    let caller = try await world.device()
    let first = try await Self.submit(WorkerWorld.rating("a"), to: world, by: caller)
    try await world.until { try await world.record(first.id, of: caller).state == .applied }
    let other = WorkerWorld.rating("a", stars: 5)
    world.time.advance(to: Self.day * 30)
    _ = try await world.sync.forgetEnded(at: world.time.lived)
    let failure = try await #require(throws: Failure.self) {
      try await Self.submit(other, to: world, by: caller)
    }
    #expect(failure.code == .idempotencyKeyReused)
    world.time.advance(by: .milliseconds(1))
    _ = try await world.sync.forgetEnded(at: world.time.lived)
    #expect(try await !Self.submit(other, to: world, by: caller).isReplay)
  }
}
