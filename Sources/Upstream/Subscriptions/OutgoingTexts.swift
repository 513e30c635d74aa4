import DequeModule
import Synchronization
import Transport

/// The messages of one connection that wait to be sent.
final class OutgoingTexts: Sendable {
  private struct State {
    var texts: Deque<[UInt8]> = []
    var hasEnded = false
  }

  private let countMax: Int
  private let state = Mutex(State())
  private let arrival = AsyncSignal()

  init(countMax: Int) {
    self.countMax = countMax
  }

  /// - Returns: false if too many wait; then the message is not added.
  func append(_ text: [UInt8]) -> Bool {
    let isAdded = state.withLock { state in
      guard state.texts.count < countMax else { return false }
      if !state.hasEnded { state.texts.append(text) }
      return true
    }
    arrival.notify()
    return isAdded
  }

  /// Drops what waits.
  func finish() {
    state.withLock { state in
      state.hasEnded = true
      state.texts = []
    }
    arrival.notify()
  }

  /// Returns the next message; nil after ``finish()`` and in a cancelled task.
  func next() async -> [UInt8]? {
    while true {
      let seen = arrival.count
      let (text, hasEnded) = state.withLock { ($0.texts.popFirst(), $0.hasEnded) }
      if let text { return text }
      if hasEnded || Task.isCancelled { return nil }
      await arrival.wait(after: seen)
    }
  }
}
