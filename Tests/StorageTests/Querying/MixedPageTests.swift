import Filtering
import LosslessJSON
import Model
import Storage
import Testing

/// Lists whose members are of several types.
struct MixedPageTests {
  private static let common = EntityType(
    name: "Work", keyFields: [],
    columns: [.init(name: "id", kind: .text), .init(name: "name", kind: .text)])

  private static let types = ["Film", "Series"].map { name in
    EntityType(
      name: name, keyFields: ["id"],
      columns: [
        .init(name: "id", kind: .text), .init(name: "name", kind: .text),
        .init(name: "\(name)Only", kind: .integer),
      ])
  }

  private static let members = [
    ("Series", "1"), ("Film", "1"), ("Film", "2"), ("Series", "gone"), ("Film", "3"),
    ("Series", "2"),
  ].map { EntityKey(type: $0.0, key: $0.1) }

  private func filled() async throws -> StoreFixture {
    let fixture = try StoreFixture(types: Self.types)
    let names = ["Film/1": "d", "Film/2": "b", "Film/3": "b", "Series/1": "c", "Series/2": "a"]
    var answer = ResponseBuilder(call: 1)
    for key in Self.members {
      guard let name = names[key.description] else { continue }
      answer = answer.entity(key, ["id": .string(key.key), "name": .string(name)])
    }
    _ = try await fixture.store.apply(answer.build())
    return fixture
  }

  private func query(
    filter: String? = nil, order: String? = nil, limit: Int = 50
  ) throws -> MixedQuery {
    var query = EntityQuery(type: Self.common, limit: limit, wantsTotal: true)
    query.filter = try filter.map { try Filter($0, arguments: .none, type: Self.common) }
    if let order { query.order = try EntityOrder(order, type: Self.common) }
    return MixedQuery(.members(Self.members), like: query)
  }

  private func names(_ page: EntityPage) -> [String] { page.items.map(\.key.description) }

  @Test("Members of several types keep the order of the list")
  func membersKeepListOrder() async throws {
    let fixture = try await filled()
    var query = try query(limit: 2)
    var seen: [String] = []
    while true {
      let page = try await fixture.store.page(query, viewer: .anonymous)
      #expect(page.total == 5)
      seen += names(page)
      guard let next = page.next else { break }
      query.after = next
    }
    #expect(seen == ["Series/1", "Film/1", "Film/2", "Film/3", "Series/2"])
  }

  @Test("Common fields filter and order members of several types")
  func commonFieldsFilterAndOrder() async throws {
    let fixture = try await filled()
    var query = try query(filter: "name >= 'b'", order: "-name", limit: 3)
    query.wantsSections = true
    let first = try await fixture.store.page(query, viewer: .anonymous)
    #expect(names(first) == ["Film/1", "Series/1", "Film/2"])
    #expect(
      first.sections == [
        .init(name: "d", offset: 0, count: 1), .init(name: "c", offset: 1, count: 1),
        .init(name: "b", offset: 2, count: 2),
      ])
    query.after = first.next
    let second = try await fixture.store.page(query, viewer: .anonymous)
    #expect(names(second) == ["Film/3"])
    #expect(second.next == nil)
  }

  @Test("A viewer's private value counts in a mixed list")
  func privateValuesCount() async throws {
    let fixture = try await filled()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, scope: .user("ada"))
        .entity(EntityKey(type: "Film", key: "1"), ["name": "A"]).build())
    let ada = Viewer(layers: [.user("ada"), .public])
    let page = try await fixture.store.page(try query(order: "name"), viewer: ada)
    #expect(names(page) == ["Film/1", "Series/2", "Film/2", "Film/3", "Series/1"])
  }
}
