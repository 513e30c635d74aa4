/// What a mutation's `@effects`, a purge or an operator names.
package enum InvalidationTarget: Hashable, Sendable {
  case entity(EntityKey)
  /// Every entity of the type and every result that shows one or a list of them, empty ones too.
  case type(String)
  /// Every result of the operation.
  case operation(String)
  /// Every result of the operations that carry the tag.
  case tag(String)
}
