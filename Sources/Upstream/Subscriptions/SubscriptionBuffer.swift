import DequeModule
import Synchronization
import Transport

/// The events of one subscription between its connection and its only reader.
///
/// The reader, not the connection, parses and checks payloads, so that a large event delays only its
/// own subscription.
final class SubscriptionBuffer: Sendable {
  private struct State {
    var deliveries: Deque<SubscriptionDelivery> = []
    var byteCount = 0
    /// The link that delivers; nil before the first and after the end.
    var link: SubscriptionLink?
    var wasEstablished = false
    /// No further event is accepted; the ones that wait are read.
    var hasEnded = false
  }

  let number: Int
  let request: SubscriptionRequest
  private let limits: SubscriptionLimits
  private let state = Mutex(State())
  private let arrival = AsyncSignal()

  init(number: Int, request: SubscriptionRequest, limits: SubscriptionLimits) {
    self.number = number
    self.request = request
    self.limits = limits
  }

  /// Whether upstream has started the subscription before, on any connection.
  var wasEstablished: Bool { state.withLock { $0.wasEstablished } }

  /// Whether the connection can be read for further events.
  var hasRoom: Bool { state.withLock { hasRoom($0) } }

  private func hasRoom(_ state: borrowing State) -> Bool {
    state.deliveries.count < limits.eventsMax && state.byteCount < limits.eventBytesMax
  }

  /// - Returns: false if the subscription has ended, so that there is nothing to deliver to.
  func attach(to link: SubscriptionLink) -> Bool {
    state.withLock { state in
      if state.hasEnded { return false }
      state.link = link
      return true
    }
  }

  /// Adds an event, whether or not there is room: the connection stops reading instead.
  func append(_ delivery: SubscriptionDelivery) {
    state.withLock { state in
      guard !state.hasEnded else { return }
      switch delivery {
      case .next(let payload): state.byteCount += payload.message.count
      case .established: state.wasEstablished = true
      case .interrupted: Self.forgetInterruption(&state)
      case .complete, .failed:
        state.hasEnded = true
        state.link = nil
      }
      state.deliveries.append(delivery)
    }
    arrival.notify()
  }

  /// Removes an interruption that no event followed, so that a reader that does not read cannot
  /// accumulate them.
  private static func forgetInterruption(_ state: inout State) {
    if case .established(afterGap: true) = state.deliveries.last, state.deliveries.count > 1,
      case .interrupted = state.deliveries[state.deliveries.count - 2]
    {
      state.deliveries.removeLast()
    }
    if case .interrupted = state.deliveries.last { state.deliveries.removeLast() }
  }

  /// Returns the next event; nil after the last one, after ``end()``, and in a cancelled task.
  func next() async -> SubscriptionDelivery? {
    while true {
      let seen = arrival.count
      let (delivery, hasEnded, crowded) = state.withLock { state in
        let hadRoom = hasRoom(state)
        guard let delivery = state.deliveries.popFirst() else {
          return (SubscriptionDelivery?.none, state.hasEnded, SubscriptionLink?.none)
        }
        if case .next(let payload) = delivery { state.byteCount -= payload.message.count }
        return (delivery, false, hadRoom ? nil : state.link)
      }
      crowded?.noteRoom()
      if let delivery { return delivery }
      if hasEnded || Task.isCancelled { return nil }
      await arrival.wait(after: seen)
    }
  }

  /// Ends the subscription from the reader's side.
  func end() {
    let link = state.withLock { state in
      state.hasEnded = true
      state.deliveries = []
      state.byteCount = 0
      return state.link.take()
    }
    arrival.notify()
    link?.cancel(number)
  }
}
