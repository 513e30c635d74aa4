/// A metric with all its series, as `/metrics` shows them.
package struct MetricFamily: Sendable {
  package enum Kind: String, Sendable {
    /// Only grows; its name ends in `_total`.
    case counter
    case gauge
    case histogram
    /// Facts in labels; its value is 1.
    case info
  }

  package struct Label: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  package struct Histogram: Equatable, Sendable {
    /// Upper bounds of the buckets, in ascending order, without infinity.
    package let bounds: [Double]
    /// Numbers of values, by bucket and not cumulative: one more than there are bounds.
    package var counts: [UInt64]
    package var sum: Double

    package var count: UInt64 { counts.reduce(0, &+) }

    package init(bounds: [Double], counts: [UInt64], sum: Double) {
      self.bounds = bounds
      self.counts = counts
      self.sum = sum
    }
  }

  package enum Value: Equatable, Sendable {
    case number(Double)
    case histogram(Histogram)
  }

  package struct Sample: Sendable {
    /// In alphabetical order.
    package let labels: [Label]
    package let value: Value

    package init(labels: [Label], value: Value) {
      self.labels = labels.sorted { $0.name < $1.name }
      self.value = value
    }

    package init(_ labels: [(String, String)] = [], _ value: Double) {
      self.init(labels: labels.map { Label($0.0, $0.1) }, value: .number(value))
    }

    /// The value of a label; nil without it.
    package subscript(label: String) -> String? { labels.first { $0.name == label }?.value }
  }

  /// With its prefix, its unit and, for a counter, `_total`.
  package let name: String
  package let kind: Kind
  package var samples: [Sample]

  package init(_ name: String, _ kind: Kind, _ samples: [Sample]) {
    self.name = name
    self.kind = kind
    self.samples = samples
  }
}
