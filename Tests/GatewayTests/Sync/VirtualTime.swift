import Model
import Synchronization

/// A clock that advances only when a test says so and wakes its sleepers, and a wall clock that can be
/// set.
final class VirtualTime: Sendable {
  private struct Sleeper {
    let wake: Duration
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var reading = Duration.zero
    var wallOffset = Duration.zero
    var sleepers: [Int: Sleeper] = [:]
    /// Sleepers whose task was cancelled before they slept.
    var cancelled: Set<Int> = []
    var sleepCount = 0
  }

  private static let start = Timestamp(milliseconds: 1_700_000_000_000)

  private let state = Mutex(State())

  /// The monotonic time.
  var reading: Duration { state.withLock { $0.reading } }

  var wall: Timestamp {
    state.withLock { Self.start.advanced(by: $0.reading + $0.wallOffset) }
  }

  /// The time of the trusted clock, whatever the wall clock is set to.
  var lived: Timestamp { Self.start.advanced(by: reading) }

  /// When the first sleeper wakes; nil if there is none.
  var nextWake: Duration? {
    state.withLock { $0.sleepers.values.map(\.wake).min() }
  }

  func setWall(forwardBy jump: Duration) {
    state.withLock { $0.wallOffset += jump }
  }

  func advance(to reading: Duration) {
    let woken = state.withLock { state -> [Sleeper] in
      state.reading = max(state.reading, reading)
      let due = state.sleepers.filter { $0.value.wake <= state.reading }
      for id in due.keys { state.sleepers[id] = nil }
      return due.values.sorted { $0.wake < $1.wake }
    }
    for sleeper in woken { sleeper.continuation.resume() }
  }

  func advance(by duration: Duration) { advance(to: reading + duration) }

  /// Sleeps until the time has come, or throws if the task is cancelled.
  func sleep(_ duration: Duration) async throws {
    let id = state.withLock { state in
      state.sleepCount += 1
      return state.sleepCount
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Void, any Error>) in
        let isCancelled = state.withLock { state in
          if state.cancelled.remove(id) != nil { return true }
          state.sleepers[id] = Sleeper(
            wake: state.reading + duration, continuation: continuation)
          return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: id)
        if sleeper == nil { state.cancelled.insert(id) }
        return sleeper
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}
