import Endpoints
import Gateway
import HTTPServer
import HTTPWire
import Model
import Upstream

/// The output of `larder routes`: every path, its operation, and how that is cached.
///
/// It is generated from the route table itself, so no path is missing.
package struct RoutesReport {
  package let text: String

  package init(_ workspace: Workspace) {
    let directory = OperationDirectory(registry: workspace.registry)
    let operations = directory.descriptions
    let upstreams = workspace.settings.allUpstreams
    let forwarding = Set(
      upstreams.filter { upstream in
        upstream.settings.forward.contains { ForwardedHeaders.credentials.contains($0) }
      }.map(\.name.text))
    func cacheText(of operation: OperationDescription) -> String {
      operation.cacheText(
        forwardsCredentials: forwarding.contains(
          operation.upstream ?? upstreams.first?.name.text ?? ""))
    }
    var table = TextTable("METHOD", "PATH", "OPERATION", "ACCESS", "CACHE")
    for operation in operations {
      // The paths of `@route` are among the lines of the table.
      table.add(
        operation.method, operation.paths[0], operation.name, operation.accessText,
        cacheText(of: operation))
    }
    let lines = LarderRoutes.lines(
      for: directory.operations, hasPages: PublicFolder.exists(workspace.settings),
      hasMetrics: workspace.settings.metrics.listen.isEmpty, parts: workspace.settings.parts)
    for line in lines {
      let operation = line.operation.flatMap { name in operations.first { $0.name == name } }
      table.add(
        line.method.name, line.pattern.description, operation?.name ?? "-",
        operation?.accessText ?? "-", operation.map(cacheText) ?? "-")
    }
    text = table.text
  }
}

extension OperationDescription {
  /// The callers that the operation admits, in a word.
  var accessText: String { role?.lowercased() ?? (isOpen ? "anyone" : "token") }

  /// The cache windows in seconds, or the reason why there are none.
  ///
  /// - Parameter forwardsCredentials: whether calls carry callers' credentials; otherwise all callers
  ///   share one copy.
  func cacheText(forwardsCredentials: Bool) -> String {
    guard let policy, isCacheable else { return reason }
    let windows = [
      "fresh \(policy.maxAge.components.seconds)s",
      policy.staleWhileRevalidate > .zero
        ? "+\(policy.staleWhileRevalidate.components.seconds)s revalidating" : nil,
      policy.staleIfError > .zero ? "+\(policy.staleIfError.components.seconds)s if down" : nil,
    ]
    let sharing =
      switch policy.sharing {
      case _ where !forwardsCredentials: "public"
      case .public: "public"
      case .user: "per user"
      case .claim(let name): "per claim \(name)"
      }
    return (windows.compactMap { $0 } + [sharing]).joined(separator: ", ")
  }
}

/// A text table for terminals, with columns padded to their widest cell.
struct TextTable {
  private var rows: [[String]] = []

  init(_ header: String...) {
    rows.append(header)
  }

  mutating func add(_ cells: String...) {
    rows.append(cells)
  }

  var text: String {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      row.enumerated().map { column, cell in
        column == row.count - 1
          ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
      }.joined(separator: "  ")
    }.joined(separator: "\n")
  }
}
