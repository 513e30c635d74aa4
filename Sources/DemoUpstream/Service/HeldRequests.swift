import Synchronization

/// Requests that get no answer for now: each waits until all are released or its client is gone.
final class HeldRequests: Sendable {
  private struct State: Sendable {
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    /// Cancelled before they began to wait.
    var cancelled: Set<UInt64> = []
    var numberNext: UInt64 = 0
    var releases: UInt64 = 0
  }

  /// How often all were released so far.
  struct Moment: Equatable, Sendable {
    fileprivate let releases: UInt64
  }

  private let state = Mutex(State())

  /// How many are waiting.
  var count: Int { state.withLock { $0.waiting.count } }

  /// To be taken before a request is told to wait: a release may come before it does.
  var moment: Moment { state.withLock { Moment(releases: $0.releases) } }

  /// Returns at once where all were released after the moment.
  func wait(since moment: Moment) async {
    let number = state.withLock { state in
      state.numberNext += 1
      return state.numberNext
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.cancelled.remove(number) != nil { return true }
          if state.releases != moment.releases { return true }
          state.waiting[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
        if let waiting = state.waiting.removeValue(forKey: number) { return waiting }
        state.cancelled.insert(number)
        return nil
      }
      continuation?.resume()
    }
    _ = state.withLock { $0.cancelled.remove(number) }
  }

  func releaseAll() {
    let released = state.withLock { state in
      defer { state.waiting = [:] }
      state.releases += 1
      return Array(state.waiting.values)
    }
    for continuation in released { continuation.resume() }
  }
}
