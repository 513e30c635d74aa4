/// Why a mutation is not taken: nothing is stored.
package enum EnqueueRefusal: Error, Hashable, Sendable {
  /// Its object is about to be deleted by what is queued: 409 `object_deleted`.
  case objectDeleted(by: MutationID)
  /// Too many unfinished ones: 429.
  case queueFull(itemsMax: Int)
}
