import CoreMetrics
import Gateway
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

/// A histogram: a distribution in buckets, with the sum and the count of values.
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

  private let bounds: [Double]
  private let state: Mutex<MetricFamily.Histogram>

  var value: MetricFamily.Histogram { state.withLock { $0 } }

  init(buckets: Buckets) {
    let bounds = buckets.upperBounds
    self.bounds = bounds
    state = Mutex(
      MetricFamily.Histogram(
        bounds: bounds, counts: Array(repeating: 0, count: bounds.count + 1), sum: 0))
  }

  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) {
    let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
    state.withLock { histogram in
      histogram.counts[bucket] += 1
      histogram.sum += value
    }
  }
}
