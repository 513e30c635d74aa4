/// What one write did.
package enum WriteOutcome: Sendable {
  /// The entity as it is now, and whether it came into being.
  case written(EntityKey, EntityRecord, isNew: Bool)
  case deleted(EntityKey)
  /// How many a filter held of.
  case matched(Int)
}
