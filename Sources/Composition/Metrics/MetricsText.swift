package import Gateway

/// The two text forms of metrics.
package enum MetricsText {
  package enum Form: Sendable {
    /// The Prometheus text format 0.0.4.
    case prometheus
    /// OpenMetrics 1.0.
    case openMetrics
  }

  /// Writes families, each with its description from ``MetricCatalogue``.
  package static func text(_ families: [MetricFamily], as form: Form) -> String {
    var text = ""
    for family in families { append(family, as: form, to: &text) }
    if form == .openMetrics { text += "# EOF\n" }
    return text
  }

  private static func append(_ family: MetricFamily, as form: Form, to text: inout String) {
    let name = headName(family, as: form)
    let description = MetricCatalogue.description(of: family.name)
    let help = description?.help ?? "Not described."
    let type =
      switch (family.kind, form) {
      case (.info, .prometheus): "gauge"
      case (let kind, _): kind.rawValue
      }
    text += "# HELP \(name) \(escaped(help, as: form))\n# TYPE \(name) \(type)\n"
    if form == .openMetrics, let unit = description?.unit { text += "# UNIT \(name) \(unit)\n" }
    for sample in family.samples {
      switch sample.value {
      case .number(let value):
        text += "\(family.name)\(labels(sample.labels)) \(number(value))\n"
      case .histogram(let histogram):
        append(histogram, of: family.name, sample.labels, as: form, to: &text)
      }
    }
  }

  /// The name in `HELP` and `TYPE`. In OpenMetrics it has no suffix (section 4.4 "Suffixes").
  private static func headName(_ family: MetricFamily, as form: Form) -> String {
    guard form == .openMetrics else { return family.name }
    switch family.kind {
    case .counter where family.name.hasSuffix("_total"): return String(family.name.dropLast(6))
    case .info where family.name.hasSuffix("_info"): return String(family.name.dropLast(5))
    default: return family.name
    }
  }

  private static func append(
    _ histogram: MetricFamily.Histogram, of name: String, _ own: [MetricFamily.Label],
    as form: Form, to text: inout String
  ) {
    var total: UInt64 = 0
    let bounds = histogram.bounds.map { "\($0)" } + ["+Inf"]
    for (bound, count) in zip(bounds, histogram.counts) {
      total &+= count
      text += "\(name)_bucket\(labels(own + [MetricFamily.Label("le", bound)])) \(total)\n"
    }
    text += "\(name)_sum\(labels(own)) \(number(histogram.sum))\n"
    text += "\(name)_count\(labels(own)) \(total)\n"
  }

  private static func labels(_ labels: [MetricFamily.Label]) -> String {
    if labels.isEmpty { return "" }
    let pairs = labels.map { "\($0.name)=\"\(escaped($0.value, as: .openMetrics))\"" }
    return "{\(pairs.joined(separator: ","))}"
  }

  /// A whole number without a fraction, since counts have none.
  private static func number(_ value: Double) -> String {
    if let whole = Int64(exactly: value) { return "\(whole)" }
    if value.isNaN { return "NaN" }
    return value.isInfinite ? (value < 0 ? "-Inf" : "+Inf") : "\(value)"
  }

  /// Quotes are escaped in label values, and in the help texts of OpenMetrics.
  private static func escaped(_ text: String, as form: Form) -> String {
    // By scalars: a carriage return and a line feed are one character.
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\"" where form == .openMetrics: escaped += "\\\""
      case "\n": escaped += "\\n"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
