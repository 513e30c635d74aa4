/// Why a list of local writes was not done; nothing of it was.
package enum LocalRefusal: Error, Sendable, Hashable {
  /// There is one already.
  case exists(EntityKey, pointer: String)
  case missing(EntityKey, pointer: String)
  /// The entity is not what the writer thinks it is (`If-Match`).
  case changed(EntityKey, pointer: String)
  /// Others refer to it, and its relationship says that it then stays.
  case denied(EntityKey, field: String, pointer: String)
  case invalid([Failure.Detail])
}
