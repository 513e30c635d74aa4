import Synchronization
import Transport

/// A waiter for commits, which is woken and receives no data.
///
/// A wake without a waiting task is kept for the next wait, so a task that registers, then reads,
/// then waits misses nothing.
package final class ChangeListener: Sendable {
  private struct State {
    var wakes: WakeReasons = []
    var hasEnded = false
  }

  private let state = Mutex(State())
  private let signal = AsyncSignal()
  let wantsHeartbeats: Bool

  /// Whether no more wakes come. To be checked between reads that follow each other without a wait.
  package var hasEnded: Bool { state.withLock { $0.hasEnded } }

  init(wantsHeartbeats: Bool) {
    self.wantsHeartbeats = wantsHeartbeats
  }

  /// Waits for the next wake, or returns the pending ones. Only one task can wait at a time.
  package func next() async -> WakeReasons {
    while true {
      if Task.isCancelled { wake(.end) }
      let seen = signal.count
      if let wakes = takeWakes() { return wakes }
      await signal.wait(after: seen)
    }
  }

  /// Returns the pending wakes, and the end at each call; nil if there are none.
  private func takeWakes() -> WakeReasons? {
    state.withLock { state in
      if state.wakes.isEmpty && !state.hasEnded { return nil }
      defer { state.wakes = [] }
      return state.hasEnded ? state.wakes.union(.end) : state.wakes
    }
  }

  /// The maximum number of listeners woken on the caller's own thread; more are woken in a task of
  /// their own, so that no commit waits for them.
  private static let wokenAtOnceMax = 8

  /// Wakes several listeners.
  static func wake(_ listeners: [ChangeListener], _ wakes: WakeReasons) {
    guard listeners.count > wokenAtOnceMax else {
      for listener in listeners { listener.wake(wakes) }
      return
    }
    Task.detached { for listener in listeners { listener.wake(wakes) } }
  }

  func wake(_ wakes: WakeReasons) {
    state.withLock { state in
      state.wakes.formUnion(wakes)
      if wakes.contains(.end) { state.hasEnded = true }
    }
    signal.notify()
  }
}

/// The reasons for which a listener was woken; several can be pending.
package struct WakeReasons: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A commit or an invalidation touched the data that is listened to.
  package static let commit = WakeReasons(rawValue: 1)
  /// The commit touched the queue of the listener's device.
  package static let queue = WakeReasons(rawValue: 16)
  /// It is time for a heartbeat.
  package static let heartbeat = WakeReasons(rawValue: 2)
  /// The maximum wait is over.
  package static let alarm = WakeReasons(rawValue: 4)
  /// The service drains, the listener's device was removed, its user's token has expired, or its task
  /// was cancelled: no more wakes come.
  package static let end = WakeReasons(rawValue: 8)
}
