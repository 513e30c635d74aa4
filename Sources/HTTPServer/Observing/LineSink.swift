import Metrics
import Synchronization
import Transport

/// Writes lines on a thread of its own, in the order they come.
///
/// Callers never wait: a standard error that nobody reads costs lines, and not the service. Lost
/// lines are counted in a metric, and a line tells their number once lines can be written again.
package final class LineSink: Sendable {
  private struct State {
    var waiting: [[UInt8]] = []
    var waitingBytes = 0
    /// Lines dropped since the last line that told of any.
    var lostLines = 0
    var isWriting = false
    var finishers: [Int: CheckedContinuation<Void, Never>] = [:]
    var finisherCount = 0
  }

  /// About 30,000 lines: seconds of a server at full load.
  private static let waitingBytesMax = 4 * 1024 * 1024

  private let write: @Sendable ([UInt8]) -> Void
  private let lostLine: @Sendable (Int) -> [UInt8]
  private let pool = BlockingPool(threadsMax: 1)
  private let droppedBytes = Counter(label: "larder.log.dropped.bytes")
  private let droppedLines = Counter(label: "larder.log.dropped.lines")
  private let state = Mutex(State())

  /// - Parameters:
  ///   - lostLine: makes the line that tells how many were lost.
  ///   - write: writes whole lines; may block.
  package init(
    lostLine: @escaping @Sendable (Int) -> [UInt8] = { _ in [] },
    write: @escaping @Sendable ([UInt8]) -> Void
  ) {
    self.lostLine = lostLine
    self.write = write
  }

  /// Takes over whole lines.
  package func take(_ lines: [UInt8]) {
    let count = lines.count { $0 == UInt8(ascii: "\n") }
    let (isRefused, isFirst) = state.withLock { state in
      guard state.waitingBytes + lines.count <= Self.waitingBytesMax else {
        state.lostLines += count
        return (true, false)
      }
      state.waiting.append(lines)
      state.waitingBytes += lines.count
      defer { state.isWriting = true }
      return (false, !state.isWriting)
    }
    if isRefused {
      droppedBytes.increment(by: lines.count)
      droppedLines.increment(by: count)
    }
    if isFirst { pool.submit { self.writeAll() } }
  }

  /// Returns once nothing waits, or the time is over: then what waits is lost.
  package func finish(within limit: Duration) async {
    let number = state.withLock { state in
      state.finisherCount += 1
      return state.finisherCount
    }
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        if state.isWriting { state.finishers[number] = continuation }
        return !state.isWriting
      }
      if isDone { return continuation.resume() }
      Task.detached {
        try? await Task.sleep(for: limit)
        self.state.withLock { $0.finishers.removeValue(forKey: number) }?.resume()
      }
    }
  }

  private func writeAll() {
    while let lines = takeWaiting() {
      for each in lines { write(each) }
    }
  }

  /// What waits now; nil, and the writing is over, if nothing does.
  private func takeWaiting() -> [[UInt8]]? {
    let (lines, lost, finishers) = state.withLock { state in
      guard state.waiting.isEmpty else {
        defer {
          state.waiting = []
          state.lostLines = 0
        }
        state.waitingBytes = 0
        return (
          state.waiting as [[UInt8]]?, state.lostLines,
          [:] as [Int: CheckedContinuation<Void, Never>]
        )
      }
      state.isWriting = false
      defer { state.finishers = [:] }
      return (nil, 0, state.finishers)
    }
    for finisher in finishers.values { finisher.resume() }
    guard let lines else { return nil }
    // Those that wait came before those that were lost.
    return lost > 0 ? lines + [lostLine(lost)] : lines
  }
}
