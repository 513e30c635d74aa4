import Filtering
import LosslessJSON
import Model
import Storage
import Synchronization
import Testing

struct EntityPageTests {
  private static let film = StoreFixture.types[0]

  private func filled() async throws -> StoreFixture {
    let fixture = try StoreFixture()
    var answer = ResponseBuilder(call: 1)
    for number in 0..<10 {
      answer = answer.film(
        "f\(number)",
        ["title": .string("T\(9 - number)"), "year": .number(JSONNumber(1990 + number / 4))])
    }
    _ = try await fixture.store.apply(answer.build())
    return fixture
  }

  private func keys(
    _ fixture: StoreFixture, _ query: EntityQuery, viewer: Viewer = .anonymous
  ) async throws -> [String] {
    try await fixture.store.page(query, viewer: viewer).items.map(\.key.key)
  }

  @Test("A page continues after a position whose entity was removed")
  func continuesAfterRemovedPosition() async throws {
    let fixture = try await filled()
    var query = EntityQuery(type: Self.film, order: try EntityOrder("-year", type: Self.film))
    query.limit = 3
    let first = try await fixture.store.page(query, viewer: .anonymous)
    #expect(first.items.map(\.key.key) == ["f8", "f9", "f4"])
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2).deleting(.film("f4")).film("f90", ["year": 1999]).build())
    query.after = first.next
    #expect(try await keys(fixture, query) == ["f5", "f6", "f7"])
  }

  @Test("The filter that all entities meet finds rows without the key's field and with nulls too")
  func everythingFindsAllRows() async throws {
    let fixture = try await filled()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, scope: .user("ada")).film("f0", ["year": 2020])
        .film("f99", ["title": .null]).deleting(.film("f1")).build())
    let query = EntityQuery(type: Self.film, filter: .everything(of: Self.film), limit: 50)
    #expect(try await keys(fixture, query).count == 10)
    let ada = Viewer(layers: [.user("ada"), .public])
    #expect(
      try await keys(fixture, query, viewer: ada)
        == ["f0"] + (2..<10).map { "f\($0)" } + ["f99"])
  }

  @Test(
    "A viewer whose scopes hold no row of the type gets nothing of any other scope",
    arguments: [
      [Scope(kind: .public, subject: "", partition: "lang:de")], [.user("eve")], [],
    ])
  func viewersWithoutRows(layers: [Scope]) async throws {
    let fixture = try await filled()
    let viewer = Viewer(layers: layers)
    let plain = EntityQuery(type: Self.film, limit: 50, wantsTotal: true)
    let sectioned = EntityQuery(
      type: Self.film, filter: .everything(of: Self.film),
      order: try EntityOrder("year", type: Self.film), limit: 50, wantsTotal: true, section: "year")
    let members = EntityQuery(type: Self.film, members: ["f3", "f9"], limit: 50, wantsTotal: true)
    for query in [plain, sectioned, members] {
      #expect(try await fixture.store.page(query, viewer: .anonymous).items.count > 0)
      let page = try await fixture.store.page(query, viewer: viewer)
      #expect(page.items.isEmpty && page.total == 0 && page.sections ?? [] == [])
    }
  }

  @Test("Sections cover the whole list")
  func sectionsCoverWholeList() async throws {
    let fixture = try await filled()
    let query = EntityQuery(
      type: Self.film, order: try EntityOrder("-year,title", type: Self.film), limit: 2,
      section: "year")
    let page = try await fixture.store.page(query, viewer: .anonymous)
    #expect(page.items.count == 2)
    #expect(
      page.sections == [
        .init(name: "1992", offset: 0, count: 2), .init(name: "1991", offset: 2, count: 4),
        .init(name: "1990", offset: 6, count: 4),
      ])
  }

  @Test("Members keep the order of their list")
  func membersKeepListOrder() async throws {
    let fixture = try await filled()
    var query = EntityQuery(type: Self.film, members: ["f3", "f9", "none", "f0"], limit: 2)
    let page = try await fixture.store.page(query, viewer: .anonymous)
    #expect(page.items.map(\.key.key) == ["f3", "f9"])
    query.after = page.next
    #expect(try await keys(fixture, query) == ["f0"])
    query.after = nil
    query.order = try EntityOrder("-title", type: Self.film)
    #expect(try await keys(fixture, query) == ["f0", "f3"])
  }

  @Test("Filters and orders use the viewer's private values")
  func privateValuesCount() async throws {
    let fixture = try await filled()
    let ada = Viewer(layers: [.user("ada"), .public])
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, scope: .user("ada")).film("f0", ["year": 2020])
        .deleting(.film("f1")).build())
    let query = EntityQuery(
      type: Self.film, filter: try Filter("year > 1991", arguments: .none, type: Self.film),
      order: try EntityOrder("-year", type: Self.film))
    #expect(try await keys(fixture, query, viewer: ada) == ["f0", "f8", "f9"])
    #expect(try await keys(fixture, query) == ["f8", "f9"])
    let all = EntityQuery(type: Self.film, limit: 0, wantsTotal: true)
    #expect(try await fixture.store.page(all, viewer: ada).total == 9)
    #expect(try await fixture.store.page(all, viewer: .anonymous).total == 10)
    #expect(try await fixture.store.counts(of: [Self.film], viewer: ada) == ["Film": 9])
  }

  @Test("A query past its deadline is stopped")
  func deadlineStopsQuery() async throws {
    let fixture = try await filled()
    var answer = ResponseBuilder(call: 2)
    for number in 0..<3000 { answer = answer.film("x\(number)", ["title": "aaaaaaaaaaaaaaaa"]) }
    _ = try await fixture.store.apply(answer.build())
    let looks = Atomic(0)
    let deadline = QueryDeadline(limit: .seconds(2)) {
      .seconds(looks.wrappingAdd(1, ordering: .relaxed).oldValue * 3)
    }
    let query = EntityQuery(
      type: Self.film,
      filter: try Filter("title LIKE '%b%a%b%'", arguments: .none, type: Self.film))
    await #expect(throws: StorageError.tooCostly) {
      try await fixture.store.page(query, viewer: .anonymous, deadline: deadline)
    }
    // The connection remains usable.
    #expect(try await keys(fixture, EntityQuery(type: Self.film)).count == 50)
  }
}
