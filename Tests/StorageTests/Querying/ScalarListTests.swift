import Filtering
import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Storage

/// Filters on lists of scalars, in collections and in the change log.
struct ScalarListTests {
  private static let film = EntityType(
    name: "Film", keyFields: ["id"],
    columns: [.init(name: "id", kind: .text), .init(name: "director", kind: .reference)],
    lists: [.init(name: "tags", kind: .text), .init(name: "scores", kind: .integer)])
  private static let person = EntityType(
    name: "Person", keyFields: ["id"], columns: [.init(name: "id", kind: .text)],
    lists: [.init(name: "tags", kind: .text)])
  private static let graph = EntityGraph(
    types: [film, person], relationships: ["Film": ["director": .toOne("Person")]])
  private static let viewer = Viewer(layers: [.user("u"), .public])

  /// Films by id: `a` has two tags and a null, `b` an empty list, `c` null, `d` nothing.
  private static func filled(isLayered: Bool) async throws -> StoreFixture {
    let fixture = try StoreFixture(types: [film, person])
    let person: JSONValue = ["id": "p1", "tags": ["Noir", "court"]]
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1)
        .film(
          "a", ["tags": ["noir", .null, "\u{C9}t\u{E9}"], "scores": [1, 5], "director": .null]
        )
        .film("b", ["tags": [], "scores": [2], "director": .reference(.person("p1"))])
        .film("c", ["tags": .null, "scores": .null])
        .film("d", ["scores": [7]]).entity(.person("p1"), person).build())
    if isLayered {
      // The user's list is the one that shows.
      _ = try await fixture.store.apply(
        ResponseBuilder(call: 2, scope: .user("u")).film("d", ["tags": ["noir"]])
          .film("e", ["id": "e"]).build())
    }
    return fixture
  }

  private static func filter(_ text: String) throws -> Filter {
    try Filter(text, arguments: .none, type: film, graph: graph)
  }

  @Test(
    "Values, numbers and presence of lists are found",
    arguments: [
      ("ANY tags = 'noir'", "a", "ad"), ("ANY tags = 'Noir'", "", ""),
      ("ANY lower(tags) = 'noir'", "a", "ad"), ("ANY tags CONTAINS[cd] 'ete'", "a", "a"),
      ("NONE tags = 'noir'", "bc", "bc"), ("NONE tags = 'court'", "bc", "bcd"),
      ("ANY tags = 'noir' OR tags.count = 0", "abc", "abcd"),
      ("NOT (ANY tags = 'noir')", "bc", "bc"), ("tags.count > 2", "a", "a"),
      ("tags.count = 0", "bc", "bc"), ("tags.count = 1", "", "d"),
      ("tags IS NULL", "c", "c"), ("tags IS MISSING", "d", "e"),
      ("tags IS NOT MISSING", "abc", "abcd"), ("ANY scores > 4", "ad", "ad"),
      ("ANY scores BETWEEN 2 AND 3", "b", "b"), ("ANY director.tags = 'court'", "b", "b"),
      ("director.tags.count = 2 AND ANY scores IN (2, 3)", "b", "b"),
      ("NONE director.tags = 'x'", "ab", "ab"),
    ])
  func findsLists(text: String, plain: String, layered: String) async throws {
    for (isLayered, expected) in [(false, plain), (true, layered)] {
      let fixture = try await Self.filled(isLayered: isLayered)
      let page = try await fixture.store.page(
        EntityQuery(type: Self.film, filter: try Self.filter(text), wantsTotal: true),
        viewer: isLayered ? Self.viewer : .anonymous)
      #expect(page.items.map(\.key.key).joined() == expected, "layered: \(isLayered)")
      #expect(page.total == expected.count)
      fixture.store.close()
    }
  }

  @Test("An observer sees entities enter and leave a filter on lists, their own or a related one's")
  func anObserverFollowsLists() async throws {
    let fixture = try await Self.filled(isLayered: false)
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await store.keepHistory(ofTypes: ["Film", "Person"])
    func observer(_ text: String) throws -> LogFollower {
      LogFollower.atHead(
        of: store,
        conditions: [
          "Film": ObservedCondition(type: Self.film, filter: try Self.filter(text))
        ])
    }
    var own = try observer("ANY tags = 'noir' OR tags.count > 3")
    var related = try observer("NONE director.tags = 'court'")
    _ = try await store.apply(
      ResponseBuilder(call: 3).film("a", ["tags": ["neo"]]).film("b", ["tags": ["x", "noir"]])
        .film("d", ["tags": ["1", "2", "3", "4"]])
        .entity(.person("p1"), ["tags": ["Noir"]]).build())
    try await own.takePage(from: store)
    #expect(own.reported == ["hidden Film/a", "new Film/b", "new Film/d"])
    try await related.takePage(from: store)
    #expect(related.reported == ["put Film/a", "new Film/b"])
    store.close()
  }
}
