/// What a write does with an entity.
package enum WriteAction: String, Sendable, CaseIterable {
  /// A new entity; refused where there is one.
  case insert
  /// The whole entity anew, whether there is one or not. Lists of entities that the body does not
  /// name stay as they are.
  case insertOrUpdate
  /// A merge patch (RFC 7396); refused where there is none.
  case update
  /// A merge patch, or the same as a new entity where there is none.
  case updateOrInsert
  /// The entity that there is, as it is; a new one where there is none.
  case findOrInsert
  /// Refused where there is none.
  case delete
}
