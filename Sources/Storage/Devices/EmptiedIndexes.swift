import GRDB
import Synchronization

/// The types whose full-text indexes have lost rows of a device, and still hold their words.
///
/// A deletion from an FTS5 index adds a mark, and leaves the words where they are until the parts of the
/// index are merged (<https://www.sqlite.org/fts5.html#the_merge_command>), which can take for ever in
/// one that seldom changes.
struct EmptiedIndexes: Sendable {
  /// The next part of a merge.
  struct Step: Hashable, Sendable {
    /// The number of the type.
    let type: Int64
    /// Counts additions, so that a merge begins again when its type is added while it runs: it can have
    /// passed the rows.
    fileprivate let addition: Int
    /// Whether it is the first step since then.
    fileprivate(set) var isFirst = true
  }

  private var steps: [Int64: Step] = [:]
  private var additions = 0

  mutating func add(_ types: Set<Int64>) {
    additions += 1
    for type in types { steps[type] = Step(type: type, addition: additions) }
  }

  var next: Step? { steps.values.min { $0.type < $1.type } }

  /// Notes a step that was performed.
  mutating func note(_ step: Step, isDone: Bool) {
    guard steps[step.type]?.addition == step.addition else { return }
    steps[step.type]?.isFirst = false
    if isDone { steps[step.type] = nil }
  }
}

extension Store {
  /// Removes the words of rows that were deleted with a device, or its data, from the full-text indexes of
  /// one type: a part of it. What a crash leaves goes with the next such deletion of the type.
  ///
  /// - Parameter pages: how many pages of an index it writes, about.
  /// - Returns: whether there may be more to remove.
  package func forgetWords(pages: Int = 100) async throws(StorageError) -> Bool {
    guard let step = emptiedIndexes.withLock({ $0.next }) else { return false }
    let isDone = try await writer.write { database, _ in
      try SearchIndex.merge(
        ofType: step.type, begins: step.isFirst, pages: pages, database)
    }
    return emptiedIndexes.withLock { indexes in
      indexes.note(step, isDone: isDone)
      return indexes.next != nil
    }
  }
}
