import DequeModule
import Synchronization
package import Transport

/// The spans that wait for their export, limited in number and bytes.
///
/// A span that finds no room is dropped and counted: nothing ever waits for the exporter.
package final class SpanBuffer: Sendable {
  private struct State {
    var spans = Deque<SpanRecord>()
    var byteCount = 0
    var hasEnded = false
  }

  /// Spans that wait.
  package static let countMax = 4_096
  /// Their approximate size.
  package static let bytesMax = 4 << 20
  /// Spans after which an export begins without waiting for more.
  package static let batchMax = 512

  /// Notified when a batch is full, and at the end.
  package let isDue = AsyncSignal()
  private let countMax: Int
  private let bytesMax: Int
  private let noteDropped: @Sendable (Int) -> Void
  private let state = Mutex(State())

  /// - Parameter noteDropped: called with the number of spans that found no room; it must not wait.
  package init(
    countMax: Int = SpanBuffer.countMax, bytesMax: Int = SpanBuffer.bytesMax,
    noteDropped: @escaping @Sendable (Int) -> Void
  ) {
    self.countMax = countMax
    self.bytesMax = bytesMax
    self.noteDropped = noteDropped
  }

  /// The number of waiting spans.
  package var count: Int { state.withLock { $0.spans.count } }

  /// Adds a span, or drops it if there is no room.
  package func add(_ span: SpanRecord) {
    let size = span.byteCount
    let (isDropped, isFull) = state.withLock { state in
      guard !state.hasEnded, state.spans.count < countMax, state.byteCount + size <= bytesMax
      else { return (true, false) }
      state.spans.append(span)
      state.byteCount += size
      // Once a batch: each signal wakes the exporter.
      return (false, state.spans.count % Self.batchMax == 0)
    }
    if isDropped { noteDropped(1) }
    if isFull { isDue.notify() }
  }

  /// Removes and returns the oldest spans.
  ///
  /// - Parameters:
  ///   - countMax: spans at most.
  ///   - bytesMax: their approximate size at most; a larger one comes alone.
  package func take(countMax: Int = SpanBuffer.batchMax, bytesMax: Int) -> [SpanRecord] {
    state.withLock { state in
      var taken: [SpanRecord] = []
      var bytesLeft = bytesMax
      while taken.count < countMax, let next = state.spans.first {
        let size = next.byteCount
        guard size <= bytesLeft || taken.isEmpty else { break }
        bytesLeft -= size
        state.byteCount -= size
        taken.append(state.spans.removeFirst())
      }
      return taken
    }
  }

  /// Accepts no more spans, and wakes the exporter.
  package func end() {
    state.withLock { $0.hasEnded = true }
    isDue.notify()
  }

  /// Makes the exporter take what there is, without waiting for a full batch.
  package func wakeExporter() { isDue.notify() }

  package var hasEnded: Bool { state.withLock { $0.hasEnded } }
}
