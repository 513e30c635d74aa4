/// Where each element stands in a list: an open hash table of places, each taken once.
///
/// A table of its own because a dictionary of a hundred thousand numbers takes most of a diff's
/// time to fill. Identities are digests already, so a multiplication is hash enough.
struct PlaceMap {
  /// The first place not taken, by slot; -1 for a free slot, -2 where all were taken.
  private var slots: [Int32]
  private var ids: [UInt64]
  /// The next place with the same identity, by place less the range's start; -1 for none.
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
    // From the end, so that the first of equal elements is the first to be found.
    for place in range.reversed() {
      let slot = slot(of: list[place].id)
      ids[slot] = list[place].id
      following[place - start] = slots[slot]
      slots[slot] = Int32(place)
    }
  }

  /// The first place of an element that has not been taken; nil for none.
  mutating func take(_ id: UInt64) -> Int? {
    let slot = slot(of: id)
    let place = slots[slot]
    guard place >= 0 else { return nil }
    // A slot emptied of its last place keeps its identity, so that searches go on behind it.
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
