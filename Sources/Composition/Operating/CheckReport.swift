import Gateway
import Model
import Storage
import Upstream

/// What `larder check` prints when nothing is faulty: warnings, what is open to whom, and what
/// cannot be cached and why.
package struct CheckReport {
  package let text: String

  package init(_ workspace: Workspace) {
    let operations = OperationDirectory(registry: workspace.registry).descriptions
    var sections = workspace.loaded.notes.map(\.description)
    sections += workspace.warnings.map(\.report)
    sections += Self.queued(workspace)
    let subscriptions = operations.filter { $0.kind == .subscription }
    sections += Self.access(operations.filter { $0.kind != .subscription })
    sections += StoredReach(workspace).section
    sections += Self.forwarded(workspace.settings.upstream.forward)
    sections += Self.uncached(operations)
    if !subscriptions.isEmpty {
      sections.append(
        "Not served by this version (subscriptions): "
          + subscriptions.map(\.name).joined(separator: ", "))
    }
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

  private static func queued(_ workspace: Workspace) -> [String] {
    do throws(StorageError) {
      let misfits = try QueuedOperations.misfits(workspace)
      guard !misfits.isEmpty else { return [] }
      return [
        "warning: queued mutations would be parked until operations that fit them are deployed, or "
          + "they are discarded:\n" + misfits.map { "  \($0)" }.joined(separator: "\n")
      ]
    } catch {
      let folder = workspace.settings.dataFolder
      return ["note: the queue was not checked. \(StorageStartError.text(error, folder: folder))"]
    }
  }

  /// How each header that is passed upstream is treated.
  private static func forwarded(_ names: [String]) -> [String] {
    guard !names.isEmpty else { return [] }
    let lines = names.map { name in
      if ForwardedHeaders.credentials.contains(name) {
        return "  \(name): a credential; a copy of each response for each caller"
      }
      return CredentialName.matches(name)
        ? "  \(name): a credential by its name; a copy for each value, of which a digest is stored;"
          + " responses are private"
        : "  \(name): splits the cache; a copy for each value, which is stored in clear; responses"
          + " are public"
    }
    return ["Passed upstream:\n" + lines.joined(separator: "\n")]
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
