extension DeviceQueue {
  /// What follows the end of an attempt; nil where the claim no longer holds, and nothing does.
  ///
  /// - Parameter othersSucceeded: when this item's upstream last answered any other request well,
  ///   in queue time: failures beside it are what makes poison.
  package func settling(
    _ claim: MutationClaim, as outcome: SendOutcome, othersSucceeded: Timestamp?,
    at now: Timestamp, policy: QueuePolicy, using random: inout some RandomNumberGenerator
  ) -> QueueChanges? {
    nil
  }
}
