import Filtering
import LosslessJSON
import Model
import Synchronization
import Testing

@testable import Storage

struct HookOutboxTests {
  private let folder = TemporaryFolder()
  private static let now = Timestamp(milliseconds: 1_000_000)

  /// Makes ids in order.
  private final class Numbers: Sendable {
    private let last = Mutex(0)

    func next() -> String {
      last.withLock { last in
        last += 1
        return "evt_\(last)"
      }
    }
  }

  private static func outbox(
    _ names: [HookTrigger: [String]], _ limits: HookOutboxLimits = HookOutboxLimits()
  ) -> HookOutbox {
    let numbers = Numbers()
    return HookOutbox(
      HookSubscriptions(names: names), limits: limits, render: { $1.layers.first },
      makeID: { numbers.next() })
  }

  private static let items: [HookTrigger: [String]] = [
    .write(type: "Item", .insert): ["items"], .write(type: "Item", .update): ["items"],
    .write(type: "Item", .delete): ["items"],
  ]

  private func open(_ outbox: HookOutbox, segment: UInt64 = 1) async throws -> Store {
    let store = try LocalWorld.open(folder, segment: segment)
    try await store.setHooks(outbox, at: Self.now, waitMax: .seconds(3_600))
    return store
  }

  private func due(
    _ store: Store, _ hook: String = "items", at moment: Timestamp = now, limit: Int = 100
  ) async throws -> [HookEvent] {
    try await store.dueHookEvents(of: hook, at: moment, limit: limit)
  }

  private static func json(_ event: HookEvent?) throws -> JSONValue {
    try JSONValue(parsing: event?.body ?? [])
  }

  private static func insertList(_ id: String) -> LocalOperation {
    LocalWorld.operation(.insert, LocalWorld.list, id, ["title": "A"])
  }

  private static func insertItem(_ id: String, _ text: String) -> LocalOperation {
    LocalWorld.operation(
      .insert, LocalWorld.item, id, ["text": .string(text), "list": "l1"])
  }

  private static func setText(_ id: String, _ text: String) -> LocalOperation {
    LocalWorld.operation(.update, LocalWorld.item, id, ["text": .string(text)])
  }

