/// Places in growing order, each once.
///
/// A sorted array: what comes in is nearly always the last, what goes out nearly always the first.
struct SortedPlaces: Hashable, Sendable {
  private(set) var values: [Int64] = []

  var first: Int64? { values.first }
  var isEmpty: Bool { values.isEmpty }

  mutating func insert(_ place: Int64) {
    let index = firstIndex(from: place)
    guard index == values.count || values[index] != place else { return }
    values.insert(place, at: index)
  }

  mutating func remove(_ place: Int64) {
    let index = firstIndex(from: place)
    guard index < values.count, values[index] == place else { return }
    values.remove(at: index)
  }

  /// Those before a place.
  func before(_ place: Int64) -> ArraySlice<Int64> { values[..<firstIndex(from: place)] }

  /// Those after a place.
  func after(_ place: Int64) -> ArraySlice<Int64> { values[firstIndex(from: place + 1)...] }

  private func firstIndex(from place: Int64) -> Int {
    if let last = values.last, last < place { return values.count }
    var (low, high) = (0, values.count)
    while low < high {
      let middle = (low + high) / 2
      if values[middle] < place { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
