import Filtering
import LosslessJSON
import Model
import Storage
import Testing

struct LocalWriteTests {
  private let folder = TemporaryFolder()

  private func filled() async throws -> Store {
    let store = try LocalWorld.open(folder)
    _ = try await store.local(
      LocalWorld.operation(.insert, LocalWorld.list, "l1", ["title": "Shopping"]),
      LocalWorld.operation(.insert, LocalWorld.tag, "t1"),
      LocalWorld.operation(.insert, LocalWorld.item, "i1", ["list": "l1", "tags": ["t1"]]),
      LocalWorld.operation(.insert, LocalWorld.item, "i2", ["list": "l1", "text": "milk"])
    ).get()
    return store
  }

  @Test("A write updates both sides of a relationship")
  func updatesBothSides() async throws {
    let store = try await filled()
    #expect(try await store.targets("List", "l1", "items") == ["i1", "i2"])
    #expect(try await store.targets("Tag", "t1", "items") == ["i1"])
    #expect(try await store.local("List", "l1")?["count"] == 0)
    _ = try await store.local(
      LocalWorld.operation(.insert, LocalWorld.list, "l2", ["title": "B", "items": ["i2"]])
    ).get()
    #expect(try await store.targets("List", "l1", "items") == ["i1"])
    #expect(try await store.targets("Item", "i2", "list") == ["l2"])
  }

  @Test("A list of writes is done completely or not at all")
  func listIsAtomic() async throws {
    let store = try await filled()
    let head = store.head
    let result = try await store.local(
      LocalWorld.operation(.insert, LocalWorld.list, "l2", ["title": "B"]),
      LocalWorld.operation(.insert, LocalWorld.list, "l1", ["title": "C"]))
    guard case .failure(.exists(EntityKey(type: "List", key: "l1"), _)) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(try await store.local("List", "l2") == nil)
    #expect(store.head == head)
  }

  @Test("A write of unchanged content bumps no revision")
  func unchangedContentKeepsRevision() async throws {
    let store = try await filled()
    let head = store.head
    let commit = try await store.local(
      LocalWorld.operation(.insertOrUpdate, LocalWorld.list, "l1", ["title": "Shopping"])
    ).get()
    #expect(commit.report.revision == nil)
    #expect(store.head == head)
    #expect(try await store.targets("List", "l1", "items") == ["i1", "i2"])
  }

