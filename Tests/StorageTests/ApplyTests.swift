import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

struct ApplyTests {
  @Test("A stored response is read back with its entities and its result")
  func storesAResponseAndReadsItBack() async throws {
    let fixture = try StoreFixture()
    let response = ResponseBuilder(call: 1)
      .film("1", ["title": "Cléo", "year": 1962, "director": .reference(.person("7"))])
      .entity(.person("7"), ["id": "7", "name": "Varda"])
      .result("Films", root: ["films": [.reference(.film("1")), nil]])
      .build()
    let report = try await fixture.store.apply(response)
    #expect(report.revision == Revision(1))
    #expect(report.isExact)
    #expect(report.resultChanged)
    #expect(Set(report.changes.map(\.key)) == [.film("1"), .person("7")])

    let key = ResultKey(operation: "Films", variables: "{}", scope: .public)
    let snapshot = try #require(
      try await fixture.store.result(key, selection: .filmsWithDirectors, viewer: .anonymous))
    #expect(snapshot.call == CallNumber(1))
    #expect(snapshot.received == Timestamp(milliseconds: 1001))
    #expect(!snapshot.isDue)
    #expect(snapshot.revision == Revision(1))
    #expect(
      String(decoding: snapshot.root, as: UTF8.self)
        == #"{"films":[{"$ref":["Film","1"]},null]}"#)
    #expect(Set(snapshot.entities.keys) == [.film("1"), .person("7")])
    #expect(
      snapshot.entities[.person("7")]?.layers.map { String(decoding: $0, as: UTF8.self) }
        == [#"{"id":"7","name":"Varda"}"#])
  }

  @Test("Content that is already stored takes no revision and reports no change")
  func unchangedContentIsNoChange() async throws {
    let fixture = try StoreFixture()
    func response(_ call: Int64) -> NormalisedResponse {
      ResponseBuilder(call: call).film("1", ["title": "A", "year": 1])
        .result("Films", root: ["films": [.reference(.film("1"))]]).build()
    }
    _ = try await fixture.store.apply(response(1))
    let again = try await fixture.store.apply(response(2))
    #expect(again.revision == nil)
    #expect(again.changes.isEmpty)
    #expect(!again.resultChanged)
    #expect(again.isExact)
    #expect(again.head == Revision(1))
    // A part of the fields, in another order, is no change either.
    let part = try await fixture.store.apply(
      ResponseBuilder(call: 3).entity(.film("1"), ["year": 1, "id": "1"]).build())
    #expect(part.revision == nil)
    #expect(fixture.store.head == Revision(1))
    let heads = try await fixture.store.heads(of: .anonymous)
    #expect(heads == [Revision(1)])
    // The result's age is that of the last response.
    let snapshot = try await fixture.store.result(
      ResultKey(operation: "Films", variables: "{}", scope: .public),
      selection: .filmsWithDirectors, viewer: .anonymous)
    #expect(snapshot?.call == CallNumber(2))
  }

  @Test("Fields of several responses are merged into one entity")
  func mergesFieldsOfSeveralResponses() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1).film("1", ["title": "A", "year": 1]).build())
    let report = try await fixture.store.apply(
      ResponseBuilder(call: 2).film("1", ["year": 2, "rating": 1.50]).build())
    #expect(report.revision == Revision(2))
    #expect(
      try await fixture.fields(of: .film("1"))?.canonicalText
        == #"{"id":"1","rating":1.5,"title":"A","year":2}"#)
  }

  @Test("A late response does not restore an older value")
  func aLateResponseDoesNotRestoreTheOldValue() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 5, horizon: 3).film("1", ["title": "new"]).build())
    let report = try await fixture.store.apply(
      ResponseBuilder(call: 3).film("1", ["title": "old", "year": 1]).build())
    #expect(!report.isExact)
    #expect(
      try await fixture.fields(of: .film("1"))?.canonicalText
        == #"{"id":"1","title":"new","year":1}"#)
  }

  @Test("A deletion hides the entity and refuses late responses")
  func deletionsHideEntitiesAndRefuseLateResponses() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(ResponseBuilder(call: 1).film("1", ["title": "A"]).build())
    let deleted = try await fixture.store.apply(
      ResponseBuilder(call: 4, horizon: 3).deleting(.film("1")).build())
    #expect(deleted.changes.map(\.key) == [.film("1")])
    #expect(try await fixture.fields(of: .film("1")) == nil)
    let late = try await fixture.store.apply(
      ResponseBuilder(call: 3).film("1", ["title": "A"]).build())
    #expect(!late.isExact)
    #expect(late.revision == nil)
    #expect(try await fixture.fields(of: .film("1")) == nil)
    _ = try await fixture.store.apply(ResponseBuilder(call: 5).film("1", ["title": "B"]).build())
    #expect(try await fixture.title(of: "1") == "B")
  }

  @Test("Two consecutive absences delete an entity")
  func twoConsecutiveAbsencesDelete() async throws {
    let fixture = try StoreFixture()
    let film = ResponseBuilder(call: 1).film("1", ["title": "A"])
    _ = try await fixture.store.apply(film.build())
    _ = try await fixture.store.apply(ResponseBuilder(call: 2).absent(.film("1")).build())
    _ = try await fixture.store.apply(ResponseBuilder(call: 3).film("1", ["title": "A"]).build())
    _ = try await fixture.store.apply(ResponseBuilder(call: 4).absent(.film("1")).build())
    #expect(try await fixture.title(of: "1") == "A")
    _ = try await fixture.store.apply(ResponseBuilder(call: 5).absent(.film("1")).build())
    #expect(try await fixture.title(of: "1") == nil)
  }

  @Test("One authoritative absence deletes an entity")
  func oneAuthoritativeAbsenceDeletes() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(ResponseBuilder(call: 1).film("1", ["title": "A"]).build())
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2).absent(.film("1"), isAuthoritative: true).build())
    #expect(try await fixture.title(of: "1") == nil)
  }

  /// SQLite's JSON functions end a string at a NUL: the key would match the row of `1`.
  @Test("A key that contains a NUL character is refused")
  func refusesKeysWithANUL() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(ResponseBuilder(call: 1).film("1", ["title": "A"]).build())
    await #expect(throws: StorageError.self) {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: 2).film("1\u{0}x", ["title": "B"]).build())
    }
    await #expect(throws: StorageError.self) {
      _ = try await fixture.store.apply(ResponseBuilder(call: 3).deleting(.film("1\u{0}x")).build())
    }
    #expect(try await fixture.title(of: "1") == "A")
  }

  @Test("A type that the store was not opened with is refused")
  func refusesATypeItWasNotOpenedWith() async throws {
    let fixture = try StoreFixture()
    let response = ResponseBuilder(call: 1).film("1", ["title": "A"])
      .entity(EntityKey(type: "Unknown", key: "1"), ["id": 1]).build()
    await #expect(throws: StorageError.self) { _ = try await fixture.store.apply(response) }
    #expect(try await fixture.title(of: "1") == nil)
    #expect(fixture.store.head == .zero)
  }
}
