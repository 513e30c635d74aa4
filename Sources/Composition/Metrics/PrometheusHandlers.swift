import CoreMetrics
import Synchronization

/// A counter: a number that only grows.
final class PrometheusCounter: CounterHandler, Sendable {
  private let count = Atomic<Int64>(0)

  var value: Int64 { count.load(ordering: .relaxed) }

  func increment(by amount: Int64) {
    count.wrappingAdd(amount, ordering: .relaxed)
  }

  func reset() {
    count.store(0, ordering: .relaxed)
  }
}

/// A gauge: the last value recorded, or a sum of changes.
final class PrometheusGauge: MeterHandler, RecorderHandler, Sendable {
  private let current = Mutex<Double>(0)

  var value: Double { current.withLock { $0 } }

  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { current.withLock { $0 = value } }
  func increment(by amount: Double) { current.withLock { $0 += amount } }
  func decrement(by amount: Double) { current.withLock { $0 -= amount } }
  func record(_ value: Int64) { set(Double(value)) }
  func record(_ value: Double) { set(value) }
}

/// A histogram: a distribution in cumulative buckets, with the sum and the count of values.
final class PrometheusHistogram: TimerHandler, RecorderHandler, Sendable {
  enum Buckets {
    case seconds
    case powersOfTen

    var upperBounds: [Double] {
      switch self {
      case .seconds:
        [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
      case .powersOfTen: [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000]
      }
    }
  }

  private struct State {
    var counts: [UInt64]
    var sum: Double = 0
  }

  private let upperBounds: [Double]
  private let state: Mutex<State>

  init(buckets: Buckets) {
    upperBounds = buckets.upperBounds
    state = Mutex(State(counts: Array(repeating: 0, count: buckets.upperBounds.count + 1)))
  }

  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) {
    let bucket = upperBounds.firstIndex { value <= $0 } ?? upperBounds.count
    state.withLock { state in
      state.counts[bucket] += 1
      state.sum += value
    }
  }

  /// The lines of the series in the text format, buckets in ascending order.
  func lines(name: String, labels: String) -> [String] {
    let (counts, sum) = state.withLock { ($0.counts, $0.sum) }
    let inner = labels.dropFirst().dropLast()
    var total: UInt64 = 0
    var lines: [String] = []
    for (bound, count) in zip(upperBounds.map { "\($0)" } + ["+Inf"], counts) {
      total += count
      let pairs = (inner.isEmpty ? "" : inner + ",") + "le=\"\(bound)\""
      lines.append("\(name)_bucket{\(pairs)} \(total)")
    }
    return lines + ["\(name)_sum\(labels) \(sum)", "\(name)_count\(labels) \(total)"]
  }
}
