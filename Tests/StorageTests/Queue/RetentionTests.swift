import Model
import SyncScheduler
import Testing

@testable import Storage

/// How long finished mutations and temporary ids are kept, to the millisecond.
struct RetentionTests {
  private static let day = Duration.seconds(86_400)
  private static let temporary = "~01890a5d-ac96-774b-bcce-b302099a8057"

  private static func creation(_ key: String) throws -> NewMutation {
    let id = try #require(TemporaryID(temporary))
    return QueueWorld.arrival(
      key, object: .film(temporary), effect: .create, variables: #"{"title":"New"}"#,
      creates: [TemporaryEntity(id: id, type: "Film")])
  }

  /// Brings a mutation with the key `a` to its end.
  private static func bring(to end: MutationState, _ world: inout QueueWorld) async throws {
    switch end {
    case .applied, .rejected:
      _ = try await world.enqueue(QueueWorld.arrival("a")).get()
      let claimed = try #require(try await world.claim("a"))
      try await world.settle(claimed, as: end == .applied ? .applied(created: [:]) : .permanent)
    case .superseded:
      _ = try await world.enqueue(QueueWorld.arrival("a"), QueueWorld.arrival("b")).get()
    case .annihilated:
      _ = try await world.enqueue(
        Self.creation("a"),
        QueueWorld.arrival(
          "b", object: .film(temporary), effect: .delete, variables: #"{"id":"\#(temporary)"}"#)
      ).get()
    case .cancelled:
      _ = try await world.enqueue(QueueWorld.arrival("a")).get()
      try await Self.command(.cancel(MutationID("m_a")), world)
    case .discarded:
      _ = try await world.enqueue(QueueWorld.arrival("a", rule: .park)).get()
      try await world.settle(try #require(try await world.claim("a")), as: .unknown)
      try await Self.command(.discard(MutationID("m_a")), world)
    case .expired:
      _ = try await world.enqueue(QueueWorld.arrival("a", mode: .force)).get()
      world.now = world.now.advanced(by: world.policy.forceDeadline)
      _ = try await world.store.look(at: QueueWorld.device, timing: world.timing)
    case .queued, .inflight, .parked: Issue.record("\(end) is no end")
    }
    #expect(try await world.state("a") == end)
  }

  private static func command(_ command: QueueCommand, _ world: QueueWorld) async throws {
    _ = try await world.store.command(command, on: QueueWorld.device, timing: world.timing).get()
  }

  @Test(
    "An outcome is reported, and its key recognised, for thirty days",
    arguments: MutationState.allCases.filter(\.isFinished))
  func anOutcomeIsReportedForThirtyDays(end: MutationState) async throws {
    var world = try await QueueWorld()
    try await Self.bring(to: end, &world)
    let ended = world.now
    for days in [29, 30] {
      world.now = ended.advanced(by: Self.day * days)
      #expect(try await !world.store.forgetMutations(at: world.now))
      #expect(try await world.state("a") == end)
    }
    // An expired mutation is armed by its key instead.
    if end != .expired {
      let again = try await world.enqueue(QueueWorld.arrival("a")).get().answer
      #expect(again.first?.isReplay == true)
      #expect(again.first?.mutation.state == end)
    }
    world.now = world.now.advanced(by: .milliseconds(1))
    #expect(try await !world.store.forgetMutations(at: world.now))
    #expect(try await world.state("a") == nil)
    let new = try await world.enqueue(QueueWorld.arrival("a", content: 1)).get().answer
    #expect(new.first?.isReplay == false)
    #expect(new.first?.mutation.state == .queued)
  }

  @Test("Unfinished mutations are never forgotten")
  func unfinishedMutationsAreNotForgotten() async throws {
    var world = try await QueueWorld()
    _ = try await world.enqueue(
      QueueWorld.arrival("a", rule: .park), QueueWorld.arrival("b", object: .film("2"))
    ).get()
    try await world.settle(try #require(try await world.claim("a")), as: .unknown)
    world.now = world.now.advanced(by: Self.day * 1_000)
    #expect(try await !world.store.forgetMutations(at: world.now))
    #expect(try await world.state("a") == .parked)
    #expect(try await world.state("b") == .queued)
    let again = try await world.enqueue(QueueWorld.arrival("a", rule: .park)).get().answer
    #expect(again.first?.isReplay == true)
  }

  @Test("A temporary id resolves to its entity for ninety days")
  func aTemporaryIDResolvesForNinetyDays() async throws {
    let world = try await QueueWorld()
    let id = try #require(TemporaryID(Self.temporary))
    _ = try await world.enqueue(try Self.creation("a")).get()
    try await world.settle(
      try #require(try await world.claim("a")), as: .applied(created: [id: .film("7")]))
    let made = world.now
    for days in [31, 90] {
      _ = try await world.store.forgetMutations(at: made.advanced(by: Self.day * days))
      #expect(try await world.state("a") == nil)
      let known = try await world.store.resolve([id], of: QueueWorld.device)
      #expect(known == [id: .film("7")])
    }
    let later = made.advanced(by: Self.day * 90 + .milliseconds(1))
    _ = try await world.store.forgetMutations(at: later)
    #expect(try await world.store.resolve([id], of: QueueWorld.device).isEmpty)
  }
}
