import Endpoints
import Gateway
import HTTPServer
import HTTPWire
import LosslessJSON
import Model
import Upstream

/// The output of `larder routes`: every path, its operation, and how that is cached.
///
/// It is generated from the route table itself, so no path is missing.
package struct RoutesReport {
  /// One route of the report.
  private struct Row {
    let method: String
    let path: String
    let access: String
    /// The rest is nil for a path of the service's own.
    var operation: String?
    var cache: String?
  }

  private let rows: [Row]

  package var text: String {
    var table = TextTable("METHOD", "PATH", "OPERATION", "ACCESS", "CACHE")
    for row in rows {
      table.add(
        row.method, row.path, row.operation ?? "-", row.access, row.cache ?? "-")
    }
    return table.text
  }

  /// The report for programs: `{"routes": [{"method", "path", "operation", "access", "cache"}]}`, in the
  /// order of the text; operation and cache are null for paths of the service's own.
  package var json: String {
    func text(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }
    let documents = rows.map { row -> JSONValue in
      [
        "method": .string(row.method), "path": .string(row.path),
        "operation": text(row.operation), "access": .string(row.access), "cache": text(row.cache),
      ]
    }
    return JSONValue.object([JSONMember("routes", .array(documents))]).text
  }

  package init(_ workspace: Workspace) throws {
    let ownAccess = RouteAccess(workspace.settings, template: try OpenAPIResource.value())
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
    // The paths of `@route` are among the lines of the table.
    let named = operations.map { operation in
      Row(
        method: operation.method, path: operation.paths[0], access: operation.accessText,
        operation: operation.name, cache: cacheText(of: operation))
    }
    let lines = LarderRoutes.lines(
      for: directory.operations, hasPages: PublicFolder.exists(workspace.settings),
      hasMetrics: workspace.settings.metrics.listen.isEmpty, parts: workspace.settings.parts)
    var routed: [Row] = []
    var own: [Row] = []
    for line in lines {
      let operation = line.operation.flatMap { name in operations.first { $0.name == name } }
      let row = Row(
        method: line.method.name, path: line.pattern.description,
        access: operation?.accessText ?? ownAccess.text(of: line), operation: operation?.name,
        cache: operation.map(cacheText))
      if operation == nil { own.append(row) } else { routed.append(row) }
    }
    // What an operator wrote comes first, and what every service has last.
    rows = routed + named + own
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
