import Endpoints
import Gateway
import HTTPServer
import HTTPWire
import Model
import Upstream

/// What `larder routes` prints: every path there is, the operation behind it, and how it is cached.
///
/// Made of the route table itself, so nothing is served that it does not show.
package struct RoutesReport {
  package let text: String

  package init(_ workspace: Workspace) {
    let operations = OperationDirectory(registry: workspace.registry).descriptions
    var table = TextTable("METHOD", "PATH", "OPERATION", "ACCESS", "CACHE")
    for operation in operations where operation.kind != .subscription {
      table.add(
        operation.method, "/v1/operations/\(operation.name)", operation.name,
        operation.accessText, operation.cacheText)
    }
    let lines = LarderRoutes.lines(
      for: operations, hasPages: PublicFolder.exists(workspace.settings),
      hasMetrics: workspace.settings.metrics.listen.isEmpty)
    for line in lines {
      let operation = line.operation.flatMap { name in operations.first { $0.name == name } }
      table.add(
        line.method.name, line.pattern.description, operation?.name ?? "-",
        operation?.accessText ?? "-", operation?.cacheText ?? "-")
    }
    text = table.text
  }
}

extension OperationDescription {
  /// Who may call, in a word.
  var accessText: String { role?.lowercased() ?? (isOpen ? "anyone" : "token") }

  /// The windows in seconds, or why there are none.
  var cacheText: String {
    guard let policy, isCacheable else { return reason }
    let windows = [
      "fresh \(policy.maxAge.components.seconds)s",
      policy.staleWhileRevalidate > .zero
        ? "+\(policy.staleWhileRevalidate.components.seconds)s revalidating" : nil,
      policy.staleIfError > .zero ? "+\(policy.staleIfError.components.seconds)s if down" : nil,
    ]
    let sharing =
      switch policy.sharing {
      case .public: "public"
      case .user: "per user"
      case .claim(let name): "per claim \(name)"
      }
    return (windows.compactMap { $0 } + [sharing]).joined(separator: ", ")
  }
}
