/// What turns an old list into a new one, as a batch update of a collection view takes it.
///
/// ``deletes``, ``moves``' `from` and ``updates``' `old` are places in the old list; ``inserts``,
/// `to` and `new` are places in the new one. All are sorted and none names a place twice, so that
/// the two phases of a batch update (take out, put in) are legal in any order. Moves are as few as
/// can be: the survivors that stay form a longest increasing subsequence of the old places.
///
/// An element that occurs more than once is paired by its occurrence: the first with the first.
package struct ListDiff: Hashable, Sendable {
  package struct Move: Hashable, Sendable {
    package let from: Int
    package let to: Int

    package init(from: Int, to: Int) {
      self.from = from
      self.to = to
    }
  }

  /// An element that is in both lists with other content. It may move as well.
  package struct Update: Hashable, Sendable {
    package let old: Int
    package let new: Int

    package init(old: Int, new: Int) {
      self.old = old
      self.new = new
    }
  }

  package let deletes: [Int]
  package let inserts: [Int]
  /// Sorted by `to`.
  package let moves: [Move]
  /// Sorted by `new`.
  package let updates: [Update]

  package var isEmpty: Bool {
    deletes.isEmpty && inserts.isEmpty && moves.isEmpty && updates.isEmpty
  }

  /// How many places it names.
  package var count: Int { deletes.count + inserts.count + moves.count + updates.count }

  /// O(n log n) in the length of the lists, and nearly linear where most elements keep their
  /// order.
  package init(from old: [ListElement], to new: [ListElement]) {
    let prefix = Self.commonPrefix(old, new)
    let suffix = Self.commonSuffix(old, new, after: prefix)
    var updates: [Update] = []
    for place in 0..<prefix where old[place].version != new[place].version {
      updates.append(Update(old: place, new: place))
    }
    let middle = MiddleDiff(
      old: old, prefix..<(old.count - suffix), new: new, prefix..<(new.count - suffix))
    updates += middle.updates
    let shift = old.count - new.count
    for place in (new.count - suffix)..<new.count
    where old[place + shift].version != new[place].version {
      updates.append(Update(old: place + shift, new: place))
    }
    deletes = middle.deletes
    inserts = middle.inserts
    moves = middle.moves
    self.updates = updates
  }

  private static func commonPrefix(_ old: [ListElement], _ new: [ListElement]) -> Int {
    var count = 0
    let limit = min(old.count, new.count)
    while count < limit, old[count].id == new[count].id { count += 1 }
    return count
  }

  private static func commonSuffix(
    _ old: [ListElement], _ new: [ListElement], after prefix: Int
  ) -> Int {
    var count = 0
    let limit = min(old.count, new.count) - prefix
    while count < limit, old[old.count - 1 - count].id == new[new.count - 1 - count].id {
      count += 1
    }
    return count
  }
}
