import Filtering
import LosslessJSON
import Model
import Storage
import Synchronization
import Testing

/// Writes by a filter, and the protection of local entities against purges.
struct LocalManyTests {
  private let folder = TemporaryFolder()

  private func filled() async throws -> Store {
    let store = try LocalWorld.open(folder)
    _ = try await store.local(
      LocalWorld.operation(.insert, LocalWorld.list, "l1", ["title": "Food", "count": 1]),
      LocalWorld.operation(.insert, LocalWorld.list, "l2", ["title": "Books", "count": 5]),
      LocalWorld.operation(.insert, LocalWorld.list, "l3", ["title": "Films", "count": 7]),
      LocalWorld.operation(.insert, LocalWorld.item, "i1", ["list": "l1"]),
      LocalWorld.operation(.insert, LocalWorld.item, "i2", ["list": "l2", "text": "Dune"])
    ).get()
    return store
  }

  private static func many(
    _ action: WriteAction, _ type: LocalType, _ filter: String, _ body: JSONValue = [:]
  ) throws -> LocalOperation {
    let keyed = LocalWorld.operation(action, type, "", body)
    return LocalOperation(
      action, type,
      .filter(try Filter(filter, arguments: .none, type: type.entityType)), body: keyed.body)
  }

  private static func matched(_ commit: WriteCommit) -> [Int] {
    commit.outcomes.compactMap { if case .matched(let count) = $0 { count } else { nil } }
  }

  @Test("An update applies to all entities that match a filter")
  func updatesMatching() async throws {
    let store = try await filled()
    let commit = try await store.local(
      Self.many(.update, LocalWorld.list, "count > 4", ["title": "Many"])
    ).get()
    #expect(Self.matched(commit) == [2])
    #expect(Set(commit.report.changes.map(\.key.key)) == ["l2", "l3"])
    #expect(try await store.local("List", "l2")?["title"] == "Many")
    #expect(try await store.local("List", "l1")?["title"] == "Food")
  }

  @Test("A filter sees the list's earlier writes")
  func filterSeesEarlierWrites() async throws {
    let store = try await filled()
    let commit = try await store.local(
      LocalWorld.operation(.insert, LocalWorld.list, "l4", ["title": "New", "count": 9]),
      Self.many(.update, LocalWorld.list, "count > 6", ["count": 0]),
      Self.many(.delete, LocalWorld.list, "count = 0")
    ).get()
    #expect(Self.matched(commit) == [2, 2])
    #expect(try await store.local("List", "l4") == nil)
    #expect(try await store.local("List", "l3") == nil)
    #expect(try await store.local("List", "l2") != nil)
  }

  @Test("A deletion by filter cascades")
  func deletionCascades() async throws {
    let store = try await filled()
    let commit = try await store.local(Self.many(.delete, LocalWorld.list, "count < 6")).get()
    #expect(Self.matched(commit) == [2])
    #expect(
      Set(commit.report.changes.map(\.key.description)) == [
        "List/l1", "List/l2", "Item/i1", "Item/i2",
      ])
  }

  @Test("A denied deletion of one entity undoes the whole list")
  func deniedDeletionUndoesAll() async throws {
    let store = try await filled()
    _ = try await store.local(
      LocalWorld.operation(.insert, LocalWorld.sheet, "s1", ["list": "l2"])
    ).get()
    let head = store.head
    let result = try await store.local(Self.many(.delete, LocalWorld.list, "count > 0"))
    guard case .failure(.denied) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(store.head == head)
    #expect(try await store.local("List", "l1") != nil)
    // Required relationships are checked for each of the entities.
    let emptied = try await store.local(
      Self.many(.update, LocalWorld.list, "id = 'l1'", ["items": []]))
    guard case .failure(.invalid) = emptied else {
      Issue.record("\(emptied)")
      return
    }
  }

  @Test("A filter does not match other owners' rows")
  func filterIsLimitedToOwner() async throws {
    let store = try await filled()
    let other = LocalOwner(device: .device("d_2"), user: nil)
    let commit = try await store.local(
      Self.many(.delete, LocalWorld.list, "id IS NOT NULL"), owner: other
    ).get()
    #expect(Self.matched(commit) == [0])
    #expect(try await store.local("List", "l1") != nil)
  }

  @Test("A filter that takes too long undoes the whole list")
  func slowFilterUndoesAll() async throws {
    let store = try await filled()
    _ = try await store.writeLocal(
      (0..<1000).map {
        LocalWorld.operation(.insert, LocalWorld.item, "x\($0)", ["list": "l1", "text": "aaaa"])
      }, schema: LocalWorld.schema, owner: LocalWorld.owner, now: Timestamp(milliseconds: 1))
    let looks = Atomic(0)
    let deadline = QueryDeadline(limit: .seconds(2)) {
      .seconds(looks.wrappingAdd(1, ordering: .relaxed).oldValue * 3)
    }
    let head = store.head
    await #expect(throws: StorageError.tooCostly) {
      try await store.writeLocal(
        [
          LocalWorld.operation(.insert, LocalWorld.tag, "t1"),
          Self.many(.delete, LocalWorld.item, "text LIKE '%b%a%b%'"),
        ], schema: LocalWorld.schema, owner: LocalWorld.owner, now: Timestamp(milliseconds: 1),
        deadline: deadline)
    }
    #expect(store.head == head)
    #expect(try await store.local("Tag", "t1") == nil)
  }

  @Test("findOrInsert inserts only missing entities")
  func findsOrInserts() async throws {
    let store = try await filled()
    let head = store.head
    let commit = try await store.local(
      LocalWorld.operation(.findOrInsert, LocalWorld.list, "l1", ["title": "Other"])
    ).get()
    #expect(store.head == head)
    guard case .written(_, _, isNew: false)? = commit.outcomes.first else {
      Issue.record("\(commit.outcomes)")
      return
    }
    _ = try await store.local(
      LocalWorld.operation(.findOrInsert, LocalWorld.list, "l9", ["title": "Other"])
    ).get()
    #expect(try await store.local("List", "l1")?["title"] == "Food")
    #expect(try await store.local("List", "l9")?["title"] == "Other")
  }

  @Test("Purges and cleanups keep local entities")
  func purgeKeepsLocalEntities() async throws {
    let store = try await filled()
    let head = store.head
    let report = try await store.purge(
      [.type("List"), .entity(EntityKey(type: "Item", key: "i1"))], in: nil, call: CallNumber(9),
      horizon: CallNumber(9))
    #expect(report.changes.isEmpty)
    #expect(store.head == head)
    #expect(try await store.local("Item", "i1") != nil)
    store.close()
    // Settings without the local types, for example by mistake.
    let without = try LocalWorld.open(folder, .none, segment: 2)
    #expect(try await without.cleanUpTables().types.isEmpty)
    without.close()
    let again = try LocalWorld.open(folder, segment: 3)
    #expect(try await again.local("List", "l1")?["title"] == "Food")
  }
}
