import Metrics
import Synchronization

/// Metrics of one upstream's live side, and the same counts for operators.
final class SubscriptionMeters: Sendable {
  private let connections: Meter
  private let reconnects: Counter
  private let gaps: Counter
  private let refusals: Counter
  private let state = Mutex(LiveSideStatus())

  init(upstream: String) {
    let dimensions = [("upstream", upstream)]
    connections = Meter(label: "larder.subscription.connections", dimensions: dimensions)
    reconnects = Counter(label: "larder.subscription.reconnects", dimensions: dimensions)
    gaps = Counter(label: "larder.subscription.gaps", dimensions: dimensions)
    refusals = Counter(label: "larder.subscription.refusals", dimensions: dimensions)
  }

  var status: LiveSideStatus { state.withLock { $0 } }

  func connectionOpened() {
    connections.increment()
    state.withLock { $0.connections += 1 }
  }

  func connectionClosed() {
    connections.decrement()
    state.withLock { $0.connections -= 1 }
  }

  func noteReconnect() {
    reconnects.increment()
    state.withLock { $0.reconnects += 1 }
  }

  func noteGap() {
    gaps.increment()
    state.withLock { $0.gaps += 1 }
  }

  /// Records that upstream did not accept the credential of a subscription.
  func noteRefusal() {
    refusals.increment()
    state.withLock { $0.refusals += 1 }
  }
}

/// The connections for subscriptions of one upstream, for operators.
package struct LiveSideStatus: Hashable, Sendable {
  /// Those that are open now.
  package fileprivate(set) var connections = 0
  /// Connections that were made again after a loss, since the start.
  package fileprivate(set) var reconnects = 0
  /// Interruptions after which a subscription went on, since the start.
  package fileprivate(set) var gaps = 0
  /// Subscriptions whose credential upstream did not accept, since the start.
  package fileprivate(set) var refusals = 0
}
