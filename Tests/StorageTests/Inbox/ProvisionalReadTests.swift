import Filtering
import LosslessJSON
import Model
import Storage
import SyncScheduler
import Synchronization
import TestSupport
import Testing

struct ProvisionalReadTests {
  private static func merge(_ fields: String, _ id: String = "1") -> OverlayChange {
    OverlayChange(.merge, .film(id), fields: Array(fields.utf8))
  }

  private static func base(_ call: Int64, _ title: String) -> NormalisedResponse {
    ResponseBuilder(call: call).film("1", ["title": .string(title), "year": 1958]).build()
  }

  private static func submission(_ number: Int64, _ mutation: NewMutation) -> InboxSubmission {
    InboxSubmission(
      number: number, device: QueueWorld.device, mutations: [mutation], age: .zero)
  }

  private func title(in world: QueueWorld, _ viewer: Viewer? = nil) async throws -> String? {
    let record = try await world.store.reading.entity(.film("1"), viewer: viewer ?? world.viewer)
    return try record?.layers.compactMap { try JSONValue(checked: $0)["title"]?.string }.first
  }

  @Test("A submission in the inbox shows in every read of its device, and in no other")
  func showsToItsDevice() async throws {
    let world = try await QueueWorld()
    _ = try await world.store.apply(Self.base(1, "Old"))
    let head = world.store.head
    let submission = Self.submission(
      1, QueueWorld.arrival("a", overlays: [Self.merge(#"{"title":"Mine"}"#)]))
    world.store.setProvisional([submission], of: QueueWorld.device, timing: world.timing)
    #expect(try await title(in: world) == "Mine")
    #expect(try await title(in: world, .anonymous) == "Old")
    #expect(try await title(in: world, Viewer(layers: [.device("d_2"), .public])) == "Old")
    let film = StoreFixture.types[0]
    let page = try await world.store.reading.page(
      EntityQuery(
        type: film, filter: try Filter("title = 'Mine'", arguments: .none, type: film), limit: 10,
        wantsTotal: true),
      viewer: world.viewer, deadline: nil)
    #expect(page.total == 1)
    let status = try await world.store.reading.queueStatus(of: QueueWorld.device)
    #expect(status.pending == 1)
    let record = try await world.store.folding(QueueWorld.device) {
      () async throws(StorageError) in
      try await world.store.mutation(MutationID("m_a"), of: QueueWorld.device)
    }
    #expect(record?.mutation.state == .queued)
    // Nothing was written.
    #expect(world.store.head == head)
    world.store.setProvisional([], of: QueueWorld.device, timing: world.timing)
    #expect(try await title(in: world) == "Old")
    #expect(try await world.state("a") == nil)
  }

  @Test("A submission that the store has already does not show twice")
  func showsOnce() async throws {
    let world = try await QueueWorld()
    _ = try await world.store.apply(Self.base(1, "Old"))
    let submission = Self.submission(
      1, QueueWorld.arrival("a", overlays: [Self.merge(#"{"title":"Mine"}"#)]))
    world.store.setProvisional([submission], of: QueueWorld.device, timing: world.timing)
    _ = try await world.store.drain([submission], timing: world.timing)
    let record = try #require(
      try await world.store.reading.entity(.film("1"), viewer: world.viewer))
    let pending = try record.layers.compactMap { try JSONValue(checked: $0)["$pending"] }
    #expect(pending == [["m_a"]])
    // Nor does it show again after its outcome.
    try await world.settle(try #require(try await world.claim("a")), as: .permanent)
    #expect(try await title(in: world) == "Old")
  }

  @Test("A page of changes shows the submission, under the cursor of the last commit")
  func changesKeepTheirCursor() async throws {
    let world = try await QueueWorld()
    var follower = LogFollower.atHead(of: world.store, world.viewer)
    let start = ChangeQuery(
      viewer: world.viewer, position: follower.position, origin: follower.origin, limit: 100)
    _ = try await world.store.apply(Self.base(1, "Old"))
    let submission = Self.submission(
      1, QueueWorld.arrival("a", overlays: [Self.merge(#"{"title":"Mine"}"#)]))
    world.store.setProvisional([submission], of: QueueWorld.device, timing: world.timing)
    let page = try #require(try await world.store.reading.changes(start, deadline: nil))
    #expect(page.next.revision == world.store.head)
    let titles = try page.entries.compactMap { entry -> String? in
      guard case .present(let record, _) = entry.state else { return nil }
      return try record.layers.compactMap { try JSONValue(checked: $0)["title"]?.string }.first
    }
    #expect(titles == ["Mine"])
    // The commit that enqueues it is a later change.
    follower.position = page.next
    _ = try await world.store.drain([submission], timing: world.timing)
    try await follower.takePage(from: world.store)
    #expect(follower.reported.contains { $0.hasSuffix("Film/1") })
  }

  @Test("A store that is a copy folds submissions although it refuses writes")
  func foldsInACopy() async throws {
    let world = try await QueueWorld()
    _ = try await world.store.apply(Self.base(1, "Old"))
    world.store.refuseWrites()
    let submission = Self.submission(
      1, QueueWorld.arrival("a", overlays: [Self.merge(#"{"title":"Mine"}"#)]))
    world.store.setProvisional([submission], of: QueueWorld.device, timing: world.timing)
    #expect(try await title(in: world) == "Mine")
    await #expect(throws: StorageError.readOnly) {
      _ = try await world.store.drain([submission], timing: world.timing)
    }
  }

  @Test("Scopes that only a provisional read needs leave no trace")
  func forgetsScopes() async throws {
    let world = try await QueueWorld()
    _ = try await world.store.apply(Self.base(1, "Old"))
    let submission = Self.submission(
      1, QueueWorld.arrival("a", overlays: [Self.merge(#"{"title":"Mine"}"#)]))
    world.store.setProvisional([submission], of: QueueWorld.device, timing: world.timing)
    #expect(try await title(in: world) == "Mine")
    world.store.setProvisional([], of: QueueWorld.device, timing: world.timing)
    // The number that the device's scope had in the read is another scope's now.
    try await world.store.register(DeviceTests.phone("d_2"), tokenDigest: "two")
    let other = InboxSubmission(
      number: 2, device: "d_2",
      mutations: [QueueWorld.arrival("b", overlays: [Self.merge(#"{"title":"Theirs"}"#)])],
      age: .zero)
    _ = try await world.store.drain([other], timing: world.timing)
    #expect(try await title(in: world) == "Old")
    #expect(try await title(in: world, Viewer(layers: [.device("d_2"), .public])) == "Theirs")
  }

  @Test("Observers are notified of the entities that a submission changes")
  func reportsToObservers() async throws {
    let world = try await QueueWorld()
    let reports = Mutex<[CommitReport]>([])
    let store = world.store
    store.observe { report in reports.withLock { $0.append(report) } }
    store.reportProvisional([.film("1")], of: QueueWorld.device)
    let report = try #require(reports.withLock { $0.first })
    #expect(report.revision == nil)
    #expect(
      report.changes.contains(
        CommitReport.Change(scope: .device(QueueWorld.device), key: .film("1"))))
  }
}
