import Filtering
import LosslessJSON
import Model
import Storage
import Testing

/// Writes by a filter about related entities.
struct LocalRelatedTests {
  private static let graph = EntityGraph(
    types: LocalWorld.schema.types.values.map(\.entityType),
    relationships: [
      "List": ["items": .toMany("Item"), "sheet": .toOne("Sheet")],
      "Item": ["list": .toOne("List"), "tags": .toMany("Tag")],
      "Tag": ["items": .toMany("Item")],
      "Sheet": ["list": .toOne("List")],
    ])
  private let folder = TemporaryFolder()

  private func filled() async throws -> Store {
    let store = try LocalWorld.open(folder)
    _ = try await store.local(
      LocalWorld.operation(.insert, LocalWorld.list, "l1", ["title": "Food", "count": 1]),
      LocalWorld.operation(.insert, LocalWorld.list, "l2", ["title": "Books", "count": 5]),
      LocalWorld.operation(.insert, LocalWorld.item, "i1", ["list": "l1", "text": "Salt"]),
      LocalWorld.operation(.insert, LocalWorld.item, "i2", ["list": "l2", "text": "Dune"]),
      LocalWorld.operation(.insert, LocalWorld.item, "i3", ["list": "l2", "text": "Emma"])
    ).get()
    return store
  }

  private static func many(
    _ action: WriteAction, _ type: LocalType, _ filter: String, _ body: JSONValue = [:]
  ) throws -> LocalOperation {
    let keyed = LocalWorld.operation(action, type, "", body)
    return LocalOperation(
      action, type,
      .filter(try Filter(filter, arguments: .none, type: type.entityType, graph: graph)),
      body: keyed.body)
  }

  private static func matched(_ commit: WriteCommit) -> [Int] {
    commit.outcomes.compactMap { if case .matched(let count) = $0 { count } else { nil } }
  }

  @Test("An update and a deletion by a key path and by members apply to what matches")
  func appliesToMatches() async throws {
    let store = try await filled()
    let updated = try await store.local(
      Self.many(.update, LocalWorld.item, "list.title = 'Books'", ["text": "read"])
    ).get()
    #expect(Self.matched(updated) == [2])
    #expect(try await store.local("Item", "i2")?["text"] == "read")
    #expect(try await store.local("Item", "i1")?["text"] == "Salt")
    let deleted = try await store.local(
      Self.many(.delete, LocalWorld.list, "ANY items.text = 'Salt' OR items.count > 2")
    ).get()
    #expect(Self.matched(deleted) == [1])
    #expect(try await store.local("List", "l1") == nil)
    #expect(try await store.local("List", "l2") != nil)
  }

  @Test("A filter sees what earlier writes of the list changed in related entities")
  func seesEarlierWrites() async throws {
    let store = try await filled()
    let commit = try await store.local(
      Self.many(.update, LocalWorld.list, "title = 'Food'", ["title": "Books"]),
      Self.many(.update, LocalWorld.list, "id = 'l2'", ["title": "Old"]),
      Self.many(.update, LocalWorld.item, "list.title = 'Books'", ["text": "mine"]),
      Self.many(.delete, LocalWorld.item, "NOT list.title = 'Books'")
    ).get()
    #expect(Self.matched(commit) == [1, 1, 1, 2])
    #expect(try await store.local("Item", "i1")?["text"] == "mine")
    #expect(try await store.local("Item", "i2") == nil)
  }

  @Test("A filter is not met by other owners' entities")
  func seesOwnEntities() async throws {
    let store = try await filled()
    let other = LocalOwner(device: .device("d_2"), user: nil)
    _ = try await store.local(
      LocalWorld.operation(.insert, LocalWorld.list, "m1", ["title": "Mine"]),
      LocalWorld.operation(.insert, LocalWorld.item, "i1", ["list": "m1", "text": "Other"]),
      owner: other
    ).get()
    for filter in ["list.title = 'Books'", "list.title != 'Mine'", "list.items.count > 1"] {
      let commit = try await store.local(
        Self.many(.delete, LocalWorld.item, filter), owner: other
      ).get()
      #expect(Self.matched(commit) == [0], "\(filter)")
    }
    #expect(try await store.local("Item", "i2") != nil)
  }
}
