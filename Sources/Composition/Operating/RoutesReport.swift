import Gateway
import Model
import Upstream

/// What `larder routes` prints: every path, the operation behind it, and how it is cached.
package struct RoutesReport {
  package let text: String

  package init(_ workspace: Workspace) {
    var table = TextTable("METHOD", "PATH", "OPERATION", "ACCESS", "CACHE")
    let operations = OperationDirectory(registry: workspace.registry).descriptions
    for operation in operations where operation.kind != .subscription {
      for path in operation.paths {
        table.add(
          operation.method, path, operation.name, operation.accessText, operation.cacheText)
      }
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
    let sharing = policy.sharing == .public ? "public" : "per user"
    return (windows.compactMap { $0 } + [sharing]).joined(separator: ", ")
  }
}
