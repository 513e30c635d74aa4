import DequeModule
import Synchronization
import WebSocketWire

/// The received messages between a connection's loop and their only reader.
final class WebSocketInbox: Sendable {
  private struct State {
    var messages: Deque<WebSocketMessage> = []
    var byteCount = 0
    var end: WebSocketClose?
    /// Whether the socket is not read, from the message that filled the inbox until the reader has taken
    /// half of them.
    var isBackedUp = false
    var reader: CheckedContinuation<Void, Never>?
  }

  private let messagesMax: Int
  private let bytesMax: Int
  private let state = Mutex(State())

  init(_ limits: WebSocketLimits) {
    messagesMax = max(1, limits.waitingMessagesMax)
    bytesMax = limits.waitingBytesMax
  }

  /// Adds a message. Returns whether to stop reading until the reader has caught up.
  func offer(_ message: WebSocketMessage) -> Bool {
    let (reader, isBackedUp) = state.withLock { state in
      guard state.end == nil else { return (nil as CheckedContinuation<Void, Never>?, false) }
      state.messages.append(message)
      state.byteCount += message.bytes.count
      if state.messages.count >= messagesMax || state.byteCount >= bytesMax {
        state.isBackedUp = true
      }
      return (state.reader.take(), state.isBackedUp)
    }
    reader?.resume()
    return isBackedUp
  }

  /// Whether the reader waits for a message, having handled all before it.
  var isReaderWaiting: Bool { state.withLock { $0.reader != nil } }

  /// Ends the messages; the first end counts.
  ///
  /// - Parameter dropsWaiting: whether messages that the reader has not taken are dropped.
  func finish(_ close: WebSocketClose, dropsWaiting: Bool = false) {
    let reader = state.withLock { state in
      if dropsWaiting {
        state.messages = []
        state.byteCount = 0
      }
      state.end = state.end ?? close
      return state.reader.take()
    }
    reader?.resume()
  }

  /// Returns the next message, and whether to resume reading the socket; or the end.
  func next() async -> Result<(message: WebSocketMessage, resumes: Bool), WebSocketClose> {
    while true {
      if let found = take() { return found }
      if Task.isCancelled { return .failure(.cancelled) }
      await waitForMessage()
    }
  }

  /// Returns the next message without waiting; nil if there is none yet.
  func take() -> Result<(message: WebSocketMessage, resumes: Bool), WebSocketClose>? {
    state.withLock { state in
      guard let message = state.messages.popFirst() else { return state.end.map { .failure($0) } }
      state.byteCount -= message.bytes.count
      let hasCaughtUp =
        state.isBackedUp && state.messages.count <= messagesMax / 2
        && state.byteCount <= bytesMax / 2
      if hasCaughtUp { state.isBackedUp = false }
      return .success((message, hasCaughtUp))
    }
  }

  private func waitForMessage() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if !state.messages.isEmpty || state.end != nil || Task.isCancelled { return true }
          state.reader = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.reader.take() }?.resume()
    }
  }
}
