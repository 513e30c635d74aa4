import Metrics
import Synchronization
import Transport

/// Writes lines on a thread of its own, in the order they come.
///
/// Whoever gives it lines never waits: a standard error that nobody reads costs lines, which are
/// counted, and not the service.
final class LineSink: Sendable {
  private struct State {
    var waiting: [[UInt8]] = []
    var waitingBytes = 0
    var isWriting = false
    var finishers: [CheckedContinuation<Void, Never>] = []
  }

  /// About 30,000 lines: seconds of a server at full load.
  private static let waitingBytesMax = 4 * 1024 * 1024

  private let write: @Sendable ([UInt8]) -> Void
  private let pool = BlockingPool(threadsMax: 1)
  private let dropped = Counter(label: "http_server_access_log_dropped_bytes_total")
  private let state = Mutex(State())

  init(write: @escaping @Sendable ([UInt8]) -> Void) {
    self.write = write
  }

  func take(_ lines: [UInt8]) {
    let (isRefused, isFirst) = state.withLock { state in
      guard state.waitingBytes + lines.count <= Self.waitingBytesMax else { return (true, false) }
      state.waiting.append(lines)
      state.waitingBytes += lines.count
      defer { state.isWriting = true }
      return (false, !state.isWriting)
    }
    if isRefused { dropped.increment(by: lines.count) }
    if isFirst { Task.detached { await self.pool.run { self.writeAll() } } }
  }

  /// Returns once nothing waits.
  func finish() async {
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        if state.isWriting { state.finishers.append(continuation) }
        return !state.isWriting
      }
      if isDone { continuation.resume() }
    }
  }

  private func writeAll() {
    while let lines = takeWaiting() {
      for each in lines { write(each) }
    }
  }

  /// What waits now; nil, and the writing is over, if nothing does.
  private func takeWaiting() -> [[UInt8]]? {
    let (lines, finishers) = state.withLock { state in
      guard state.waiting.isEmpty else {
        defer { state.waiting = [] }
        state.waitingBytes = 0
        return (state.waiting as [[UInt8]]?, [] as [CheckedContinuation<Void, Never>])
      }
      state.isWriting = false
      defer { state.finishers = [] }
      return (nil, state.finishers)
    }
    for finisher in finishers { finisher.resume() }
    return lines
  }
}
