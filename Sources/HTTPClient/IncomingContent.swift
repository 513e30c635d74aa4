import DequeModule
import Synchronization

/// A response's content between the loop and its only reader.
final class IncomingContent: Sendable {
  /// Waiting bytes above which the connection is not read.
  private static let waitingBytesMax = 256 << 10

  private struct State {
    var pieces: Deque<[UInt8]> = []
    var byteCount = 0
    var isPaused = false
    var end: Result<Void, HTTPClientError>?
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  /// Whether the response is complete or failed.
  var hasEnded: Bool { state.withLock { $0.end != nil } }

  /// Adds content.
  ///
  /// - Returns: whether to stop reading the connection until the reader has caught up.
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let (waiter, pauses) = state.withLock { state in
      state.pieces.append(Array(bytes))
      state.byteCount += bytes.count
      let pauses = !state.isPaused && state.byteCount > Self.waitingBytesMax
      if pauses { state.isPaused = true }
      return (state.waiter.take(), pauses)
    }
    waiter?.resume()
    return pauses
  }

  /// Ends the content.
  func finish(_ end: Result<Void, HTTPClientError>) {
    let waiter = state.withLock { state in
      state.end = state.end ?? end
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// Returns the next piece, nil at the end, and whether to resume reading the connection.
  func next() async throws(HTTPClientError) -> (piece: [UInt8]?, resumes: Bool) {
    while true {
      if let found = state.withLock({ Self.take(&$0) }) { return try found.get() }
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          if !state.pieces.isEmpty || state.end != nil { return true }
          state.waiter = continuation
          return false
        }
        if isThere { continuation.resume() }
      }
    }
  }

  /// - Returns: nil if nothing has arrived yet.
  private static func take(
    _ state: inout State
  ) -> Result<(piece: [UInt8]?, resumes: Bool), HTTPClientError>? {
    if let piece = state.pieces.popFirst() {
      state.byteCount -= piece.count
      let resumes = state.isPaused && state.byteCount <= waitingBytesMax / 2
      if resumes { state.isPaused = false }
      return .success((piece, resumes))
    }
    switch state.end {
    case nil: return nil
    case .success: return .success((nil, false))
    case .failure(let error): return .failure(error)
    }
  }
}
