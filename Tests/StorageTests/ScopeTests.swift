import LosslessJSON
import Model
import Storage
import Testing

struct ScopeTests {
  private static let user = Scope.user("u")
  private static let viewer = Viewer(layers: [.device("d"), user, .public])

  @Test("Narrower scopes win field by field")
  func narrowerScopesWinFieldByField() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1).film("1", ["title": "public", "year": 1]).build())
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, scope: Self.user).film("1", ["title": "user"]).build())
    #expect(
      try await fixture.fields(of: .film("1"), viewer: Self.viewer)?.canonicalText
        == #"{"id":"1","title":"user","year":1}"#)
    #expect(try await fixture.title(of: "1") == "public")
    let other = Viewer(layers: [.user("other"), .public])
    #expect(try await fixture.title(of: "1", viewer: other) == "public")
  }

  @Test("Scopes that differ in their partition are different")
  func scopesThatDifferInPartitionAreDifferent() async throws {
    let fixture = try StoreFixture()
    let german = Scope.user("u", partition: "accept-language:de\n")
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1, scope: german).film("1", ["title": "de"]).build())
    #expect(try await fixture.title(of: "1", viewer: Viewer(layers: [Self.user, .public])) == nil)
    #expect(try await fixture.title(of: "1", viewer: Viewer(layers: [german, .public])) == "de")
  }

  @Test("A narrower tombstone hides wider scopes' rows")
  func aNarrowerTombstoneHidesWiderRows() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1).film("1", ["title": "public"])
        .result("Films", root: ["films": [.reference(.film("1"))]]).build())
    let report = try await fixture.store.apply(
      ResponseBuilder(call: 2, scope: Self.user).deleting(.film("1")).build())
    #expect(report.changes == [.init(scope: Self.user, key: .film("1"))])
    let record = try await fixture.store.entity(.film("1"), viewer: Self.viewer)
    #expect(record?.isDeleted == true)
    #expect(try await fixture.title(of: "1") == "public")

    let key = ResultKey(operation: "Films", variables: "{}", scope: .public)
    let snapshot = try await fixture.store.result(
      key, selection: .filmsWithDirectors, viewer: Self.viewer)
    #expect(snapshot?.entities[.film("1")]?.isDeleted == true)
  }

  @Test("References are followed in the narrowest layer that has the field")
  func referencesAreFollowedThroughTheNarrowestLayer() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1)
        .film("1", ["title": "A", "director": .reference(.person("7"))])
        .entity(.person("7"), ["id": "7", "name": "public"])
        .entity(.person("8"), ["id": "8", "name": "other"])
        .result("Films", root: ["films": [.reference(.film("1"))]]).build())
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, scope: Self.user)
        .film("1", ["director": .reference(.person("8"))]).build())
    let key = ResultKey(operation: "Films", variables: "{}", scope: .public)
    let seen = try await fixture.store.result(
      key, selection: .filmsWithDirectors, viewer: Self.viewer)
    #expect(seen.map { Set($0.entities.keys) } == [.film("1"), .person("8")])
    let open = try await fixture.store.result(
      key, selection: .filmsWithDirectors, viewer: .anonymous)
    #expect(open.map { Set($0.entities.keys) } == [.film("1"), .person("7")])
  }

  @Test("A public response is not exact if a user's rows can hide its entities")
  func aPublicResponseIsNotExactIfUserRowsCanHideIt() async throws {
    let fixture = try StoreFixture()
    func publicAnswer(_ call: Int64) -> NormalisedResponse {
      ResponseBuilder(call: call).film("1", ["title": "public"]).build()
    }
    #expect(try await fixture.store.apply(publicAnswer(1)).isExact)
    let mine = try await fixture.store.apply(
      ResponseBuilder(call: 2, scope: Self.user).film("2", ["title": "user"]).build())
    #expect(mine.isExact)
    #expect(try await fixture.store.apply(publicAnswer(3)).isExact == false)
    fixture.store.close()
    let again = try StoreFixture(fixture.folder, segment: 2)
    defer { again.store.close() }
    #expect(try await again.store.apply(publicAnswer(4)).isExact == false)
  }

  @Test("The head of each scope is its last change")
  func headsAreTheLastChangeOfEachScope() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(ResponseBuilder(call: 1).film("1", ["title": "a"]).build())
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, scope: Self.user).film("1", ["title": "b"]).build())
    _ = try await fixture.store.apply(ResponseBuilder(call: 3).film("2", ["title": "c"]).build())
    let heads = try await fixture.store.heads(of: Self.viewer)
    #expect(heads == [.zero, Revision(2), Revision(3)])
    #expect(fixture.store.head == Revision(3))
  }
}
