/// Values in growing order, each once.
///
/// A sorted array: what comes in is nearly always the last, what goes out nearly always the first.
struct SortedValues<Value: Comparable & Sendable>: Sendable {
  private(set) var values: [Value] = []

  var first: Value? { values.first }
  var isEmpty: Bool { values.isEmpty }
  var count: Int { values.count }

  mutating func insert(_ value: Value) {
    let index = firstIndex(from: value)
    guard index == values.count || values[index] != value else { return }
    values.insert(value, at: index)
  }

  mutating func remove(_ value: Value) {
    let index = firstIndex(from: value)
    guard index < values.count, values[index] == value else { return }
    values.remove(at: index)
  }

  func before(_ value: Value) -> ArraySlice<Value> { values[..<firstIndex(from: value)] }

  func from(_ value: Value) -> ArraySlice<Value> { values[firstIndex(from: value)...] }

  private func firstIndex(from value: Value) -> Int {
    if let last = values.last, last < value { return values.count }
    var (low, high) = (0, values.count)
    while low < high {
      let middle = (low + high) / 2
      if values[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
