/// Which rows a pass has found reachable from live results, and which of them it has yet to look
/// into. See `DESIGN.md` for why nothing reachable is ever left out.
struct ReachabilityMarks {
  /// Not to be evicted in this pass.
  private var marked = RowSet()
  /// The first row of each entity that was referred to: all its rows are marked or about to be.
  private var visited = RowSet()
  /// Marked, but the references in them are not followed yet.
  private var pending = RowQueue()

  var isSettled: Bool { pending.isEmpty }

  func isMarked(_ place: RowPlace) -> Bool { marked.contains(place) }

  mutating func mark(_ place: RowPlace) {
    if marked.insert(place) { pending.insert(place) }
  }

  mutating func popPending() -> RowPlace? { pending.pop() }

  /// - Parameter first: the entity's public row, or else that in the first private scope.
  /// - Returns: whether the entity's rows are yet to be marked.
  mutating func visit(_ first: RowPlace) -> Bool { visited.insert(first) }

  // MARK: Writes since the pass began

  /// The number may have belonged to a row that is gone, so what is known of it is forgotten.
  mutating func noteInserted(_ place: RowPlace) {
    visited.remove(place)
    noteChanged(place)
  }

  /// Its references may be others now.
  mutating func noteChanged(_ place: RowPlace) {
    marked.insert(place)
    pending.insert(place)
  }
}