  @Test("A write leaves one event for each entity it changes, with its states before and after")
  func writesEvents() async throws {
    let store = try await open(Self.outbox(Self.items))
    let commit = try await store.local(
      Self.insertList("l1"), Self.insertItem("i1", "a"), Self.setText("i1", "b")
    ).get()
    #expect(commit.report.hookEvents.added == ["items": 1])
    let first = try #require(try await due(store).first)
    #expect(first.id == "evt_1" && first.attempts == 0)
    let inserted = try Self.json(first)
    #expect(inserted["type"] == "Item" && inserted["id"] == "i1" && inserted["op"] == "insert")
    #expect(inserted["before"] == nil && inserted["after"]?["text"] == "b")
    #expect(inserted["owner"] == ["device": "d_1"])
    try await store.settle(first, as: .removed)
    _ = try await store.local(Self.setText("i1", "c")).get()
    // The same content again changes nothing.
    let same = try await store.local(Self.setText("i1", "c")).get()
    #expect(same.report.hookEvents.isEmpty)
    let updated = try await due(store)
    #expect(updated.count == 1)
    #expect(try Self.json(updated.first)["before"]?["text"] == "b")
    #expect(try Self.json(updated.first)["after"]?["text"] == "c")
    try await store.settle(try #require(updated.first), as: .removed)
    // A cascade is a deletion like any other.
    _ = try await store.local(LocalWorld.operation(.delete, LocalWorld.list, "l1")).get()
    let deleted = try Self.json(try await due(store).first)
    #expect(deleted["op"] == "delete" && deleted["after"] == nil && deleted["id"] == "i1")
    #expect(deleted["before"]?["text"] == "c")
    store.close()
  }

  @Test("A refused write leaves no event, and neither does an entity that comes and goes")
  func refusedWritesLeaveNone() async throws {
    let store = try await open(Self.outbox(Self.items))
    _ = try await store.local(Self.insertList("l1")).get()
    guard
      case .failure(.exists) = try await store.local(
        Self.insertItem("i1", "a"), Self.insertList("l1"))
    else {
      Issue.record("a list was inserted twice")
      return
    }
    let both = try await store.local(
      Self.insertItem("i1", "a"), LocalWorld.operation(.delete, LocalWorld.item, "i1")
    ).get()
    #expect(both.report.hookEvents.isEmpty)
    #expect(try await due(store).isEmpty)
    #expect(try await store.hookBacklogs()["items"] == nil)
    store.close()
  }

  @Test("Events of one entity are due one after the other, also after a restart")
  func keepsOrder() async throws {
    var store = try await open(Self.outbox(Self.items))
    _ = try await store.local(
      Self.insertList("l1"), Self.insertItem("i1", "a"), Self.insertItem("i2", "a")
    ).get()
    _ = try await store.local(Self.setText("i1", "b")).get()
    var events = try await due(store)
    #expect(try events.map { try Self.json($0)["id"] } == ["i1", "i2"])
    let later = Self.now.advanced(by: .seconds(10))
    #expect(try await store.settle(events[0], as: .waits(until: later)))
    #expect(try await due(store).map(\.lane) == [events[1].lane])
    #expect(try await store.nextHookDue(of: "items", after: Self.now) == later)
    store.close()
    store = try await open(Self.outbox(Self.items), segment: 2)
    events = try await due(store, at: later)
    // Those that were never tried come first.
    #expect(events.map(\.attempts) == [0, 1])
    #expect(try Self.json(events.last)["op"] == "insert")
    try await store.settle(try #require(events.last), as: .removed)
    #expect(try await !store.settle(try #require(events.last), as: .removed))
    let next = try await due(store, at: Self.now)
    // The other entity's event is older.
    #expect(try next.map { try Self.json($0)["op"] } == ["insert", "update"])
    #expect(next.map(\.attempts) == [0, 0])
    store.close()
  }

  @Test("An entity that changes all the time has its turn after the others")
  func busyLanesStarveNoOther() async throws {
    let store = try await open(Self.outbox(Self.items))
    _ = try await store.local(Self.insertList("l1"), Self.insertItem("busy", "a")).get()
    for number in 1...3 { _ = try await store.local(Self.setText("busy", "\(number)")).get() }
    _ = try await store.local(Self.insertItem("i1", "a"), Self.insertItem("i2", "a")).get()
    var order: [JSONValue?] = []
    for number in 4...11 {
      // Each delivery finds another change of the busy entity.
      _ = try await store.local(Self.setText("busy", "\(number)")).get()
      let event = try #require(try await due(store, limit: 1).first)
      order.append(try Self.json(event)["id"])
      try await store.settle(event, as: .removed)
    }
    #expect(order == ["busy", "busy", "busy", "busy", "i1", "i2", "busy", "busy"])
    // A new entity comes before the changes that follow it.
    _ = try await store.local(Self.insertItem("i3", "a")).get()
    for _ in 0..<4 {
      _ = try await store.local(Self.setText("busy", "again \(order.count)")).get()
      let event = try #require(try await due(store, limit: 1).first)
      order.append(try Self.json(event)["id"])
      try await store.settle(event, as: .removed)
    }
    #expect(order.suffix(4) == ["busy", "busy", "busy", "busy"])
    let rest = try await due(store, limit: 2).map { try Self.json($0)["id"] }
    #expect(rest == ["busy", "i3"])
    store.close()
  }

  @Test("A wait from before a clock was set back is shortened at the start")
  func limitsWaits() async throws {
    var store = try await open(Self.outbox(Self.items))
    _ = try await store.local(Self.insertList("l1"), Self.insertItem("i1", "a")).get()
    let far = Self.now.advanced(by: .seconds(86_400))
    try await store.settle(
      try #require(try await due(store).first), as: .waits(until: far))
    store.close()
    store = try await open(Self.outbox(Self.items), segment: 2)
    #expect(
      try await store.nextHookDue(of: "items", after: Self.now)
        == Self.now.advanced(by: .seconds(3_600)))
    store.close()
  }

  @Test("A full outbox drops its oldest events, by number and by bytes, and refuses no write")
  func dropsTheOldest() async throws {
    var limits = HookOutboxLimits()
    limits.eventsMax = 3
    let store = try await open(Self.outbox(Self.items, limits))
    _ = try await store.local(Self.insertList("l1")).get()
    var dropped = 0
    for number in 1...5 {
      let commit = try await store.local(Self.insertItem("i\(number)", "a")).get()
      dropped += commit.report.hookEvents.dropped["items"] ?? 0
    }
    #expect(dropped == 2)
    #expect(try await due(store).map { try Self.json($0)["id"] } == ["i3", "i4", "i5"])
    let backlog = try #require(try await store.hookBacklogs()["items"])
    #expect(backlog.events == 3)
    #expect(backlog.bytes == (try await due(store).map(\.body.count).reduce(0, +)))
    limits.bytesMax = Int64(backlog.bytes)
    limits.eventsMax = 100
    try await store.setHooks(
      Self.outbox(Self.items, limits), at: Self.now, waitMax: .seconds(1))
    let long = try await store.local(
      Self.insertItem("i6", String(repeating: "x", count: 100))
    ).get()
    #expect(long.report.hookEvents.dropped["items"] == 2)
    #expect(try await store.hookBacklogs()["items"]?.bytes ?? 0 <= backlog.bytes)
    store.close()
  }

  @Test("A device that fills the outbox pushes out its own events, not those of others")
  func dropsEventsOfTheLargestOwner() async throws {
    var limits = HookOutboxLimits()
    limits.eventsMax = 6
    let names: [HookTrigger: [String]] = [.write(type: "List", .insert): ["lists"]]
    let store = try await open(Self.outbox(names, limits))
    var dropped = 0
    func insert(_ id: String, of device: String, title: String = "A") async throws {
      let operation = LocalWorld.operation(
        .insert, LocalWorld.list, id, ["title": .string(title)])
      let owner = LocalOwner(device: .device(device), user: nil)
      try await store.registerDevice(of: owner)
      let commit = try await store.writeLocal(
        [operation], schema: LocalWorld.schema, owner: owner, now: Self.now
      ).get()
      dropped += commit.report.hookEvents.dropped["lists"] ?? 0
    }
    func ids() async throws -> [String] {
      try await due(store, "lists").compactMap { try Self.json($0)["id"]?.string }
    }
    for number in 1...2 { try await insert("a\(number)", of: "d_1") }
    for number in 1...20 { try await insert("b\(number)", of: "d_2") }
    #expect(try await ids() == ["a1", "a2", "b17", "b18", "b19", "b20"])
    #expect(dropped == 16)
    // Those who have less than the largest owner push out its events too.
    try await insert("a3", of: "d_1")
    #expect(try await ids() == ["a1", "a2", "b18", "b19", "b20", "a3"])
    // By bytes it is the owner with the most bytes.
    let backlog = try #require(try await store.hookBacklogs()["lists"])
    #expect(backlog.events == 6)
    limits.eventsMax = 100
    limits.bytesMax = Int64(backlog.bytes)
    try await store.setHooks(
      Self.outbox(names, limits), at: Self.now, waitMax: .seconds(1))
    let title = String(repeating: "x", count: backlog.bytes / 12)
    try await insert("c1", of: "d_3", title: title)
    #expect(try await ids() == ["a2", "b19", "b20", "a3", "c1"])
    try await insert("c2", of: "d_3", title: title)
    #expect(try await ids() == ["a2", "b19", "b20", "a3", "c2"])
    let last = try #require(try await store.hookBacklogs()["lists"])
    #expect(try await store.hookBacklogs() == ["lists": last])
    store.close()
  }

  @Test("Old events are dropped whatever hook they belong to")
  func dropsOldEvents() async throws {
    var names = Self.items
    names[.write(type: "List", .insert)] = ["lists"]
    let store = try await open(Self.outbox(names))
    _ = try await store.local(Self.insertList("l1"), Self.insertItem("i1", "a")).get()
    // Written at 1.
    let moment = Timestamp(milliseconds: 1)
    #expect(try await store.dropHookEvents(createdBefore: moment, limit: 10) == [:])
    let next = Timestamp(milliseconds: 2)
    #expect(
      try await store.dropHookEvents(createdBefore: next, limit: 10) == ["items": 1, "lists": 1])
    #expect(try await due(store).isEmpty)
    #expect(try await due(store, "lists").isEmpty)
    store.close()
  }

  @Test("A write that hooks were not asked about is undone, and written once they allowed it")
  func reviewsWrites() async throws {
    let store = try await open(Self.outbox(Self.items))
    try await store.register(DeviceTests.phone("d_1"), tokenDigest: "one")
    _ = try await store.local(Self.insertList("l1"), Self.insertItem("i1", "a")).get()
    let head = store.head
    var review = LocalWriteReview(
      hooks: HookSubscriptions(names: [.write(type: "Item", .update): ["guard"]]))
    func write(_ text: String) async throws -> Result<WriteCommit, WriteRefusal> {
      try await store.writeLocal(
        [Self.setText("i1", text), LocalWorld.operation(.insert, LocalWorld.tag, text)],
        schema: LocalWorld.schema, owner: LocalWorld.owner, now: Self.now, review: review)
    }
    guard case .failure(.unreviewed(let changes)) = try await write("b") else {
      Issue.record("a write was not reviewed")
      return
    }
    #expect(changes.map(\.key.key) == ["i1"] && changes.first?.place == 0)
    #expect(store.head == head)
    #expect(try await store.local("Item", "i1")?["text"] == "a")
    #expect(try await store.local("Tag", "b") == nil)
    review.allowed = changes
    // Another write comes first.
    _ = try await store.local(Self.setText("i1", "x")).get()
    guard case .failure(.unreviewed(let others)) = try await write("b") else {
      Issue.record("hooks were asked about another state")
      return
    }
    #expect(others != changes)
    review.allowed = others
    _ = try await write("b").get()
    #expect(try await store.local("Item", "i1")?["text"] == "b")
    // A write that changes nothing needs no review.
    review.allowed = []
    _ = try await store.writeLocal(
      [Self.setText("i1", "b")], schema: LocalWorld.schema, owner: LocalWorld.owner,
      now: Self.now, review: review
    ).get()
    // Nothing is written for a device that was removed while hooks were asked.
    review.allowed = others
    #expect(try await store.remove(device: "d_1"))
    let late = try await store.writeLocal(
      [LocalWorld.operation(.insert, LocalWorld.tag, "late")], schema: LocalWorld.schema,
      owner: LocalWorld.owner, now: Self.now, review: review)
    guard case .failure(.ownerRemoved) = late else {
      Issue.record("\(late)")
      return
    }
    store.close()
  }

  @Test("Contents that are too large are left out, and named")
  func omitsLargeContents() throws {
    let large = Array("\"\(String(repeating: "x", count: HookBody.contentBytesMax / 2))\"".utf8)
    let change = try #require(
      LocalChange(
        key: EntityKey(type: "Item", key: "i1"), before: large, after: large + [0x20],
        owner: .device("d_1"), place: 0))
    let body = try JSONValue(parsing: HookBody.write(change, before: large, after: large))
    #expect(body["before"] == nil && body["after"] != nil)
    #expect(body["omitted"] == ["before"])
  }
}
