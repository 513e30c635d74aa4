/// Opens subscriptions to one upstream.
package protocol SubscriptionOpening: Sendable {
  /// Begins a subscription. Never fails itself: a failure is the subscription's last event.
  ///
  /// - Parameters:
  ///   - call: the headers that the connection or the subscription is opened with.
  ///   - credential: an opaque name of that credential. Subscriptions of one name share connections,
  ///     so callers with different rights must have different names.
  func open(
    _ operation: RegisteredOperation, variables: Variables, call: UpstreamCall, credential: String
  ) -> UpstreamSubscription

  /// Gives the connections of a credential newer headers of it: a caller's new token. The next connection
  /// uses them, so that one that upstream closes for an expired token is made again with the new one. The
  /// present one stays as long as upstream accepts it: callers with two valid tokens would otherwise cause
  /// a gap with each request.
  func renew(
    _ operation: RegisteredOperation, credential: String, with call: UpstreamCall)

  /// Whether settings switch off subscriptions to the operation's upstream.
  func isOff(for operation: RegisteredOperation) -> Bool
}

extension SubscriptionOpening {
  package func isOff(for operation: RegisteredOperation) -> Bool { false }
}

/// What happens to a subscription, in order.
package enum SubscriptionEvent: Sendable {
  /// Upstream has started it, or started it again. After a gap, events may have been lost since the
  /// last one.
  case established(afterGap: Bool)
  /// An event, checked against the operation's selection.
  case next(UpstreamResponse)
  /// The connection is lost or cannot be made; it is made again after a delay.
  case interrupted(UpstreamFailure)
  /// Upstream has ended it. The last event.
  case complete
  /// It was refused, or ended with errors. The last event.
  case failed(UpstreamFailure)
}
