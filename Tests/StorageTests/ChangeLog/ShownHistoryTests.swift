import LosslessJSON
import Model
import Testing

@testable import Storage

/// The earlier states of an entity as operators see them.
struct ShownHistoryTests {
  private static func film(_ call: Int64, _ year: Int, scope: Scope = .public) -> NormalisedResponse
  {
    ResponseBuilder(call: call, scope: scope)
      .film("1", ["title": "T", "year": .number(JSONNumber(year))]).build()
  }

  private static func years(_ history: EntityHistory) -> [String] {
    history.states.map { state in
      let year = state.fields?.first { $0.name == "year" }.map {
        String(decoding: $0.value, as: UTF8.self)
      }
      return "\(state.scope.kind) \(year ?? "unknown")"
    }
  }

  @Test("Replaced and deleted states are shown, the newest first, with their revisions")
  func showsStates() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(Self.film(1, 1950))
    let before = try #require(try await store.history(of: .film("1"), limit: 10))
    #expect(before.recordedSince == nil && before.states.isEmpty)
    try await store.keepHistory(ofTypes: ["Film"])
    _ = try await store.apply(Self.film(2, 1960))
    _ = try await store.apply(Self.film(3, 1970, scope: .user("ada", partition: "")))
    _ = try await store.apply(Self.film(4, 1980, scope: .user("ada", partition: "")))
    // Another entity's states are not shown.
    _ = try await store.apply(ResponseBuilder(call: 5).film("2", ["year": 1]).build())
    _ = try await store.apply(ResponseBuilder(call: 6).film("2", ["year": 2]).build())
    _ = try await store.apply(ResponseBuilder(call: 7).deleting(.film("1")).build())
    let history = try #require(try await store.history(of: .film("1"), limit: 10))
    #expect(history.recordedSince != nil)
    let years = Self.years(history)
    #expect(Array(years.suffix(2)) == ["user 1970", "public 1950"], "\(years)")
    #expect(years.contains("public 1960"), "\(years)")
    #expect(history.states.allSatisfy { $0.since < $0.until })
    let first = try #require(history.states.last)
    #expect(first.since == Revision(1) && first.until == Revision(2))
    let bounded = try await store.history(of: .film("1"), limit: 1)
    #expect(bounded?.states.count == 1)
  }

  @Test("An unknown type has no history, and an unknown entity an empty one")
  func unknown() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    #expect(try await fixture.store.history(of: EntityKey(type: "No", key: "1"), limit: 1) == nil)
    let none = try await fixture.store.history(of: .film("none"), limit: 1)
    #expect(none?.states.isEmpty == true)
  }
}
