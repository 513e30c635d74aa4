import Gateway
import Upstream

/// What `larder check` prints when nothing is faulty: warnings, what is open to whom, and what
/// cannot be cached and why.
package struct CheckReport {
  package let text: String

  package init(_ workspace: Workspace) {
    let operations = OperationDirectory(registry: workspace.registry).descriptions
    var sections = workspace.loaded.notes.map(\.description)
    sections += workspace.warnings.map(\.report)
    sections += Self.access(operations)
    sections += Self.uncached(operations)
    let count = operations.count == 1 ? "1 operation" : "\(operations.count) operations"
    let warnings = workspace.warnings.count
    sections.append(
      "\(count) checked, no faults" + (warnings > 0 ? ", \(warnings) warnings." : "."))
    text = sections.joined(separator: "\n\n")
  }

  private static func access(_ operations: [OperationDescription]) -> [String] {
    let groups = Dictionary(grouping: operations) { operation in
      switch operation.accessText {
      case "anyone", "public": "Open to anyone"
      case "token": "Open to callers with a token of their own"
      case let role: "Open to the role \(role)"
      }
    }
    return groups.sorted { $0.key < $1.key }.map { who, members in
      "\(who): \(members.map(\.name).joined(separator: ", "))"
    }
  }

  private static func uncached(_ operations: [OperationDescription]) -> [String] {
    let members = operations.filter { $0.kind == .query && !$0.isCacheable }
    guard !members.isEmpty else { return [] }
    return [
      "Not cached:\n"
        + members.map { "  \($0.name): \($0.reason)" }.joined(separator: "\n")
    ]
  }
}
