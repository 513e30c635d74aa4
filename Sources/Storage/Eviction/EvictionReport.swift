/// What one step of an eviction did.
package struct EvictionReport: Sendable, Hashable {
  package var results = 0
  /// Rows: an entity has one in each scope that knows it.
  package var entities = 0
  /// Deletions that are no longer told; see ``Store/floor``.
  package var tombstones = 0
  /// Of the database's pages in use, after the step.
  package var bytesUsed = 0
  /// The pass goes on: call again soon. False: nothing is left to do for some minutes.
  package var hasMore = false
}
