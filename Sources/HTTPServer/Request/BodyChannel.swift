import Synchronization

/// A channel that carries content from the connection's loop to its reader, and demand back.
final class BodyChannel: Sendable {
  /// Waiting bytes above which the socket is not read. A chunk that has already been read is always
  /// kept.
  static let highWatermark = 64 * 1024

  private struct State {
    var chunks: [[UInt8]] = []
    var bytes = 0
    var isFinished = false
    var failure: BodyReadError?
    var reader: CheckedContinuation<Void, Never>?
    /// Called when the reader has caught up.
    var demand: (@Sendable () -> Void)?
    /// Whether to call `demand` also when the reader first waits.
    var isAwaited = false
    /// Whether the socket is not read, from the first chunk above the watermark until the reader has
    /// caught up and `demand` is called. Chunks in between do not change it.
    var isBackedUp = false
  }

  private let state = Mutex(State())

  /// - Parameters:
  ///   - isAwaited: whether the client waits for `100 Continue`.
  ///   - demand: called, on any thread, when the reader has caught up after a backlog, and when it first
  ///     waits if the client does too.
  init(isAwaited: Bool = false, demand: (@Sendable () -> Void)? = nil) {
    state.withLock { state in
      state.demand = demand
      state.isAwaited = isAwaited
    }
  }

  /// Enqueues content. Returns whether the reader lags, so that reading should stop.
  @discardableResult
  func offer(_ chunk: [UInt8]) -> Bool {
    let (reader, isBackedUp) = state.withLock { state in
      guard !state.isFinished else { return (nil as CheckedContinuation<Void, Never>?, false) }
      state.chunks.append(chunk)
      state.bytes += chunk.count
      if state.bytes >= Self.highWatermark { state.isBackedUp = true }
      return (state.reader.take(), state.isBackedUp)
    }
    reader?.resume()
    return isBackedUp
  }

  /// Ends the content, complete or with an error. Without an error, enqueued content can still be read.
  func finish(_ failure: BodyReadError?) {
    let reader = state.withLock { state in
      guard !state.isFinished else { return nil as CheckedContinuation<Void, Never>? }
      state.isFinished = true
      state.failure = failure
      state.demand = nil
      return state.reader.take()
    }
    reader?.resume()
  }

  func next() async throws(BodyReadError) -> [UInt8]? {
    while true {
      switch take() {
      case .chunk(let chunk, let demand):
        demand?()
        return chunk
      case .end:
        return nil
      case .failed(let failure):
        throw failure
      case .nothingYet(let demand):
        if Task.isCancelled { throw .cancelled }
        demand?()
        await waitForChunk()
      }
    }
  }

  private enum Taken {
    case chunk([UInt8], demand: (@Sendable () -> Void)?)
    case nothingYet(demand: (@Sendable () -> Void)?)
    case end
    case failed(BodyReadError)
  }

  private func take() -> Taken {
    state.withLock { state in
      if let failure = state.failure { return .failed(failure) }
      guard !state.chunks.isEmpty else {
        if state.isFinished { return .end }
        let demand = state.isAwaited ? state.demand : nil
        state.isAwaited = false
        return .nothingYet(demand: demand)
      }
      // Few chunks wait at a time: each is one read of the socket.
      let chunk = state.chunks.removeFirst()
      state.bytes -= chunk.count
      let hasCaughtUp = state.isBackedUp && state.bytes < Self.highWatermark / 2
      if hasCaughtUp { state.isBackedUp = false }
      return .chunk(chunk, demand: hasCaughtUp ? state.demand : nil)
    }
  }

  private func waitForChunk() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if !state.chunks.isEmpty || state.isFinished || Task.isCancelled { return true }
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
