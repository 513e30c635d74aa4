import Metrics
import Synchronization
import Transport

/// Writer of lines on its own thread, in the order of arrival.
///
/// Callers never wait: an unread standard error costs lines, not the service. Lost lines are counted in
/// a metric, and a line reports their number once lines can be written again.
package final class LineSink: Sendable {
  private struct State {
    var waiting: [[UInt8]] = []
    var waitingBytes = 0
    /// Lines dropped since the last line that reported dropped lines.
    var lostLines = 0
    var isWriting = false
  }

  /// About 30,000 lines: seconds of a server at full load.
  private static let waitingBytesMax = 4 * 1024 * 1024

  private let write: @Sendable ([UInt8]) -> Void
  private let lostLine: @Sendable (Int) -> [UInt8]
  private let observe: (@Sendable ([UInt8]) -> Void)?
  private let pool = BlockingPool(threadsMax: 1)
  private let droppedBytes = Counter(label: "larder.log.dropped.bytes")
  private let droppedLines = Counter(label: "larder.log.dropped.lines")
  private let state = Mutex(State())
  /// Notified when all lines are written.
  private let written = AsyncSignal()

  /// - Parameters:
  ///   - lostLine: makes the line that reports the number of lost lines.
  ///   - observe: called with all lines that are submitted, also those that are lost; must be quick.
  ///   - write: writes whole lines; may block.
  package init(
    lostLine: @escaping @Sendable (Int) -> [UInt8] = { _ in [] },
    observe: (@Sendable ([UInt8]) -> Void)? = nil,
    write: @escaping @Sendable ([UInt8]) -> Void
  ) {
    self.lostLine = lostLine
    self.observe = observe
    self.write = write
  }

  /// Submits complete lines.
  package func take(_ lines: [UInt8]) {
    observe?(lines)
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

  /// Waits until all lines are written, at most for `limit`; after that, waiting lines are lost.
  package func finish(within limit: Duration) async {
    let seen = state.withLock { $0.isWriting ? written.count : nil }
    guard let seen else { return }
    await written.wait(after: seen, atMost: limit, ignoresCancellation: true)
  }

  private func writeAll() {
    while let lines = takeWaiting() {
      for each in lines { write(each) }
    }
  }

  /// Returns the waiting lines; nil ends the writing if there are none.
  private func takeWaiting() -> [[UInt8]]? {
    let (lines, lost) = state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isWriting = false
        // With the lock held, so that it is true when the signal comes.
        written.notify()
        return ([[UInt8]](), 0)
      }
      defer {
        state.waiting = []
        state.waitingBytes = 0
        state.lostLines = 0
      }
      return (state.waiting, state.lostLines)
    }
    guard !lines.isEmpty else { return nil }
    // The waiting lines arrived before the lost ones.
    return lost > 0 ? lines + [lostLine(lost)] : lines
  }
}
