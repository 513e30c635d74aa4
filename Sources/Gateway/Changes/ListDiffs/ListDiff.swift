/// The changes that turn an old list into a new one, in the form of a collection view's batch update.
///
/// ``deletes``, ``moves``' `from` and ``updates``' `old` are indexes in the old list; ``inserts``,
/// `to` and `new` are indexes in the new one. All are sorted and none occurs twice, so that the two
/// phases of a batch update (remove, insert) are legal in any order. The number of moves is minimal:
/// the survivors that stay form a longest increasing subsequence of the old indexes.
///
/// An element that occurs more than once is paired by its occurrence: the first with the first.
package struct ListDiff: Hashable, Sendable {
  package struct Move: Hashable, Sendable {
    package let from: Int
    package let to: Int
  }

  /// An element that is in both lists with different content. It can move as well.
  package struct Update: Hashable, Sendable {
    package let old: Int
    package let new: Int
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

  /// The number of changes.
  package var count: Int { deletes.count + inserts.count + moves.count + updates.count }

  /// Computes the diff, in O(n log n) of the lists' lengths, and nearly linear if most elements keep
  /// their order.
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

/// An element of a list for diffing: its identity and a digest of its content.
///
/// The identity is a number, so that lists of a hundred thousand are compared without hashing a
/// string for each; the creator of the elements ensures that equal numbers mean the same entity.
package struct ListElement: Hashable, Sendable {
  package let id: UInt64
  package let version: UInt64
}

/// The diff of the parts between two lists' common prefix and common suffix.
struct MiddleDiff {
  private(set) var deletes: [Int] = []
  private(set) var inserts: [Int] = []
  private(set) var moves: [ListDiff.Move] = []
  private(set) var updates: [ListDiff.Update] = []

  init(
    old: [ListElement], _ oldRange: Range<Int>, new: [ListElement], _ newRange: Range<Int>
  ) {
    var places = PlaceMap(old, oldRange)
    var survives = [Bool](repeating: false, count: oldRange.count)
    // For each survivor in the new order: its old and its new index.
    var oldPlaces: [Int32] = []
    var newPlaces: [Int32] = []
    oldPlaces.reserveCapacity(min(oldRange.count, newRange.count))
    newPlaces.reserveCapacity(min(oldRange.count, newRange.count))
    for place in newRange {
      guard let from = places.take(new[place].id) else {
        inserts.append(place)
        continue
      }
      survives[from - oldRange.lowerBound] = true
      oldPlaces.append(Int32(from))
      newPlaces.append(Int32(place))
      if old[from].version != new[place].version {
        updates.append(ListDiff.Update(old: from, new: place))
      }
    }
    deletes = oldRange.filter { !survives[$0 - oldRange.lowerBound] }
    let stays = LongestIncreasingSubsequence.members(of: oldPlaces)
    for (index, from) in oldPlaces.enumerated() where !stays[index] {
      moves.append(ListDiff.Move(from: Int(from), to: Int(newPlaces[index])))
    }
  }
}

/// The indexes of each element in a list: an open hash table from which each index is taken once.
///
/// It is a custom table because filling a dictionary of a hundred thousand numbers takes most of a
/// diff's time. Identities are digests already, so a multiplication is a sufficient hash.
struct PlaceMap {
  /// The first index not taken, by slot; -1 for a free slot, -2 if all were taken.
  private var slots: [Int32]
  private var ids: [UInt64]
  /// The next index with the same identity, by index minus the range's start; -1 for none.
  private var following: [Int32]
  private let mask: Int
  private let start: Int

  init(_ list: [ListElement], _ range: Range<Int>) {
    start = range.lowerBound
    var capacity = 16
    while capacity < range.count * 2 { capacity *= 2 }
    mask = capacity - 1
    slots = [Int32](repeating: -1, count: capacity)
    ids = [UInt64](repeating: 0, count: capacity)
    following = [Int32](repeating: -1, count: range.count)
    // From the end, so that the first of equal elements is found first.
    for place in range.reversed() {
      let slot = slot(of: list[place].id)
      ids[slot] = list[place].id
      following[place - start] = slots[slot]
      slots[slot] = Int32(place)
    }
  }

  /// Takes the first remaining index of an element; nil if there is none.
  mutating func take(_ id: UInt64) -> Int? {
    let slot = slot(of: id)
    let place = slots[slot]
    guard place >= 0 else { return nil }
    // A slot whose last index was taken keeps its identity, so that probing continues past it.
    slots[slot] = following[Int(place) - start] >= 0 ? following[Int(place) - start] : Self.taken
    return Int(place)
  }

  private static let taken: Int32 = -2

  private func slot(of id: UInt64) -> Int {
    var slot = Int(truncatingIfNeeded: (id &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
    while slots[slot] != -1, ids[slot] != id { slot = (slot + 1) & mask }
    return slot
  }
}

/// A longest increasing subsequence of a sequence of distinct numbers, found by patience sorting in
/// O(n log n).
enum LongestIncreasingSubsequence {
  /// - Returns: for each index, whether its number is part of the subsequence.
  static func members(of numbers: [Int32]) -> [Bool] {
    // By length, the index of the smallest last number of such a subsequence.
    var tails: [Int32] = []
    var smallest: [Int32] = []
    var previous = [Int32](repeating: -1, count: numbers.count)
    for (place, number) in numbers.enumerated() {
      var low = 0
      // In lists with few changes nearly every number is appended at the end.
      var high = smallest.count
      if let last = smallest.last, last < number {
        low = high
      }
      while low < high {
        let middle = (low + high) / 2
        if smallest[middle] < number { low = middle + 1 } else { high = middle }
      }
      if low > 0 { previous[place] = tails[low - 1] }
      if low == smallest.count {
        smallest.append(number)
        tails.append(Int32(place))
      } else {
        smallest[low] = number
        tails[low] = Int32(place)
      }
    }
    var members = [Bool](repeating: false, count: numbers.count)
    var place = tails.last ?? -1
    while place >= 0 {
      members[Int(place)] = true
      place = previous[Int(place)]
    }
    return members
  }
}
