/// The diff of what lies between two lists' common beginning and common end.
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
    // For each survivor in the new order: its old and its new place.
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
