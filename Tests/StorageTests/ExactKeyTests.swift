import Filtering
import LosslessJSON
import Model
import Storage
import Testing

/// Entities, callers and variables whose texts differ in bytes alone.
struct ExactKeyTests {
  private static let composed = "caf\u{E9}"
  private static let decomposed = "cafe\u{301}"

  @Test("One response with two keys that look alike stores and shows two entities")
  func keysThatLookAlike() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1)
        .film(Self.composed, ["title": "composed"]).film(Self.decomposed, ["title": "decomposed"])
        .result(
          "Films",
          root: [
            "films": [.reference(.film(Self.composed)), .reference(.film(Self.decomposed))]
          ]
        ).build())
    #expect(try await fixture.title(of: Self.composed) == "composed")
    #expect(try await fixture.title(of: Self.decomposed) == "decomposed")
    // Together with a caller's own row, so that rows of two scopes are folded.
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, scope: .user("u")).film(Self.composed, ["title": "own"]).build())
    let viewer = Viewer(layers: [.user("u"), .public])
    let key = ResultKey(operation: "Films", variables: "{}", scope: .public)
    let snapshot = try await fixture.store.result(
      key, selection: .filmsWithDirectors, viewer: viewer)
    #expect(snapshot?.entities.count == 2)
    let records = try await fixture.store.entities(
      [.film(Self.composed), .film(Self.decomposed)], viewer: viewer)
    #expect(records[.film(Self.composed)]?.layers.count == 2)
    #expect(records[.film(Self.decomposed)]?.layers.count == 1)
    for viewer in [viewer, .anonymous] {
      let page = try await fixture.store.page(
        EntityQuery(type: StoreFixture.types[0], limit: 10), viewer: viewer)
      #expect(page.items.count == 2)
      let changes = try await fixture.store.changes(
        ChangeQuery(viewer: viewer, position: .start, origin: nil, limit: 10))
      #expect(changes?.entries.count == 2)
    }
  }

  @Test("Partitions and variables that look alike have results of their own")
  func partitionsThatLookAlike() async throws {
    let fixture = try StoreFixture()
    for (number, text) in [Self.composed, Self.decomposed].enumerated() {
      let scope = Scope(kind: .public, subject: "", partition: "x-tenant:\(text)")
      _ = try await fixture.store.apply(
        ResponseBuilder(call: Int64(number + 1), scope: scope).film(
          "1", ["title": .string("\(number)")]
        )
        .build())
    }
    for (number, text) in [Self.composed, Self.decomposed].enumerated() {
      let scope = Scope(kind: .public, subject: "", partition: "x-tenant:\(text)")
      #expect(try await fixture.title(of: "1", viewer: Viewer(layers: [scope])) == "\(number)")
    }
  }

  @Test("A page of changes continues after a key that begins with a combining mark")
  func keysThatBeginWithAMark() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1).film("\u{301}a", ["title": "1"]).film("\u{301}b", ["title": "2"])
        .build())
    let first = try #require(
      try await fixture.store.changes(
        ChangeQuery(viewer: .anonymous, position: .start, origin: nil, limit: 1)))
    #expect(!first.isComplete)
    let second = try await fixture.store.changes(
      ChangeQuery(
        viewer: .anonymous, position: first.next, origin: first.readingOrigin, limit: 1))
    #expect(second?.entries.map(\.key) == [.film("\u{301}b")])
  }
}
