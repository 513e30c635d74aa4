import Filtering
import LosslessJSON
import Model
import Storage
import Testing

/// An operator's writes among upstream responses.
struct CorrectionTests {
  private static let film = StoreFixture.types[0]

  private func correct(
    _ store: Store, _ action: WriteAction, _ target: WriteTarget, call: Int64,
    horizon: Int64? = nil,
    _ fields: JSONValue = [:]
  ) async throws -> Result<WriteCommit, WriteRefusal> {
    try await store.correct(
      [
        EntityCorrection(
          action, Self.film, target,
          fields: (fields.members ?? []).map { .init(name: $0.name, value: $0.value) })
      ], in: .public, call: CallNumber(call), horizon: CallNumber(horizon ?? call),
      now: Timestamp(milliseconds: 1))
  }

  @Test("A call in flight does not undo a correction, a later call replaces it")
  func callOrderHolds() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1).film("9", ["title": "Old", "year": 1990]).build())
    // Call 2 has begun.
    _ = try await correct(
      fixture.store, .update, .key("9"), call: 3, horizon: 2, ["title": "Mended"]
    ).get()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2).film("9", ["title": "Old", "year": 1991]).build())
    #expect(try await fixture.title(of: "9") == "Mended")
    #expect(try await fixture.fields(of: .film("9"))?["year"] == 1991)
    _ = try await fixture.store.apply(ResponseBuilder(call: 4).film("9", ["title": "New"]).build())
    #expect(try await fixture.title(of: "9") == "New")
  }

  @Test("A deletion holds until a later upstream response")
  func deletionHolds() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(ResponseBuilder(call: 1).film("9", ["title": "Old"]).build())
    _ = try await correct(fixture.store, .delete, .key("9"), call: 3, horizon: 2).get()
    _ = try await fixture.store.apply(ResponseBuilder(call: 2).film("9", ["title": "Old"]).build())
    #expect(try await fixture.title(of: "9") == nil)
    _ = try await fixture.store.apply(ResponseBuilder(call: 4).film("9", ["title": "Back"]).build())
    #expect(try await fixture.title(of: "9") == "Back")
  }

  @Test("An insertion of an existing entity and an update of a missing one are refused")
  func refusesConflicts() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(ResponseBuilder(call: 1).film("9", ["title": "Old"]).build())
    let exists = try await correct(fixture.store, .insert, .key("9"), call: 2, ["title": "X"])
    guard case .failure(.exists) = exists else {
      Issue.record("\(exists)")
      return
    }
    for action in [WriteAction.update, .delete] {
      let missing = try await correct(fixture.store, action, .key("8"), call: 3, ["title": "X"])
      guard case .failure(.missing) = missing else {
        Issue.record("\(missing)")
        return
      }
    }
    #expect(try await fixture.title(of: "9") == "Old")
  }

  @Test("A correction applies to all entities that match a filter")
  func filterSelectsMany() async throws {
    let fixture = try StoreFixture()
    var response = ResponseBuilder(call: 1)
    for number in 0..<9 {
      response = response.film(
        "\(number)", ["title": "T", "year": .number(JSONNumber(1990 + number))])
    }
    _ = try await fixture.store.apply(response.build())
    let filter = try Filter("year >= 1995", arguments: .none, type: Self.film)
    let commit = try await correct(
      fixture.store, .update, .filter(filter), call: 2, ["title": "Late"]
    ).get()
    guard case .matched(4)? = commit.outcomes.first else {
      Issue.record("\(commit.outcomes)")
      return
    }
    #expect(try await fixture.title(of: "8") == "Late")
    #expect(try await fixture.title(of: "4") == "T")
    _ = try await correct(fixture.store, .delete, .filter(filter), call: 3).get()
    #expect(try await fixture.store.counts(of: [Self.film], viewer: .anonymous) == ["Film": 5])
  }
}
