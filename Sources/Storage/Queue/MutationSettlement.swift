package import Model
package import SyncScheduler

/// A mutation claimed for sending, with its claim on disk.
package struct ClaimedMutation: Sendable {
  package let mutation: Mutation
  package let claim: MutationClaim
  /// Without overlays.
  package let payload: MutationPayload
  /// The temporary ids the mutation mentions, with the real entities that are known for them.
  package let known: [TemporaryID: EntityKey]
}

/// The end of one attempt to send, with everything that is written in the same transaction.
package struct MutationSettlement: Sendable {
  package let claim: MutationClaim
  package let outcome: SendOutcome
  /// When the same upstream last completed another request successfully, in queue time.
  package let othersSucceeded: Timestamp?
  /// The upstream response to store, or what an unanswered attempt makes due; nil if there is
  /// nothing to write.
  package let response: NormalisedResponse?
  /// The result for the client: the upstream response or the problem, as JSON.
  package let result: [UInt8]?

  package init(
    claim: MutationClaim, outcome: SendOutcome, othersSucceeded: Timestamp?,
    response: NormalisedResponse? = nil, result: [UInt8]? = nil
  ) {
    self.claim = claim
    self.outcome = outcome
    self.othersSucceeded = othersSucceeded
    self.response = response
    self.result = result
  }
}

/// The result of settling an attempt.
package struct SettledMutation: Sendable {
  /// The mutation in its current state; nil if the claim no longer held and nothing was done.
  package var mutation: Mutation?
  /// Whether the overlay stays for a while because the response did not cover all expected changes.
  package var lingers = false
  /// The device's next mutation, claimed in the same commit.
  package var next: ClaimedMutation?
}
