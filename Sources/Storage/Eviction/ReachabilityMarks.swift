/// A queue of rows in unspecified order, each at most once; as compact as a ``RowSet``.
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

/// The rows that a pass has found reachable from live results, and those whose references it has yet to
/// follow. See `DESIGN.md` for why no reachable row is missed.
struct ReachabilityMarks {
  /// Rows that are not evicted in this pass.
  private var marked = RowSet()
  /// The first row of each entity that was referred to; all the entity's rows are marked or about to be.
  private var visited = RowSet()
  /// Marked rows whose references are not followed yet.
  private var pending = RowQueue()

  var isSettled: Bool { pending.isEmpty }

  func isMarked(_ place: RowPlace) -> Bool { marked.contains(place) }

  mutating func mark(_ place: RowPlace) {
    if marked.insert(place) { pending.insert(place) }
  }

  mutating func popPending() -> RowPlace? { pending.pop() }

  /// Records a visit to an entity.
  ///
  /// - Parameter first: the entity's public row, or else its row in the first private scope.
  /// - Returns: whether the entity's rows are yet to be marked.
  mutating func visit(_ first: RowPlace) -> Bool { visited.insert(first) }

  // MARK: Writes since the pass began

  /// Marks an inserted row. Its number can be that of a removed row, so the visit recorded for it is cleared.
  mutating func noteInserted(_ place: RowPlace) {
    visited.remove(place)
    noteChanged(place)
  }

  /// Marks a changed row, whose references can differ now.
  mutating func noteChanged(_ place: RowPlace) {
    marked.insert(place)
    pending.insert(place)
  }
}
