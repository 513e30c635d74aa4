/// The steps from one list to another, legal for a batch update of a collection view
/// (docs/changes.md): `deletes`, `moves.from` and `updates.old` are indexes of the old list,
/// `inserts`, `moves.to` and `updates.new` of the new one.
///
/// For `NSDiffableDataSourceSnapshot` and IGListKit the identity of an item is its id; two items of
/// one id are equal if they are no update.
public struct ListDiff: Hashable, Sendable {
  /// An item that stays, at another place in the order.
  public struct Move: Hashable, Sendable {
    public let from: Int
    public let to: Int
  }

  /// An item that stays, with other content.
  public struct Update: Hashable, Sendable {
    public let old: Int
    public let new: Int
  }

  /// The length of the old list.
  public internal(set) var oldCount = 0
  /// The length of the new list.
  public internal(set) var count = 0
  /// Ascending.
  public internal(set) var deletes: [Int] = []
  /// Ascending.
  public internal(set) var inserts: [Int] = []
  /// As few as possible.
  public internal(set) var moves: [Move] = []
  /// Places in the old and the new list.
  public internal(set) var updates: [Update] = []

  /// Whether the lists are equal.
  public var isEmpty: Bool {
    deletes.isEmpty && inserts.isEmpty && moves.isEmpty && updates.isEmpty
  }

  /// The fewest steps from one list to another.
  ///
  /// - Parameters:
  ///   - before: the ids of the old list, and what tells whether an item looks the same. Ids are unique.
  ///   - after: those of the new list.
  public init<ID: Hashable, Content: Equatable>(
    from before: [(id: ID, content: Content)], to after: [(id: ID, content: Content)]
  ) {
    (oldCount, count) = (before.count, after.count)
    let old = Dictionary(before.enumerated().map { ($1.id, $0) }) { first, _ in first }
    let present = Set(after.map(\.id))
    deletes = before.indices.filter { !present.contains(before[$0].id) }
    var survivors: [Move] = []
    for (index, item) in after.enumerated() {
      guard let from = old[item.id] else {
        inserts.append(index)
        continue
      }
      survivors.append(Move(from: from, to: index))
      if before[from].content != item.content { updates.append(Update(old: from, new: index)) }
    }
    let kept = Self.longestRun(survivors.map(\.from))
    moves = survivors.enumerated().filter { !kept.contains($0.offset) }.map(\.element)
    updates.sort { $0.old < $1.old }
  }

  /// The positions of a longest increasing subsequence.
  private static func longestRun(_ values: [Int]) -> Set<Int> {
    var ends: [Int] = []
    var previous = [Int?](repeating: nil, count: values.count)
    for (index, value) in values.enumerated() {
      var low = 0
      var high = ends.count
      while low < high {
        let middle = (low + high) / 2
        if values[ends[middle]] < value { low = middle + 1 } else { high = middle }
      }
      previous[index] = low > 0 ? ends[low - 1] : nil
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var run: Set<Int> = []
    var next = ends.last
    while let index = next {
      run.insert(index)
      next = previous[index]
    }
    return run
  }
}

extension ListDiff {
  /// The steps of a diff that Larder has sent.
  public init(json: JSONValue) throws {
    func indexes(_ list: String, _ members: String...) throws -> [[Int]] {
      try (json[list]?.array ?? []).map { entry in
        try members.map { member in
          guard let index = entry[member]?.int, index >= 0 else {
            throw LarderError.unexpectedContent("\"\(list)\" of a diff lacks \"\(member)\".")
          }
          return index
        }
      }
    }
    guard let count = json["count"]?.int, let oldCount = json["oldCount"]?.int else {
      throw LarderError.unexpectedContent("A diff lacks \"count\" or \"oldCount\".")
    }
    (self.count, self.oldCount) = (count, oldCount)
    deletes = try (json["deletes"]?.array ?? []).map { entry in
      guard let index = entry.int, index >= 0 else {
        throw LarderError.unexpectedContent("\"deletes\" of a diff has no index.")
      }
      return index
    }
    inserts = try indexes("inserts", "index").map { $0[0] }
    moves = try indexes("moves", "from", "to").map { Move(from: $0[0], to: $0[1]) }
    updates = try indexes("updates", "old", "new").map { Update(old: $0[0], new: $0[1]) }
  }

  /// The new list.
  ///
  /// - Parameters:
  ///   - before: the old list.
  ///   - item: the content of an inserted or updated place.
  /// - Throws: `unexpectedContent` if the steps do not fit the old list.
  public func applied<Item>(to before: [Item], item: (Int) throws -> Item) throws -> [Item] {
    let misfit = LarderError.unexpectedContent(
      "The diff does not fit the list: ask for the whole list.")
    // Before space is made for `count` items.
    guard before.count == oldCount, deletes.count <= oldCount,
      count == oldCount - deletes.count + inserts.count
    else { throw misfit }
    var places = [Item?](repeating: nil, count: count)
    var gone = Set(deletes)
    for index in inserts {
      guard places.indices.contains(index) else { throw misfit }
      places[index] = try item(index)
    }
    for move in moves {
      guard places.indices.contains(move.to), before.indices.contains(move.from) else {
        throw misfit
      }
      places[move.to] = before[move.from]
      gone.insert(move.from)
    }
    var staying = before.indices.filter { !gone.contains($0) }[...]
    var after: [Item] = []
    for place in places {
      if let place {
        after.append(place)
      } else {
        guard let index = staying.popFirst() else { throw misfit }
        after.append(before[index])
      }
    }
    guard staying.isEmpty else { throw misfit }
    for update in updates {
      guard after.indices.contains(update.new) else { throw misfit }
      after[update.new] = try item(update.new)
    }
    return after
  }
}

/// A list on the screen, held by the events `list` and `diff` of a live collection.
public struct LiveList: Hashable, Sendable {
  /// The entities in their order.
  public private(set) var items: [JSONValue] = []

  public init() {}

  /// Applies an event; others leave the list as it is.
  public mutating func apply(_ event: LiveEvent) throws {
    switch event.data["kind"]?.string {
    case "full": items = event.data["items"]?.array ?? []
    case "diff":
      var ids: [Int: String] = [:]
      for insert in event.data["inserts"]?.array ?? [] {
        if let index = insert["index"]?.int { ids[index] = insert["id"]?.string }
      }
      for update in event.data["updates"]?.array ?? [] {
        if let index = update["new"]?.int { ids[index] = update["id"]?.string }
      }
      items = try ListDiff(json: event.data).applied(to: items) { index in
        guard let id = ids[index], let entity = event.data["entities"]?[id] else {
          throw LarderError.unexpectedContent("A diff lacks the entity of place \(index).")
        }
        return entity
      }
    default: break
    }
  }
}
