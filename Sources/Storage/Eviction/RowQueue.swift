/// Rows waiting for something, each once, in an order of no meaning; as small as a ``RowSet``.
struct RowQueue {
  private var words: [RowSet.Word: UInt64] = [:]
  /// The keys of `words`, each once.
  private var order: [RowSet.Word] = []

  var isEmpty: Bool { order.isEmpty }

  mutating func insert(_ place: RowPlace) {
    let word = RowSet.Word(place)
    let bit: UInt64 = 1 << UInt64(place.row & 63)
    if let bits = words[word] {
      words[word] = bits | bit
    } else {
      words[word] = bit
      order.append(word)
    }
  }

  mutating func pop() -> RowPlace? {
    guard let word = order.last, let bits = words[word] else { return nil }
    let left = bits & (bits - 1)
    if left == 0 {
      words[word] = nil
      order.removeLast()
    } else {
      words[word] = left
    }
    return word.place(ofBit: bits.trailingZeroBitCount)
  }
}
