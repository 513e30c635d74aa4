/// One subscription's events. Released without its end, it is cancelled.
package final class UpstreamSubscription: Sendable {
  private let source: @Sendable () async -> SubscriptionEvent?
  private let stop: @Sendable () -> Void

  /// - Parameters:
  ///   - next: returns nil after the last event, and after `cancel`.
  ///   - cancel: can be called more than once.
  package init(
    next: @escaping @Sendable () async -> SubscriptionEvent?,
    cancel: @escaping @Sendable () -> Void
  ) {
    source = next
    stop = cancel
  }

  deinit { stop() }

  /// Returns the next event; nil after the last one, after ``cancel()``, and when the task is
  /// cancelled. Supports one reader at a time.
  package func next() async -> SubscriptionEvent? { await source() }

  /// Ends the subscription at upstream. Events that wait are dropped.
  package func cancel() { stop() }
}
