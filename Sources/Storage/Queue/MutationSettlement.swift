package import Model

/// How one attempt ended, and what goes with it into one transaction.
package struct MutationSettlement: Sendable {
  package let claim: MutationClaim
  package let outcome: SendOutcome
  /// When this item's upstream last answered another request well, in queue time.
  package let othersSucceeded: Timestamp?
  /// What the answer says to the store; also what an unanswered attempt makes due. Nil where there
  /// is nothing of the kind.
  package let answer: NormalisedResponse?
  /// What the client is told: upstream's answer or what went wrong, as JSON.
  package let result: [UInt8]?

  package init(
    claim: MutationClaim, outcome: SendOutcome, othersSucceeded: Timestamp?,
    answer: NormalisedResponse? = nil, result: [UInt8]? = nil
  ) {
    self.claim = claim
    self.outcome = outcome
    self.othersSucceeded = othersSucceeded
    self.answer = answer
    self.result = result
  }
}
