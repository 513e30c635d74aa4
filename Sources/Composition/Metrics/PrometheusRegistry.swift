package import CoreMetrics
package import Gateway
import Synchronization

/// The backend of swift-metrics for `/metrics`, and the collector of metrics that modules count by
/// themselves.
///
/// Dots in a label become underscores; counters end in `_total`, timers in `_seconds`. Handlers exist
/// as long as the process; modules make each once. ``MetricCatalogue`` describes each family.
package final class PrometheusRegistry: MetricsFactory, Sendable {
  private struct Series: Hashable {
    let name: String
    /// In alphabetical order.
    let labels: [MetricFamily.Label]

    /// The same without the labels that only operators may see.
    var open: Series {
      Series(name: name, labels: labels.filter { !hostLabels.contains($0.name) })
    }
  }

  /// Labels whose values reveal addresses of the operator's network.
  private static let hostLabels: Set<String> = ["origin"]

  private struct State {
    var counters: [Series: PrometheusCounter] = [:]
    var gauges: [Series: PrometheusGauge] = [:]
    var histograms: [Series: PrometheusHistogram] = [:]
  }

  /// In a struct because `Mutex` wraps a closure that it holds directly again at each access.
  private struct Collectors {
    var all: [@Sendable () -> [MetricFamily]] = []
  }

  private let state = Mutex(State())
  private let collectors = Mutex(Collectors())
  private let base: PrometheusRegistry?

  /// The registry of the process, which all metrics of swift-metrics go to from its first use on.
  package static let ofProcess: PrometheusRegistry = {
    let registry = PrometheusRegistry()
    MetricsSystem.bootstrap(registry)
    return registry
  }()

  /// - Parameter base: a registry whose families this one shows too: that of the process, of which
  ///   there can be only one, for one of several services in it.
  package init(base: PrometheusRegistry? = nil) {
    self.base = base
  }

  /// Adds families that are counted elsewhere.
  ///
  /// - Parameter families: called at each reading of the metrics; must be quick.
  package func collect(_ families: @escaping @Sendable () -> [MetricFamily]) {
    collectors.withLock { $0.all.append(families) }
  }

  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    let series = Self.series(label, dimensions, suffix: "_total")
    return state.withLock { $0.counters.existing(series, or: PrometheusCounter()) }
  }

  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    let series = Self.series(label, dimensions, suffix: "")
    return state.withLock { $0.gauges.existing(series, or: PrometheusGauge()) }
  }

  package func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    let series = Self.series(label, dimensions, suffix: "")
    guard aggregate else {
      return state.withLock { $0.gauges.existing(series, or: PrometheusGauge()) }
    }
    return state.withLock {
      $0.histograms.existing(series, or: PrometheusHistogram(buckets: .powersOfTen))
    }
  }

  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    let series = Self.series(label, dimensions, suffix: "_seconds")
    return state.withLock {
      $0.histograms.existing(series, or: PrometheusHistogram(buckets: .seconds))
    }
  }

  package func destroyCounter(_ handler: any CounterHandler) {}
  package func destroyMeter(_ handler: any MeterHandler) {}
  package func destroyRecorder(_ handler: any RecorderHandler) {}
  package func destroyTimer(_ handler: any TimerHandler) {}

  /// Every family in alphabetical order, each with its samples in the order of their labels.
  ///
  /// - Parameter showsHosts: whether labels name the hosts that are called. If not, the series of all
  ///   hosts are merged: counters and gauges are summed, histograms by host are omitted.
  package func families(showsHosts: Bool) -> [MetricFamily] {
    var families = Dictionary(
      (base?.families(showsHosts: showsHosts) ?? []).map { ($0.name, $0) },
      uniquingKeysWith: { first, _ in first })
    let (counters, gauges, histograms) = state.withLock { ($0.counters, $0.gauges, $0.histograms) }
    func add(_ series: Series, _ kind: MetricFamily.Kind, _ value: MetricFamily.Value) {
      families[series.name, default: MetricFamily(series.name, kind, [])].samples.append(
        MetricFamily.Sample(labels: series.labels, value: value))
    }
    let counts = counters.map { ($0.key, Double($0.value.value)) }
    for (series, value) in Self.sums(of: counts, showsHosts: showsHosts) {
      add(series, .counter, .number(value))
    }
    let levels = gauges.map { ($0.key, $0.value.value) }
    for (series, value) in Self.sums(of: levels, showsHosts: showsHosts) {
      add(series, .gauge, .number(value))
    }
    for (series, histogram) in histograms where showsHosts || series == series.open {
      add(series, .histogram, .histogram(histogram.value))
    }
    for collect in collectors.withLock({ $0.all }) {
      for family in collect() {
        families[family.name, default: MetricFamily(family.name, family.kind, [])].samples
          .append(contentsOf: family.samples)
      }
    }
    return families.values.filter { !$0.samples.isEmpty }.map(Self.sorted)
      .sorted { $0.name < $1.name }
  }

  private static func sorted(_ family: MetricFamily) -> MetricFamily {
    var family = family
    let keys = family.samples.map { $0.labels.map { "\($0.name)\u{0}\($0.value)" }.joined() }
    family.samples = zip(keys, family.samples).sorted { $0.0 < $1.0 }.map(\.1)
    return family
  }

  private static func sums(of values: [(Series, Double)], showsHosts: Bool) -> [Series: Double] {
    values.reduce(into: [:]) { sums, entry in
      sums[showsHosts ? entry.0 : entry.0.open, default: 0] += entry.1
    }
  }

  private static func series(
    _ label: String, _ dimensions: [(String, String)], suffix: String
  ) -> Series {
    let name = label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
    return Series(
      name: String(name) + suffix,
      labels: dimensions.map { MetricFamily.Label($0.0, $0.1) }.sorted { $0.name < $1.name })
  }
}

extension Dictionary {
  fileprivate mutating func existing(
    _ key: Key, or make: @autoclosure () -> Value
  ) -> Value {
    if let value = self[key] { return value }
    let value = make()
    self[key] = value
    return value
  }
}
