import Synchronization

/// When the next piece of a request's content may be sent: told by the loop, awaited by whoever
/// reads the content. One reader.
final class OutgoingContent: Sendable {
  private enum Phase {
    /// The head is not sent yet.
    case waiting
    case flowing
    /// As much waits in the stream as may.
    case full
    /// Nobody takes more: the answer has begun, or there will be none.
    case over
  }

  /// What came of handing a piece over.
  enum Outcome {
    case taken
    case over
  }

  private struct State {
    var phase = Phase.waiting
    var waiter: CheckedContinuation<Void, Never>?
  }

  let byteCount: Int
  private let state = Mutex(State())

  init(byteCount: Int) {
    self.byteCount = byteCount
  }

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
  /// - Returns: false where none may any more.
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
