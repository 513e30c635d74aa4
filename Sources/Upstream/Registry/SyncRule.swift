/// `@sync`: what the queue must know of a mutation.
package struct SyncRule: Hashable, Sendable {
  /// The object the mutation is about; always an entity target.
  package let object: EffectTarget?
  /// Other objects it mentions; always entity targets.
  package let references: [EffectTarget]
  /// Sending it twice does no more than once.
  package let isRepeatable: Bool
  /// It may overtake everything queued.
  package let isIndependent: Bool
  /// The query that tells whether an unanswered attempt took effect.
  package let verify: String?

  package init(
    object: EffectTarget? = nil, references: [EffectTarget] = [], isRepeatable: Bool = false,
    isIndependent: Bool = false, verify: String? = nil
  ) {
    self.object = object
    self.references = references
    self.isRepeatable = isRepeatable
    self.isIndependent = isIndependent
    self.verify = verify
  }
}
