package import Model

/// The entity store: what upstream said, who may see it, and in which order it changed.
///
/// One connection writes; waiting writes share a transaction, each in its own savepoint, and
/// resume after COMMIT. Reads run on connections of their own, each in one snapshot. Every method
/// is a whole operation; no transaction and no SQL leaves this module.
package final class Store: Sendable {
  /// Every boot's stretch of revisions, oldest first; the last is this boot's.
  package let segments: [Segment]
  /// The highest call number found when the store was opened.
  package let lastCall: CallNumber

  init(segments: [Segment], lastCall: CallNumber) {
    self.segments = segments
    self.lastCall = lastCall
  }

  /// Opens or makes the database, migrates it, and makes or widens the table of each type.
  package static func open(
    _ configuration: StoreConfiguration, types: [EntityType]
  ) throws(StorageError) -> Store {
    throw .closed
  }

  /// Registers who is told of each commit: on the writer's thread, in commit order, after COMMIT
  /// and before the callers that wrote resume. Must be quick.
  package func observe(_ observer: @escaping @Sendable (CommitReport) -> Void) {
  }

  /// Ends waiting reads and writes, copies the write-ahead log back and releases the folder.
  package func close() async {
  }

  /// The last revision committed.
  package var head: Revision { .zero }
}
