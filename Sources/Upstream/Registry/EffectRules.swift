/// `@effects`: what a mutation changes beside what its answer says.
package struct EffectRules: Hashable, Sendable {
  /// Entities with changed fields: results that show them are asked for again.
  package let updates: [EffectTarget]
  /// Entities that are gone; always entity targets.
  package let deletes: [EffectTarget]
  package let invalidates: [EffectTarget]
  /// Lists that grew: asked for again, as `invalidates`.
  package let appends: [EffectTarget]

  package init(
    updates: [EffectTarget] = [], deletes: [EffectTarget] = [], invalidates: [EffectTarget] = [],
    appends: [EffectTarget] = []
  ) {
    self.updates = updates
    self.deletes = deletes
    self.invalidates = invalidates
    self.appends = appends
  }

  package static let none = EffectRules()

  package var isEmpty: Bool {
    updates.isEmpty && deletes.isEmpty && invalidates.isEmpty && appends.isEmpty
  }
}
