import LosslessJSON
import TestSupport
import Testing

@testable import Storage

struct RowStateTests {
  private enum Event {
    case write(field: String, value: JSONValue, merges: Bool)
    case delete
  }

  /// Applies events in an arrival order, through the stored form each time as the writer does.
  private static func arrive(_ events: [(call: Int64, event: Event)], order: [Int]) throws -> String
  {
    var fields: [UInt8]?
    var stamps: (call: Int64, stamps: [UInt8]?) = (0, nil)
    var barrier: Int64 = 0
    var left = Set(events.map(\.call))
    for index in order {
      let (call, event) = events[index]
      let horizon = left.min() ?? call
      left.remove(call)
      var state =
        try fields.map {
          try RowState(fields: $0, stamps: stamps.stamps, call: stamps.call, barrier: barrier)
        } ?? RowState(barrier: barrier)
      switch event {
      case .write(let field, let value, let merges):
        _ = state.write(field, value.bytes, merges: merges, call: call, horizon: horizon)
      case .delete: state.delete(call: call)
      }
      state.settle(horizon: horizon)
      fields = state.isEmpty ? nil : state.encodedFields
      stamps = state.encodedStamps(writing: max(call, stamps.call), horizon: horizon)
      barrier = state.barrier
    }
    return try fields.map { try JSONValue(parsing: $0).canonicalText } ?? "gone"
  }

  @Test(
    "Every arrival order of writes and deletions converges to the same row",
    arguments: 1...150 as ClosedRange<UInt64>)
  func everyArrivalOrderConverges(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let events = (1...5).map { call -> (call: Int64, event: Event) in
      (Int64(call), Self.event(&generator))
    }
    let expected = try Self.arrive(events, order: Array(events.indices))
    for order in Permutations.all(of: events.count) {
      let found = try Self.arrive(events, order: order)
      #expect(found == expected, "seed \(seed), order \(order), events \(events)")
    }
  }

  private static func event(_ generator: inout SeededGenerator) -> Event {
    func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
    switch pick(0...9) {
    case 0: return .delete
    case 1...4:
      return .write(
        field: ["a", "b"][pick(0...1)], value: .number(JSONNumber(pick(0...2))), merges: false)
    default:
      let embedded: JSONValue = [
        "__typename": "Poster", ["url", "size"][pick(0...1)]: .number(JSONNumber(pick(0...1))),
        "inner": ["__typename": "Box", ["x", "y"][pick(0...1)]: .number(JSONNumber(pick(0...1)))],
      ]
      let value: JSONValue = pick(0...2) == 0 ? .array([embedded, embedded]) : embedded
      return .write(field: ["a", "poster"][pick(0...1)], value: value, merges: true)
    }
  }

  @Test("A row that nothing can dispute is stored without stamps")
  func aQuietRowNeedsNoStamps() throws {
    var state = RowState()
    _ = state.write("a", Array("1".utf8), merges: false, call: 1, horizon: 1)
    _ = state.write("p", Array(#"{"__typename":"P"}"#.utf8), merges: true, call: 2, horizon: 2)
    #expect(state.encodedStamps(writing: 2, horizon: 2).stamps == nil)
  }

  @Test("A field that an older call can dispute keeps its call number")
  func aDisputedFieldKeepsItsNumber() throws {
    var state = RowState()
    _ = state.write("old", Array("1".utf8), merges: false, call: 1, horizon: 1)
    _ = state.write("new", Array("1".utf8), merges: false, call: 9, horizon: 4)
    let (call, stamps) = state.encodedStamps(writing: 9, horizon: 4)
    #expect(call == 9)
    let text = try #require(stamps.map { String(decoding: $0, as: UTF8.self) })
    #expect(text == #"{"calls":{"old":0},"histories":{}}"#)
    var again = try RowState(
      fields: state.encodedFields, stamps: stamps, call: call, barrier: 0)
    #expect(again.write("new", [0x32], merges: false, call: 5, horizon: 4) == .refused)
    #expect(again.write("old", [0x32], merges: false, call: 5, horizon: 4) == .changed)
  }

  @Test("A partial list is stored only if no complete one is, and any complete one replaces it")
  func partialListsRankBelowCompleteOnes() throws {
    let (first, second, whole) = (#"["a",null]"#, #"[null,"b"]"#, #"["a","b"]"#)
    func text(_ state: RowState) -> String { String(decoding: state.encodedFields, as: UTF8.self) }
    func put(_ list: String, into state: inout RowState, overErrors: Bool = true) {
      state.writePartial("list", Array(list.utf8), call: 5, overErrors: overErrors)
    }
    var state = RowState()
    put(first, into: &state, overErrors: false)
    #expect(text(state) == #"{"list":\#(first)}"#)
    put(second, into: &state)
    #expect(text(state) == #"{"list":\#(second)}"#)
    // A complete list of an earlier, late call as well.
    #expect(state.write("list", Array(whole.utf8), merges: false, call: 3, horizon: 0) == .changed)
    put(first, into: &state)
    #expect(text(state) == #"{"list":\#(whole)}"#)
    // A list with null that arrived without errors is complete.
    var nullable = RowState()
    _ = nullable.write("list", Array(first.utf8), merges: false, call: 3, horizon: 0)
    put(second, into: &nullable, overErrors: false)
    #expect(text(nullable) == #"{"list":\#(first)}"#)
    var deleted = RowState(barrier: 6)
    put(first, into: &deleted)
    #expect(deleted.isEmpty)
  }
}
