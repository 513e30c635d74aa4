/// Why a list of writes was not done; nothing of it was.
package enum WriteRefusal: Error, Sendable, Hashable {
  /// There is one already.
  case exists(EntityKey, pointer: String)
  case missing(EntityKey, pointer: String)
  /// The entity is not what the writer thinks it is (`If-Match`).
  case changed(EntityKey, pointer: String)
  /// Others refer to it, and its relationship says that it then stays.
  case denied(EntityKey, field: String, pointer: String)
  case invalid([Failure.Detail])
  /// A filter holds of more entities than one write may change.
  case tooMany(max: Int, pointer: String)
  /// The owner would have more stored than it may.
  case overQuota(DataQuota.Excess)
}
