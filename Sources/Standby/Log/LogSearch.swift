/// Finds segments by their numbers alone: the numbers have no gaps, so a few reads do, and no listing.
package struct LogSearch: Sendable {
  let store: StandbyStore

  package init(_ store: StandbyStore) { self.store = store }

  /// Returns the last segment; nil if there is none after `floor`.
  ///
  /// - Parameter floor: the number of a segment, or 0; all later ones are there.
  package func last(after floor: Int64) async throws(StandbyError) -> LogSegment? {
    guard var found = try await store.segment(floor + 1) else { return nil }
    var step: Int64 = 1
    var missing: Int64?
    while true {
      let next = missing.map { found.number + ($0 - found.number) / 2 } ?? found.number + step
      if next == found.number { return found }
      if let segment = try await store.segment(next) {
        found = segment
        step *= 2
      } else {
        missing = next
      }
      if let missing, missing - found.number <= 1 { return found }
    }
  }

  /// Returns the first segment that reaches a position; nil if none does.
  ///
  /// - Parameters:
  ///   - floor: a segment before it.
  ///   - last: the last segment.
  package func first(
    reaching position: Int64, after floor: Int64, upTo last: LogSegment
  ) async throws(StandbyError) -> LogSegment? {
    guard last.last >= position else { return nil }
    var (low, high) = (floor, last)
    while high.number - low > 1 {
      let middle = low + (high.number - low) / 2
      guard let segment = try await store.segment(middle) else {
        // It was removed meanwhile, so it is before what is looked for, or that is gone too.
        low = middle
        continue
      }
      if segment.last >= position { high = segment } else { low = middle }
    }
    return high
  }
}
