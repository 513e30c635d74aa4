import Model
import Testing

@testable import Storage

struct PresenceHistoryTests {
  private static func films(_ ids: Range<Int>) -> [NormalisedResponse.Entity] {
    ids.map { NormalisedResponse.Entity(key: .film("\($0)"), fields: []) }
  }

  @Test("Responses above the horizon are remembered, older ones forgotten")
  func remembersResponsesAboveTheHorizon() {
    var history = PresenceHistory()
    history.note(Self.films(1..<3), scope: 0, call: 5)
    history.note(Self.films(2..<4), scope: 0, call: 7)
    history.note(Self.films(2..<3), scope: 4, call: 8)
    #expect(history.calls(showing: .film("2"), scope: 0) == [5, 7])
    #expect(history.calls(showing: .film("3"), scope: 0) == [7])
    #expect(history.calls(showing: .film("3"), scope: 4) == [])
    history.prune(horizon: 5)
    #expect(history.calls(showing: .film("2"), scope: 0) == [7])
    #expect(history.isComplete(since: 1))
  }

  /// Beyond its limit it knows less and reports so, instead of counting an absence that a forgotten
  /// response contradicts.
  @Test("Beyond its limit the history starts over and reports itself incomplete")
  func reportsWhenItIsIncomplete() {
    var history = PresenceHistory()
    let half = PresenceHistory.entitiesMax / 2
    history.note(Self.films(0..<half), scope: 0, call: 2)
    history.note(Self.films(0..<half), scope: 0, call: 6)
    #expect(history.isComplete(since: 1))
    history.note(Self.films(0..<1), scope: 0, call: 4)
    #expect(!history.isComplete(since: 6))
    #expect(history.isComplete(since: 7))
    #expect(history.calls(showing: .film("0"), scope: 0) == [4])
    history.prune(horizon: 4)
    history.note(Self.films(0..<half * 2), scope: 0, call: 9)
    #expect(history.isComplete(since: 7))
  }
}
