import Testing

@testable import Larder

struct ListDiffTests {
  private typealias Item = (id: Int, content: Int)

  @Test("The steps of 200 random pairs of lists lead from one to the other", arguments: [1, 2, 3])
  func leadsToNewList(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let before = Self.list(&random)
      let after = Self.list(&random)
      let diff = ListDiff(from: before, to: after)
      let result = try diff.applied(to: before) { after[$0] }
      #expect(result.map(\.id) == after.map(\.id))
      #expect(result.map(\.content) == after.map(\.content))
      #expect(diff.deletes == diff.deletes.sorted() && diff.inserts == diff.inserts.sorted())
      #expect(diff.isEmpty == (before.elementsEqual(after, by: ==)))
    }
  }

  @Test("One moved item is one move")
  func movesFew() {
    let before = (0..<10).map { (id: $0, content: 0) }
    var after = before
    after.insert(after.remove(at: 1), at: 8)
    let diff = ListDiff(from: before, to: after)
    #expect(diff.moves == [ListDiff.Move(from: 1, to: 8)])
    #expect(diff.deletes.isEmpty && diff.inserts.isEmpty && diff.updates.isEmpty)
  }

  @Test("Steps that do not fit the list are refused")
  func refusesMisfits() throws {
    let json: JSONValue = [
      "oldCount": 2, "count": 3, "deletes": [], "inserts": [], "moves": [], "updates": [],
    ]
    let diff = try ListDiff(json: json)
    #expect(throws: LarderError.self) { try diff.applied(to: [1, 2]) { _ in 0 } }
    #expect(throws: LarderError.self) { try diff.applied(to: [1]) { _ in 0 } }
  }

  @Test("A count that no steps can lead to is refused", arguments: [-1, 1_000_000_000_000, 3])
  func refusesCounts(count: Int) throws {
    var list = LiveList()
    let diff: JSONValue = ["kind": "diff", "oldCount": 0, "count": .number(JSONNumber(count))]
    #expect(throws: LarderError.self) {
      try list.apply(LiveEvent(name: "diff", data: diff, source: .stream))
    }
    let deletes: JSONValue = ["kind": "diff", "oldCount": 0, "count": -1, "deletes": [0]]
    #expect(throws: LarderError.self) {
      try list.apply(LiveEvent(name: "diff", data: deletes, source: .stream))
    }
    #expect(list.items.isEmpty)
  }

  @Test("A live list follows its events")
  func followsEvents() throws {
    var list = LiveList()
    let full: JSONValue = ["kind": "full", "items": [["id": "f1"], ["id": "f2"], ["id": "f3"]]]
    try list.apply(LiveEvent(name: "list", data: full, source: .stream))
    let diff: JSONValue = [
      "kind": "diff", "oldCount": 3, "count": 3, "deletes": [0],
      "inserts": [["index": 0, "id": "Film/f4"]], "moves": [],
      "updates": [["old": 2, "new": 2, "id": "Film/f3"]],
      "entities": ["Film/f4": ["id": "f4"], "Film/f3": ["id": "f3", "stars": 5]],
    ]
    try list.apply(LiveEvent(name: "diff", data: diff, source: .stream))
    #expect(list.items == [["id": "f4"], ["id": "f2"], ["id": "f3", "stars": 5]])
  }

  private static func list(_ random: inout SeededGenerator) -> [Item] {
    let ids = (0..<12).shuffled(using: &random).prefix(Int.random(in: 0...12, using: &random))
    return ids.map { (id: $0, content: Int.random(in: 0...2, using: &random)) }
  }
}
