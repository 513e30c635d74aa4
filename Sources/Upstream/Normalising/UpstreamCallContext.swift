package import Model

/// What the store must know of an upstream call beside its answer.
package struct UpstreamCallContext: Sendable {
  package let call: CallNumber
  /// The oldest call still in flight.
  package let horizon: CallNumber
  package let received: Timestamp
  /// Under which the answer is kept: the public one unless a user's credential was sent.
  package let scope: Scope

  package init(call: CallNumber, horizon: CallNumber, received: Timestamp, scope: Scope) {
    self.call = call
    self.horizon = horizon
    self.received = received
    self.scope = scope
  }
}
