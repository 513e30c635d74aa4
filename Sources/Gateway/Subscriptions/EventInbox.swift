import DequeModule
import LosslessJSON
import Synchronization
import Transport
import Upstream

/// Events of one upstream subscription that wait to be stored together.
///
/// It is bounded: while it is full nothing is read from upstream, which in turn stops reading the
/// connection.
final class EventInbox: Sendable {
  /// An event, and when it came by a monotonic clock.
  struct Arrival: Sendable {
    let event: SubscriptionEvent
    let at: Duration
  }

  /// The maximum number of events that are stored in one transaction.
  static let eventsMax = 256
  /// The size of waiting events from which no further one is added.
  private static let bytesMax = 8 << 20

  private struct State {
    var arrivals: Deque<Arrival> = []
    var bytes = 0
    var hasEnded = false
    var isClosed = false
  }

  private let state = Mutex(State())
  private let added = AsyncSignal()
  private let taken = AsyncSignal()
  private let uptime: @Sendable () -> Duration

  init(uptime: @escaping @Sendable () -> Duration) {
    self.uptime = uptime
  }

  /// Reads a subscription until it ends or the inbox is closed.
  func fill(from subscription: UpstreamSubscription) async {
    while let event = await subscription.next() {
      guard await add(event) else { break }
    }
    state.withLock { $0.hasEnded = true }
    added.notify()
  }

  private func add(_ event: SubscriptionEvent) async -> Bool {
    let bytes = event.byteCount
    while true {
      let seen = taken.count
      let outcome = state.withLock { state -> Bool? in
        if state.isClosed { return false }
        guard state.arrivals.count < Self.eventsMax, state.bytes < Self.bytesMax else { return nil }
        state.arrivals.append(Arrival(event: event, at: uptime()))
        state.bytes += bytes
        return true
      }
      if let outcome {
        added.notify()
        return outcome
      }
      await taken.wait(after: seen, ignoresCancellation: true)
    }
  }

  /// Waits for events and takes all that are there; empty at the end.
  func take() async -> [Arrival] {
    while true {
      let seen = added.count
      let (arrivals, isOver) = state.withLock { state in
        defer { (state.arrivals, state.bytes) = ([], 0) }
        return (Array(state.arrivals), state.hasEnded || state.isClosed)
      }
      if !arrivals.isEmpty {
        taken.notify()
        return arrivals
      }
      if isOver { return [] }
      await added.wait(after: seen, ignoresCancellation: true)
    }
  }

  /// Ends ``take()`` and ``fill(from:)``.
  func close() {
    state.withLock { $0.isClosed = true }
    added.notify()
    taken.notify()
  }
}

extension SubscriptionEvent {
  fileprivate var byteCount: Int {
    if case .next(let response) = self { response.document.bytes.count } else { 0 }
  }
}
