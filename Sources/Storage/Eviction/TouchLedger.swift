import Synchronization

/// Rows that were read, or said again by upstream, since eviction last looked at them: one bit a
/// row, so that no read ever writes.
///
/// In memory alone. Losing it makes rows look as old as their last write.
final class TouchLedger: Sendable {
  /// About 16 MiB. Past this the ledger starts over.
  private static let wordsMax = 1 << 18

  private let touched = Mutex(RowSet())

  func note(type: Int64, rows: [Int64]) {
    guard !rows.isEmpty else { return }
    touched.withLock { touched in
      if touched.wordCount > Self.wordsMax { touched = RowSet() }
      touched.insert(type: type, rows: rows)
    }
  }

  func isTouched(_ place: RowPlace) -> Bool {
    touched.withLock { $0.contains(place) }
  }

  /// - Returns: whether the row was touched; it no longer is.
  func take(_ place: RowPlace) -> Bool {
    touched.withLock { $0.remove(place) }
  }
}
