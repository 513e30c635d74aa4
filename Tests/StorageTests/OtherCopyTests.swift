import LosslessJSON
import Model
import Storage
import Testing

/// Copies in other scopes of what upstream reported to the service itself, and responses written together.
struct OtherCopyTests {
  private static let ada = Scope.user("ada")
  private static let partitioned = Scope(kind: .public, subject: "", partition: "lang:de")
  private static let scopes = [.public, ada, .role(.admin), partitioned]

  private static func stored() async throws -> StoreFixture {
    let fixture = try StoreFixture()
    for (number, scope) in scopes.enumerated() {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: Int64(number + 1), scope: scope).film("1", ["title": "old"])
          .film("2", ["title": "old"])
          .result("Films", root: ["films": [.reference(.film("1"))]]).build())
    }
    return fixture
  }

  private static func due(in fixture: StoreFixture) async throws -> [Bool?] {
    var due: [Bool?] = []
    for scope in scopes {
      let snapshot = try await fixture.store.result(
        ResultKey(operation: "Films", variables: "{}", scope: scope),
        selection: .filmsWithDirectors, viewer: Viewer(layers: [scope]))
      due.append(snapshot?.isDue)
    }
    return due
  }

  @Test("All copies of a reported entity become due, but not the one that was written")
  func marksOtherCopies() async throws {
    let fixture = try await Self.stored()
    var event = ResponseBuilder(call: 10).film("1", ["title": "new"]).build()
    event.otherCopies = .all
    let report = try await fixture.store.apply(event)
    #expect(try await Self.due(in: fixture) == [false, true, true, true])
    #expect(report.invalidated == [.entity(.film("1"))])
  }

  @Test("With changed entities only, an equal response marks nothing")
  func marksOnlyChanged() async throws {
    let fixture = try await Self.stored()
    var same = ResponseBuilder(call: 10).film("1", ["title": "old"]).build()
    same.otherCopies = .changed
    _ = try await fixture.store.apply(same)
    #expect(try await Self.due(in: fixture) == [false, false, false, false])
    var other = ResponseBuilder(call: 11).film("1", ["title": "new"]).build()
    other.otherCopies = .changed
    _ = try await fixture.store.apply(other)
    #expect(try await Self.due(in: fixture) == [false, true, true, true])
  }

  @Test("A deletion makes the other copies due, and a response that is under way arrives due")
  func deletionMarksOtherCopies() async throws {
    let fixture = try await Self.stored()
    var event = ResponseBuilder(call: 12, horizon: 11).deleting(.film("1")).build()
    event.otherCopies = .all
    _ = try await fixture.store.apply(event)
    #expect(try await Self.due(in: fixture)[1...] == [true, true, true])
    let eve = Scope.user("eve")
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 11, scope: eve).film("1", ["title": "old"])
        .result("Films", root: ["films": [.reference(.film("1"))]]).build())
    let late = try await fixture.store.result(
      ResultKey(operation: "Films", variables: "{}", scope: eve),
      selection: .filmsWithDirectors, viewer: Viewer(layers: [eve]))
    #expect(late?.isDue == true)
  }

  @Test("Responses written together count in their order, in one commit")
  func writesTogether() async throws {
    let fixture = try StoreFixture()
    let first = ResponseBuilder(call: 1).film("1", ["title": "a"]).film("2", ["title": "a"])
    let second = ResponseBuilder(call: 2).film("1", ["title": "b"]).deleting(.film("2"))
    let third = ResponseBuilder(call: 3).film("2", ["title": "c"])
    let report = try await fixture.store.apply([first.build(), second.build(), third.build()])
    #expect(try await fixture.title(of: "1") == "b")
    #expect(try await fixture.title(of: "2") == "c")
    #expect(report.head == fixture.store.head)
    #expect(report.revision == fixture.store.head)
    #expect(Set(report.changes.map(\.key)) == [.film("1"), .film("2")])
    #expect(report.changes.count == 2)
  }

  @Test("A failing response undoes those it is written together with")
  func failureUndoesAll() async throws {
    let fixture = try StoreFixture()
    let broken = ResponseBuilder(call: 2).entity(EntityKey(type: "Nothing", key: "1"), ["a": 1])
    await #expect(throws: StorageError.self) {
      try await fixture.store.apply([
        ResponseBuilder(call: 1).film("1", ["title": "a"]).build(), broken.build(),
      ])
    }
    #expect(try await fixture.title(of: "1") == nil)
  }
}
