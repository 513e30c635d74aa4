import Synchronization

/// Flow control for a request's content: the loop signals when the next piece can be sent, and the only
/// reader of the content waits for it.
final class OutgoingContent: Sendable {
  private enum Phase {
    /// The head is not sent yet.
    case waiting
    case flowing
    /// The stream's buffer is full.
    case full
    /// No more content is accepted: the response has begun, or there will be none.
    case over
  }

  /// The result of sending a piece.
  enum Outcome {
    case taken
    case over
  }

  private struct State {
    var phase = Phase.waiting
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func open() { enter(.flowing, from: .waiting) }
  func fill() { enter(.full, from: .flowing) }
  func drain() { enter(.flowing, from: .full) }

  func stop() {
    let waiter = state.withLock { state in
      state.phase = .over
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// Waits until a piece may be sent.
  ///
  /// - Returns: false if no more content is accepted.
  func room() async -> Bool {
    await withCheckedContinuation { continuation in
      let isDecided = state.withLock { state in
        switch state.phase {
        case .flowing, .over: return true
        case .waiting, .full:
          state.waiter = continuation
          return false
        }
      }
      if isDecided { continuation.resume() }
    }
    return state.withLock { $0.phase != .over }
  }

  private func enter(_ phase: Phase, from before: Phase) {
    let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
      guard state.phase == before else { return nil }
      state.phase = phase
      return phase == .flowing ? state.waiter.take() : nil
    }
    waiter?.resume()
  }
}
