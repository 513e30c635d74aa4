package import CoreMetrics
import Synchronization

/// The backend of swift-metrics for `/metrics`: counters, meters, recorders and timers in the Prometheus
/// text format 0.0.4.
///
/// Dots in a label become underscores; counters end in `_total`, timers in `_seconds`. Handlers exist
/// as long as the process; modules make each once.
package final class PrometheusRegistry: MetricsFactory, Sendable {
  private struct Series: Hashable {
    let name: String
    /// `{a="b"}`, or empty.
    let labels: String
    /// The same without the labels that only operators may see.
    let openLabels: String

    func labels(showsHosts: Bool) -> String { showsHosts ? labels : openLabels }
  }

  /// Dimensions whose values reveal addresses of the operator's network.
  private static let hostDimensions: Set<String> = ["origin"]

  private struct State {
    var counters: [Series: PrometheusCounter] = [:]
    var gauges: [Series: PrometheusGauge] = [:]
    var histograms: [Series: PrometheusHistogram] = [:]
  }

  private let state = Mutex(State())

  package init() {}

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

  /// Every series, families in alphabetical order.
  ///
  /// - Parameter showsHosts: whether labels name the hosts that are called. If not, the series of all
  ///   hosts are merged: counters and gauges are summed, histograms by host are omitted.
  package func text(showsHosts: Bool) -> String {
    let (counters, gauges, histograms) = state.withLock { ($0.counters, $0.gauges, $0.histograms) }
    var families: [String: (kind: String, lines: [String])] = [:]
    let counts = counters.map { ($0.key, $0.value.value) }
    for (name, value) in Self.sums(of: counts, showsHosts: showsHosts) {
      families[name.family, default: ("counter", [])].lines.append("\(name.text) \(value)")
    }
    let levels = gauges.map { ($0.key, $0.value.value) }
    for (name, value) in Self.sums(of: levels, showsHosts: showsHosts) {
      families[name.family, default: ("gauge", [])].lines.append("\(name.text) \(value)")
    }
    for (series, histogram) in histograms where showsHosts || series.labels == series.openLabels {
      families[series.name, default: ("histogram", [])].lines
        .append(contentsOf: histogram.lines(name: series.name, labels: series.labels))
    }
    return families.sorted { $0.key < $1.key }.map { name, family in
      // The lines of a histogram are in order already, and each series' lines stay together.
      let lines = family.kind == "histogram" ? family.lines : family.lines.sorted()
      return "# TYPE \(name) \(family.kind)\n" + lines.map { $0 + "\n" }.joined()
    }.joined()
  }

  /// The name at the start of a line.
  private struct LineName: Hashable {
    let family: String
    let text: String
  }

  private static func sums<Value: AdditiveArithmetic>(
    of values: [(Series, Value)], showsHosts: Bool
  ) -> [LineName: Value] {
    values.reduce(into: [:]) { sums, entry in
      let (series, value) = entry
      let name = LineName(
        family: series.name, text: series.name + series.labels(showsHosts: showsHosts))
      sums[name, default: .zero] += value
    }
  }

  private static func series(
    _ label: String, _ dimensions: [(String, String)], suffix: String
  ) -> Series {
    let name = label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
    return Series(
      name: String(name) + suffix, labels: text(of: dimensions),
      openLabels: text(of: dimensions.filter { !hostDimensions.contains($0.0) }))
  }

  private static func text(of dimensions: [(String, String)]) -> String {
    let pairs = dimensions.sorted { $0.0 < $1.0 }.map { key, value in
      "\(key)=\"\(escaped(value))\""
    }
    return pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
  }

  private static func escaped(_ value: String) -> String {
    value.reduce(into: "") { text, character in
      switch character {
      case "\\": text += "\\\\"
      case "\"": text += "\\\""
      case "\n": text += "\\n"
      default: text.append(character)
      }
    }
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
