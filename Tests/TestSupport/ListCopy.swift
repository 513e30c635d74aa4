package import LosslessJSON

/// A client's copy of a list that it updates by list diffs, as a collection view would: a violation of the
/// rules of a batch update is an error.
package struct ListCopy: Sendable {
  package struct Broken: Error, CustomStringConvertible {
    package let description: String
  }

  /// Entities with a key field `id`, in order.
  package private(set) var items: [JSONValue] = []
  /// The entity tag of the list, with its quotes.
  package private(set) var tag: String?

  package init() {}

  /// The body of `POST …/diff`.
  package var have: JSONValue {
    ["have": .array(items.map { [.string(Self.name(of: $0)), $0["_rev"] ?? .null] })]
  }

  /// Applies a response of `diff`.
  package mutating func apply(_ answer: JSONValue) throws {
    switch answer["kind"]?.string {
    case "full": items = answer["items"]?.array ?? []
    case "diff": items = try applying(Diff(answer))
    default: throw Broken(description: "neither full nor diff: \(answer.canonicalText)")
    }
    try Self.demand(answer["count"]?.int64 == Int64(items.count), "count")
    tag = answer["etag"]?.string
  }

  private func applying(_ diff: Diff) throws -> [JSONValue] {
    try Self.demand(diff.oldCount == items.count, "oldCount")
    let leaving = diff.deletes + diff.moves.map(\.from)
    try Self.demand(Set(leaving).count == leaving.count, "a place leaves twice")
    try Self.demand(leaving.allSatisfy(items.indices.contains), "a place outside the old list")
    try Self.demand(Self.isSorted(diff.deletes), "deletes are not sorted")
    var arriving: [Int: JSONValue] = [:]
    for insert in diff.inserts { arriving[insert.to] = try diff.entity(insert.id) }
    for move in diff.moves {
      try Self.demand(Self.name(of: items[move.from]) == move.id, "a move of something else")
      arriving[move.to] = items[move.from]
    }
    try Self.demand(
      arriving.count == diff.inserts.count + diff.moves.count, "a place is taken twice")
    try Self.demand(
      Self.isSorted(diff.inserts.map(\.to)) && Self.isSorted(diff.moves.map(\.to))
        && Self.isSorted(diff.updates.map(\.to)), "places are not sorted")
    let staying = items.indices.filter { !Set(leaving).contains($0) }
    try demandFewestMoves(diff)
    var rest = staying.map { items[$0] }[...]
    var result: [JSONValue] = []
    while let next = arriving[result.count] ?? rest.popFirst() { result.append(next) }
    try Self.demand(arriving.keys.allSatisfy { $0 < result.count }, "a place beyond the new list")
    for update in diff.updates {
      try Self.demand(items.indices.contains(update.from), "an update outside the old list")
      try Self.demand(!diff.deletes.contains(update.from), "an update of what is deleted")
      try Self.demand(
        result.indices.contains(update.to) && Self.name(of: result[update.to]) == update.id
          && Self.name(of: items[update.from]) == update.id, "an update of something else")
      result[update.to] = try diff.entity(update.id)
    }
    return result
  }

  /// Expects the rows that survive without a move to be a longest increasing run of the survivors' old
  /// indices.
  private func demandFewestMoves(_ diff: Diff) throws {
    let deleted = Set(diff.deletes)
    let target = Dictionary(
      diff.moves.map { ($0.from, $0.to) }, uniquingKeysWith: { first, _ in first })
    // Survivors in their new order: those that stay keep their order and fill the places that moves leave
    // free.
    let taken = Set(diff.moves.map(\.to) + diff.inserts.map(\.to))
    var free = (0...).lazy.filter { !taken.contains($0) }.makeIterator()
    var places: [(new: Int, old: Int)] = []
    for old in items.indices where !deleted.contains(old) {
      if let new = target[old] {
        places.append((new, old))
      } else if let new = free.next() {
        places.append((new, old))
      }
    }
    let order = places.sorted { $0.new < $1.new }.map(\.old)
    var longest: [Int] = []
    for (index, old) in order.enumerated() {
      longest.append(1 + ((0..<index).filter { order[$0] < old }.map { longest[$0] }.max() ?? 0))
    }
    try Self.demand(
      diff.moves.count == order.count - (longest.max() ?? 0), "more moves than are needed")
  }

  private static func name(of item: JSONValue) -> String {
    "\(item["__typename"]?.string ?? "")/\(item["id"]?.string ?? "")"
  }

  private static func isSorted(_ places: [Int]) -> Bool {
    zip(places, places.dropFirst()).allSatisfy { $0 < $1 }
  }

  private static func demand(_ isTrue: Bool, _ message: String) throws {
    if !isTrue { throw Broken(description: message) }
  }
}

/// The body of a diff.
private struct Diff {
  struct Step {
    let from: Int
    let to: Int
    let id: String
  }

  let oldCount: Int
  let deletes: [Int]
  let inserts: [Step]
  let moves: [Step]
  let updates: [Step]
  private let entities: JSONValue

  init(_ answer: JSONValue) throws {
    oldCount = try Self.number(answer["oldCount"])
    deletes = try (answer["deletes"]?.array ?? []).map(Self.number)
    inserts = try Self.steps(answer["inserts"], from: nil, to: "index")
    moves = try Self.steps(answer["moves"], from: "from", to: "to")
    updates = try Self.steps(answer["updates"], from: "old", to: "new")
    entities = answer["entities"] ?? [:]
  }

  func entity(_ id: String) throws -> JSONValue {
    guard let entity = entities[id] else { throw ListCopy.Broken(description: "\(id) is missing") }
    return entity
  }

  private static func steps(_ list: JSONValue?, from: String?, to: String) throws -> [Step] {
    try (list?.array ?? []).map { step in
      Step(
        from: try from.map { try number(step[$0]) } ?? 0, to: try number(step[to]),
        id: step["id"]?.string ?? "")
    }
  }

  private static func number(_ value: JSONValue?) throws -> Int {
    guard let number = value?.int64 else {
      throw ListCopy.Broken(description: "a place is no number")
    }
    return Int(number)
  }
}
