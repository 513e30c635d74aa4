import Metrics

/// Counters of one operation's subscriptions.
struct SharedSubscriptionMeters: Sendable {
  private let events: Counter
  private let clientGaps: Counter
  private let lag: Timer

  init(operation: String) {
    events = Counter(label: "larder.subscription.events", dimensions: [("operation", operation)])
    clientGaps = Counter(
      label: "larder.subscription.client.gaps", dimensions: [("operation", operation)])
    lag = Timer(label: "larder.subscription.lag", dimensions: [("operation", operation)])
  }

  func noteEvents(_ count: Int) { events.increment(by: count) }

  /// Records clients that read too slowly and lost events. Gaps between upstream and this service are
  /// counted where its connections are.
  func noteSlowClients(_ count: Int) { if count > 0 { clientGaps.increment(by: count) } }

  /// Records the time from an event's arrival until its last client took it.
  func noteLag(_ duration: Duration) { lag.recordNanoseconds(duration.nanoseconds) }
}

extension Duration {
  /// Whole nanoseconds, saturating.
  fileprivate var nanoseconds: Int64 {
    let (seconds, overflow) = components.seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : seconds &+ components.attoseconds / 1_000_000_000
  }
}
