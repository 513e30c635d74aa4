import Synchronization
import TestSupport

@testable import Traces

/// A tracer with a clock and random numbers of a test, and the spans that it has recorded.
final class SpanWorld: Sendable {
  private struct State {
    var nanoseconds: UInt64 = 1_000
    var generator: SeededGenerator
  }

  private final class Source: Sendable {
    let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(generator: SeededGenerator(seed: seed))) }
  }

  let tracer: SpanTracer
  private let source: Source

  init(share: Double = 1, seed: UInt64 = 7) {
    let source = Source(seed: seed)
    self.source = source
    tracer = SpanTracer(
      ratio: SamplingRatio(share), buffer: SpanBuffer { _ in },
      random: { source.state.withLock { $0.generator.next() } },
      clock: { source.state.withLock { $0.nanoseconds } })
  }

  func setTime(_ nanoseconds: UInt64) { source.state.withLock { $0.nanoseconds = nanoseconds } }

  /// Removes and returns the spans that have ended, in the order of their ends.
  func recorded() -> [SpanRecord] { tracer.buffer.take(countMax: .max, bytesMax: .max) }
}
