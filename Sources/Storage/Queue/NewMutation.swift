package import Model
package import SyncScheduler

/// A mutation to enqueue: validated against its operation's schema, not yet accepted by the queue.
package struct NewMutation: Hashable, Sendable {
  package let submission: Mutation.Submission
  /// Nil uses the policy's expiry.
  package let expiresIn: Duration?
  package let payload: MutationPayload

  package init(
    _ submission: Mutation.Submission, expiresIn: Duration? = nil, payload: MutationPayload
  ) {
    self.submission = submission
    self.expiresIn = expiresIn
    self.payload = payload
  }
}

/// The parts of a mutation that no queue decision reads: what to send, for which user, and its
/// optimistic update.
package struct MutationPayload: Hashable, Sendable {
  /// The JSON object of variables as the client sent it, temporary ids included.
  package let variables: String
  /// The scope of its response: the user's, or the public one with the headers it was sent with.
  package let scope: Scope
  /// The verified user it is sent for; nil for an opaque credential or none.
  package let user: String?
  /// The forwarded headers that are not secret, as a JSON object.
  package let partitions: String
  /// The user's own headers, sealed; nil if it is sent without. Removed once the mutation is
  /// finished.
  package let sealedCredential: String?
  package let overlays: [OverlayChange]
  /// The trace of the request that enqueued it, as the value of `traceparent`; nil without one.
  package let trace: String?

  package init(
    variables: String, scope: Scope, user: String?, partitions: String, sealedCredential: String?,
    overlays: [OverlayChange], trace: String? = nil
  ) {
    self.variables = variables
    self.scope = scope
    self.user = user
    self.partitions = partitions
    self.sealedCredential = sealedCredential
    self.overlays = overlays
    self.trace = trace
  }

  /// Returns the same payload with other overlays.
  func withOverlays(_ overlays: [OverlayChange]) -> MutationPayload {
    MutationPayload(
      variables: variables, scope: scope, user: user, partitions: partitions,
      sealedCredential: sealedCredential, overlays: overlays, trace: trace)
  }
}

/// The result of enqueuing one mutation.
package struct MutationReceipt: Hashable, Sendable {
  /// The mutation in its current state.
  package let mutation: Mutation
  /// Whether the idempotency key was already known, so that nothing was stored.
  package let isReplay: Bool
  package let supersedes: MutationID?
  /// Queued mutations promoted because the forced one conflicts with them, in send order.
  package var promoted: [MutationID] = []

  package init(
    mutation: Mutation, isReplay: Bool, supersedes: MutationID?, promoted: [MutationID] = []
  ) {
    self.mutation = mutation
    self.isReplay = isReplay
    self.supersedes = supersedes
    self.promoted = promoted
  }
}

/// The reason a batch of mutations was refused. Nothing of the batch is stored.
package enum ArrivalRefusal: Error, Hashable, Sendable {
  /// The idempotency key was used with another payload.
  case keyReused(index: Int)
  case refused(EnqueueRefusal, index: Int)
  /// The device would exceed its storage quota.
  case overQuota(DataQuota.Excess, index: Int)
  /// The device is not registered any more.
  case deviceGone

  /// Whether the first mutation of the batch was refused, so that nothing was written before.
  var isOfFirstMutation: Bool {
    switch self {
    case .keyReused(let index), .refused(_, let index), .overQuota(_, let index): index == 0
    case .deviceGone: true
    }
  }
}
