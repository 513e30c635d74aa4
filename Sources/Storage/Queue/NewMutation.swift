package import Model

/// A mutation as it is handed over: judged by its operation's schema, not yet by the queue.
package struct NewMutation: Sendable {
  package let id: MutationID
  package let key: String
  package let fingerprint: PayloadFingerprint
  package let operation: String
  package let upstream: String
  package let mode: MutationMode
  package let effect: MutationEffect
  package let unknownRule: UnknownOutcomeRule
  package let overtakesAll: Bool
  package let object: EntityKey?
  package let references: [EntityKey]
  package let mentions: Set<TemporaryID>
  package let creates: [TemporaryEntity]
  /// Nil takes the policy's.
  package let expiresIn: Duration?
  package let payload: MutationPayload

  package init(
    id: MutationID, key: String, fingerprint: PayloadFingerprint, operation: String,
    upstream: String, mode: MutationMode, effect: MutationEffect, unknownRule: UnknownOutcomeRule,
    overtakesAll: Bool = false, object: EntityKey?, references: [EntityKey] = [],
    mentions: Set<TemporaryID> = [], creates: [TemporaryEntity] = [], expiresIn: Duration? = nil,
    payload: MutationPayload
  ) {
    self.id = id
    self.key = key
    self.fingerprint = fingerprint
    self.operation = operation
    self.upstream = upstream
    self.mode = mode
    self.effect = effect
    self.unknownRule = unknownRule
    self.overtakesAll = overtakesAll
    self.object = object
    self.references = references
    self.mentions = mentions
    self.creates = creates
    self.expiresIn = expiresIn
    self.payload = payload
  }
}