  @Test("A cascading deletion reports each deleted entity")
  func cascadeReportsEach() async throws {
    let store = try await filled()
    let commit = try await store.local(
      LocalWorld.operation(.delete, LocalWorld.list, "l1")
    ).get()
    #expect(
      Set(commit.report.changes.map(\.key.description)) == [
        "List/l1", "Item/i1", "Item/i2", "Tag/t1",
      ])
    #expect(try await store.local("Item", "i1") == nil)
    #expect(try await store.targets("Tag", "t1", "items") == [])
  }

  @Test("A deletion that a relationship denies is refused")
  func deniedDeletion() async throws {
    let store = try await filled()
    _ = try await store.local(
      LocalWorld.operation(.insert, LocalWorld.sheet, "s1", ["list": "l1"])
    ).get()
    let result = try await store.local(LocalWorld.operation(.delete, LocalWorld.list, "l1"))
    guard case .failure(.denied(_, field: "sheet", _)) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(try await store.local("Item", "i1") != nil)
    _ = try await store.local(LocalWorld.operation(.delete, LocalWorld.sheet, "s1")).get()
    _ = try await store.local(LocalWorld.operation(.delete, LocalWorld.list, "l1")).get()
  }

  @Test("A required relationship cannot be emptied")
  func requiredRelationshipStays() async throws {
    let store = try await filled()
    for operation in [
      LocalWorld.operation(.update, LocalWorld.list, "l1", ["items": ["i1"]]),
      LocalWorld.operation(.insert, LocalWorld.item, "i3", ["text": "no list"]),
      LocalWorld.operation(.insert, LocalWorld.item, "i3", ["list": "nobody"]),
    ] {
      let result = try await store.local(operation)
      guard case .failure(.invalid(let faults)) = result else {
        Issue.record("\(result)")
        continue
      }
      #expect(faults.count == 1)
    }
    #expect(try await store.targets("List", "l1", "items") == ["i1", "i2"])
  }

  @Test("Another device neither sees nor changes the rows")
  func otherDevicesAreIsolated() async throws {
    let store = try await filled()
    let other = LocalOwner(device: .device("d_2"), user: nil)
    let result = try await store.local(
      LocalWorld.operation(.update, LocalWorld.list, "l1", ["title": "Mine"]), owner: other)
    guard case .failure(.missing) = result else {
      Issue.record("\(result)")
      return
    }
    _ = try await store.local(
      LocalWorld.operation(.insert, LocalWorld.list, "l1", ["title": "Mine"]), owner: other
    ).get()
    #expect(try await store.local("List", "l1")?["title"] == "Shopping")
  }

  @Test("Nothing is written for a device that was removed")
  func removedDevicesWriteNothing() async throws {
    let store = try await filled()
    #expect(try await store.remove(device: "d_1"))
    let head = store.head
    let result = try await store.writeLocal(
      [LocalWorld.operation(.insert, LocalWorld.list, "l1", ["title": "Late"])],
      schema: LocalWorld.schema, owner: LocalWorld.owner, now: Timestamp(milliseconds: 1))
    guard case .failure(.ownerRemoved) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(store.head == head)
    #expect(try await store.local("List", "l1") == nil)
  }

  @Test("A precondition is checked against the stored entity")
  func preconditionChecksStoredState() async throws {
    let store = try await filled()
    let stale = LocalOperation(
      .delete, LocalWorld.list, .key("l1"),
      precondition: { record in record == nil })
    guard case .failure(.changed) = try await store.local(stale) else {
      Issue.record("the deletion was done")
      return
    }
    #expect(try await store.local("List", "l1") != nil)
  }

  @Test("A deleted entity can be created again")
  func deletedEntityCanReturn() async throws {
    let store = try await filled()
    _ = try await store.local(LocalWorld.operation(.delete, LocalWorld.tag, "t1")).get()
    #expect(try await store.targets("Item", "i1", "tags") == [])
    let commit = try await store.local(
      LocalWorld.operation(.insert, LocalWorld.tag, "t1", ["items": ["i2"]])
    ).get()
    #expect(commit.report.changes.count == 2)
    #expect(try await store.targets("Item", "i2", "tags") == ["t1"])
  }

  @Test("Local entities are never evicted")
  func localEntitiesAreNotEvicted() async throws {
    let store = try await filled()
    var report: EvictionReport
    repeat {
      report = try await store.evict(
        EvictionPolicy(windows: [:], bytesMax: 0), at: Timestamp(milliseconds: 1 << 40))
    } while report.hasMore
    #expect(report.entities == 0)
    #expect(try await store.local("Item", "i2")?["text"] == "milk")
  }

  @Test("insertOrUpdate keeps the fields that it does not name, and replace empties them")
  func mergesOrReplaces() async throws {
    let store = try await filled()
    _ = try await store.local(
      LocalWorld.operation(.update, LocalWorld.list, "l1", ["count": 7])
    ).get()
    let merged = LocalWorld.operation(.insertOrUpdate, LocalWorld.list, "l1", ["title": "Food"])
    _ = try await store.local(merged).get()
    #expect(try await store.local("List", "l1")?["count"] == 7)
    // A required field that stays need not be named.
    _ = try await store.local(
      LocalWorld.operation(.insertOrUpdate, LocalWorld.list, "l1", ["count": 8])
    ).get()
    #expect(try await store.local("List", "l1")?["title"] == "Food")
    #expect(try await store.local("List", "l1")?["count"] == 8)
    let lacking = try await store.local(
      LocalWorld.operation(.insertOrUpdate, LocalWorld.list, "l2", ["count": 1]))
    guard case .failure(.invalid(let faults)) = lacking else {
      Issue.record("\(lacking)")
      return
    }
    #expect(faults == [.init(place: .pointer("/title"), detail: "is required")])
    let replaced = LocalWorld.operation(.replace, LocalWorld.list, "l1", ["title": "All"])
    let commit = try await store.local(replaced).get()
    guard case .written(_, _, isNew: false) = commit.outcomes.first else {
      Issue.record("\(commit.outcomes)")
      return
    }
    #expect(try await store.local("List", "l1")?["count"] == 0)
    // Lists of entities that are not named stay.
    #expect(try await store.targets("List", "l1", "items") == ["i1", "i2"])
    _ = try await store.local(
      LocalWorld.operation(.replace, LocalWorld.list, "l2", ["title": "New"])
    ).get()
    #expect(try await store.local("List", "l2")?["title"] == "New")
  }

  /// An existing entity keeps the fields that the body does not name; a new one has defaults.
  @Test("updateOrInsert updates existing entities and inserts missing ones")
  func updatesOrInserts() async throws {
    let store = try await filled()
    let commit = try await store.local(
      LocalWorld.operation(.update, LocalWorld.list, "l1", ["count": 7]),
      LocalWorld.operation(.updateOrInsert, LocalWorld.list, "l1", ["title": "Food"]),
      LocalWorld.operation(.updateOrInsert, LocalWorld.list, "l2", ["title": "New"])
    ).get()
    let isNew = commit.outcomes.map { outcome in
      if case .written(_, _, let isNew) = outcome { isNew } else { Bool?.none }
    }
    #expect(isNew == [false, false, true])
    #expect(try await store.local("List", "l1")?["count"] == 7)
    #expect(try await store.local("List", "l1")?["title"] == "Food")
    #expect(try await store.targets("List", "l1", "items") == ["i1", "i2"])
    #expect(try await store.local("List", "l2")?["count"] == 0)
    // A new entity needs all required fields.
    let lacking = try await store.local(
      LocalWorld.operation(.updateOrInsert, LocalWorld.list, "l3", ["count": 1]))
    guard case .failure(.invalid(let faults)) = lacking else {
      Issue.record("\(lacking)")
      return
    }
    #expect(faults == [.init(place: .pointer("/title"), detail: "is required")])
  }
}
