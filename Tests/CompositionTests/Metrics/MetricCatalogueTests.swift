import Composition
import Foundation
import Gateway
import Testing

/// The catalogue of metrics beside the code that counts and the page that describes them.
struct MetricCatalogueTests {
  private static let root = URL(filePath: #filePath)
    .appending(path: "../../../..").standardized

  private static let sources: [String] = {
    let folder = root.appending(path: "Sources")
    let paths = FileManager.default.enumerator(atPath: folder.path)
    return (paths?.compactMap { $0 as? String } ?? []).filter {
      $0.hasSuffix(".swift") && !$0.hasSuffix("MetricCatalogue.swift")
    }.compactMap { try? String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
  }()

  private static let suffixes = ["Counter": "_total", "Timer": "_seconds"]

  /// The names of all metrics of swift-metrics that the sources make.
  private static var made: Set<String> {
    var names: Set<String> = []
    let pattern = /\b(Counter|Gauge|Meter|Timer|Recorder)\(\s*label: "([a-z._]+)"/
    for text in sources {
      for match in text.matches(of: pattern) {
        names.insert(
          match.2.replacing(".", with: "_") + (suffixes[String(match.1)] ?? ""))
      }
    }
    return names
  }

  /// The names of all metrics that the sources collect by themselves.
  private static var collected: Set<String> {
    var names: Set<String> = []
    for text in sources {
      for match in text.matches(of: /"((?:larder|process)_[a-z_]+)"/) {
        names.insert(String(match.1))
      }
    }
    return names
  }

  @Test("Every metric that is counted is described, and every described one is counted")
  func catalogueIsComplete() {
    let described = Set(MetricCatalogue.all.map(\.name))
    #expect(described.count == MetricCatalogue.all.count)
    #expect(Self.made.count > 30)
    #expect(Self.made.subtracting(described).sorted() == [])
    #expect(described.subtracting(Self.made).subtracting(Self.collected).sorted() == [])
  }

  @Test("Names have a prefix, their unit and the suffix of their kind")
  func namesFollowTheRules() {
    for metric in MetricCatalogue.all {
      let isOfProcess = metric.name.hasPrefix("process_")
      #expect(metric.name.hasPrefix("larder_") || isOfProcess, "\(metric.name)")
      #expect(metric.name.hasSuffix("_total") == (metric.kind == .counter), "\(metric.name)")
      #expect(!metric.name.contains("_total_"), "\(metric.name)")
      #expect(metric.help.hasSuffix(".") && !metric.help.contains("\n"), "\(metric.name)")
      let base = metric.kind == .counter ? String(metric.name.dropLast(6)) : metric.name
      let unit = ["seconds", "bytes"].first { base.hasSuffix("_\($0)") }
      #expect(metric.unit == unit, "\(metric.name)")
    }
  }

  @Test("docs/monitoring.md lists exactly these metrics, with their labels")
  func pageIsComplete() throws {
    let page = try String(
      contentsOf: Self.root.appending(path: "docs/monitoring.md"), encoding: .utf8)
    let listed = page.split(separator: "\n").compactMap { line in
      line.firstMatch(of: /^\| `((?:larder|process)_[a-z_]+)(?:\{([a-z,]+)\})?` \|/)
    }.map { [String($0.1), $0.2.map(String.init) ?? ""] }
    #expect(
      listed == MetricCatalogue.all.map { [$0.name, $0.labels.joined(separator: ",")] })
  }
}
