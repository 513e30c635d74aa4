import Model
import Synchronization

/// A clock that goes on when a test says so and wakes who sleeps by it, and beside it a wall clock
/// that anybody may set.
final class VirtualTime: Sendable {
  private struct Sleeper {
    let wake: Duration
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var reading = Duration.zero
    var wallOffset = Duration.zero
    var sleepers: [Int: Sleeper] = [:]
    /// Those whose task was cancelled before they slept.
    var cancelled: Set<Int> = []
    var sleepCount = 0
  }

  private static let start = Timestamp(milliseconds: 1_700_000_000_000)

  private let state = Mutex(State())

  /// Only runs forward.
  var reading: Duration { state.withLock { $0.reading } }

  var wall: Timestamp {
    state.withLock { Self.start.advanced(by: $0.reading + $0.wallOffset) }
  }

  /// What the trusted clock shows, whatever the wall clock is set to.
  var lived: Timestamp { Self.start.advanced(by: reading) }

  /// When the first sleeper wakes; nil while nobody sleeps.
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

  /// Ends when the time has come, or throws with its task.
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
