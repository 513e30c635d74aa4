import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Gateway

struct ListDiffTests {
  private static func list(_ ids: [Int], version: UInt64 = 0) -> [ListElement] {
    ids.map { ListElement(id: UInt64($0), version: version) }
  }

  /// Applies a diff as a collection view does: removes from the old list, inserts into the new one.
  private static func apply(
    _ diff: ListDiff, to old: [ListElement], new: [ListElement]
  ) throws -> [ListElement] {
    let leaving = Set(diff.deletes + diff.moves.map(\.from))
    try #require(leaving.count == diff.deletes.count + diff.moves.count, "a place leaves twice")
    var arriving: [Int: ListElement] = [:]
    for place in diff.inserts { arriving[place] = new[place] }
    for move in diff.moves {
      try #require(old[move.from].id == new[move.to].id)
      arriving[move.to] = old[move.from]
    }
    try #require(arriving.count == diff.inserts.count + diff.moves.count, "a place is taken twice")
    var staying = old.indices.filter { !leaving.contains($0) }.map { old[$0] }[...]
    var result: [ListElement] = []
    while let next = arriving[result.count] ?? staying.popFirst() { result.append(next) }
    for update in diff.updates {
      try #require(old[update.old].id == new[update.new].id)
      result[update.new] = new[update.new]
    }
    return result
  }

  @Test("Deletes refer to the old list, inserts to the new one")
  func refersToTheRightList() {
    let old = Self.list([1, 2, 3, 4])
    let new = [
      ListElement(id: 4, version: 0), ListElement(id: 1, version: 9),
      ListElement(id: 5, version: 0), ListElement(id: 3, version: 0),
    ]
    let diff = ListDiff(from: old, to: new)
    #expect(diff.deletes == [1])
    #expect(diff.inserts == [2])
    #expect(diff.moves == [.init(from: 3, to: 0)])
    #expect(diff.updates == [.init(old: 0, new: 1)])
  }

  @Test("Equal lists have an empty diff")
  func equalListsHaveEmptyDiff() {
    #expect(ListDiff(from: Self.list([1, 2]), to: Self.list([1, 2])).isEmpty)
    #expect(ListDiff(from: [], to: []).isEmpty)
  }

  @Test("Repeated elements are paired in order")
  func pairsRepeatedElementsInOrder() throws {
    let old = Self.list([1, 1, 2])
    let new = Self.list([2, 1, 1, 1])
    let diff = ListDiff(from: old, to: new)
    #expect(try Self.apply(diff, to: old, new: new) == new)
    #expect(diff.deletes.isEmpty)
    #expect(diff.inserts == [3])
  }

  @Test(
    "Applying a diff to the old list gives the new list", arguments: 1...400 as ClosedRange<UInt64>)
  func appliedDiffGivesNewList(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let old = Self.randomList(&generator)
    let new =
      Bool.random(using: &generator) ? Self.randomList(&generator) : Self.edited(old, &generator)
    let diff = ListDiff(from: old, to: new)
    #expect(try Self.apply(diff, to: old, new: new) == new, "seed \(seed)")
    #expect(diff.deletes == diff.deletes.sorted(), "seed \(seed)")
    #expect(diff.inserts == diff.inserts.sorted(), "seed \(seed)")
    #expect(diff.moves.map(\.to) == diff.moves.map(\.to).sorted(), "seed \(seed)")
    #expect(diff.updates.map(\.new) == diff.updates.map(\.new).sorted(), "seed \(seed)")
  }

  /// Compares with every subset of the survivors that could have stayed.
  @Test("The number of moves is minimal", arguments: 1...200 as ClosedRange<UInt64>)
  func movesAreMinimal(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let count = Int.random(in: 0...9, using: &generator)
    let old = Self.list(Array(0..<count))
    let kept = (0..<count).filter { _ in Int.random(in: 0...3, using: &generator) > 0 }
    let new = Self.list((kept + [90, 91]).shuffled(using: &generator))
    let survivors = new.filter { $0.id < 90 }.map(\.id)
    var longest = 0
    for subset in 0..<(1 << survivors.count) {
      let staying = survivors.indices.filter { subset >> $0 & 1 == 1 }.map { survivors[$0] }
      if staying == staying.sorted() { longest = max(longest, staying.count) }
    }
    let diff = ListDiff(from: old, to: new)
    #expect(diff.moves.count == survivors.count - longest, "seed \(seed)")
  }

  private static func randomList(_ generator: inout SeededGenerator) -> [ListElement] {
    let count = Int.random(in: 0...40, using: &generator)
    // Repeated elements on some seeds only.
    let ids = (0..<count).map { index in
      count % 5 == 0 ? Int.random(in: 0...20, using: &generator) : index * 7 % 41
    }
    return ids.shuffled(using: &generator).map {
      ListElement(id: UInt64($0), version: UInt64.random(in: 0...2, using: &generator))
    }
  }

  private static func edited(
    _ list: [ListElement], _ generator: inout SeededGenerator
  ) -> [ListElement] {
    var list = list
    for _ in 0..<Int.random(in: 0...6, using: &generator) where !list.isEmpty {
      let place = Int.random(in: 0..<list.count, using: &generator)
      switch Int.random(in: 0...3, using: &generator) {
      case 0: list.remove(at: place)
      case 1:
        list.insert(
          ListElement(id: UInt64.random(in: 100...900, using: &generator), version: 0), at: place)
      case 2: list[place] = ListElement(id: list[place].id, version: 7)
      default: list.insert(list.remove(at: place), at: 0)
      }
    }
    return list
  }
}

struct ListVectorTests {
  private static func vector(_ rows: (String, String)...) -> ListVector {
    ListVector(rows: rows.map { ListVector.Row(id: $0.0, revision: $0.1) })
  }

  @Test("Rows are compared by id and revision")
  func comparesIDsAndRevisions() {
    let old = Self.vector(("Film/1", "a"), ("Film/2", "b"), ("Film/3", "c"))
    let new = Self.vector(("Film/3", "c"), ("Film/1", "x"), ("Film/4", "b"))
    let diff = new.diff(from: old)
    #expect(diff.deletes == [1])
    #expect(diff.inserts == [2])
    #expect(diff.moves.count == 1)
    #expect(diff.updates == [.init(old: 0, new: 1)])
  }

  @Test("A tag depends on order, ids and revisions")
  func tagDependsOnOrderIDsAndRevisions() {
    let tags = [
      Self.vector(("Film/1", "a"), ("Film/2", "b")), Self.vector(("Film/2", "b"), ("Film/1", "a")),
      Self.vector(("Film/1", "a")), Self.vector(("Film/1", "b")), Self.vector(("Film/1a", "")),
    ].map(\.tag)
    #expect(Set(tags).count == tags.count)
    #expect(Self.vector(("Film/1", "a")).tag == tags[2])
  }

  @Test("The oldest lists are evicted, and a list is found only by viewers who received it")
  func evictsOldestLists() {
    let memory = ListMemory(byteLimit: 1_000)
    for number in 0..<20 {
      memory.keep(
        Self.vector(("Film/\(number)", "a")), tag: "\(number)", seenBy: .anonymous)
    }
    #expect(memory.vector(tagged: "0", seenBy: .anonymous) == nil)
    #expect(memory.vector(tagged: "19", seenBy: .anonymous) != nil)
    let user = Viewer(layers: [.user("ada"), .public])
    #expect(memory.vector(tagged: "19", seenBy: user) == nil)
    memory.keep(Self.vector(("Film/19", "a")), tag: "19", seenBy: user)
    #expect(memory.vector(tagged: "19", seenBy: user) != nil)
  }
}
