import LosslessJSON
import Model
import Storage
import SyncScheduler
import Testing

/// Mutations enqueued with a temporary id whose entity is already known: their phone may not have
/// learned of it yet.
struct KnownTemporaryIDTests {
  private let id: TemporaryID
  private var temporary: EntityKey { .film(id.value) }

  init() throws {
    id = try #require(TemporaryID("~01ARZ3NDEKTSV4RRFFQ69G5FAV"))
  }

  private var create: NewMutation {
    QueueWorld.arrival(
      "create", mode: .steady, object: temporary, effect: .create,
      creates: [TemporaryEntity(id: id, type: "Film")])
  }

  private func update(_ mode: MutationMode) -> NewMutation {
    let fields: JSONValue = ["title": "Mine", "sequel": .reference(temporary)]
    return QueueWorld.arrival(
      "update", mode: mode, object: temporary, variables: #"{"id":"\#(id.value)"}"#,
      overlays: [OverlayChange(.merge, temporary, fields: fields.bytes)])
  }

  private func settleCreate(_ claimed: ClaimedMutation, in world: QueueWorld) async throws {
    try await world.settle(
      claimed, as: .applied(created: [id: .film("7")]),
      response: ResponseBuilder(call: 5).film("7", ["title": "Made"]).build())
  }

  private func expectToShow(_ world: QueueWorld) async throws {
    let seen = try await world.fixture.fields(of: .film("7"), viewer: world.viewer)
    #expect(seen?["title"] == "Mine")
    #expect(seen?["sequel"] == .reference(.film("7")))
    #expect(seen?["$pending"] == ["m_update"])
    #expect(try await world.fixture.fields(of: temporary, viewer: world.viewer) == nil)
  }

  @Test(
    "A new mutation on a known temporary id overlays the real entity",
    arguments: [MutationMode.lazy, .steady, .force])
  func aNewMutationOverlaysTheRealEntity(mode: MutationMode) async throws {
    let world = try await QueueWorld()
    _ = try await world.enqueue(create).get()
    try await settleCreate(try #require(try await world.claim("create")), in: world)
    _ = try await world.enqueue(update(mode)).get()
    try await expectToShow(world)
    let claimed = try #require(try await world.claim("update"))
    #expect(claimed.mutation.object == .film("7"))
    try await world.settle(claimed, as: .permanent)
    #expect(try await world.fixture.title(of: "7", viewer: world.viewer) == "Made")
  }

  @Test("A mutation that is armed again overlays the real entity")
  func aRearmedMutationOverlaysTheRealEntity() async throws {
    var world = try await QueueWorld()
    _ = try await world.enqueue(create).get()
    _ = try await world.enqueue(update(.force)).get()
    let claimed = try #require(try await world.claim("create"))
    world.now = world.now.advanced(by: .seconds(11))
    _ = try await world.store.look(at: QueueWorld.device, timing: world.timing)
    #expect(try await world.state("update") == .expired)
    try await settleCreate(claimed, in: world)
    _ = try await world.enqueue(update(.force)).get()
    #expect(try await world.state("update") == .queued)
    try await expectToShow(world)
  }
}
