package import Model

/// One to be sent: its claim is on disk.
package struct ClaimedMutation: Sendable {
  package let mutation: Mutation
  package let claim: MutationClaim
  /// Without overlays.
  package let payload: MutationPayload
  /// The temporary ids it mentions, with the entities that they stand for.
  package let known: [TemporaryID: EntityKey]
}
