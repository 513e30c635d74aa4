import Gateway
import Model
import Storage
import Upstream

/// The output of `larder check` without faults: warnings, who can call and read what, and which
/// operations are not cached and why.
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
      case "token": "Open to callers with their own token"
      case let role: "Open to the role \(role)"
      }
    }
    return groups.sorted { $0.key < $1.key }.map { group, members in
      "\(group): \(members.map(\.name).joined(separator: ", "))"
    }
  }

  private static func queued(_ workspace: Workspace) -> [String] {
    do throws(StorageError) {
      let misfits = try QueuedOperations.misfits(workspace)
      guard !misfits.isEmpty else { return [] }
      return [
        "warning: these queued mutations would be parked until matching operations are deployed, or "
          + "the mutations are discarded:\n" + misfits.map { "  \($0)" }.joined(separator: "\n")
      ]
    } catch {
      let folder = workspace.settings.dataFolder
      return ["note: the queue was not checked. \(StorageStartError.text(error, folder: folder))"]
    }
  }

  /// The handling of each forwarded header field.
  private static func forwarded(_ names: [String]) -> [String] {
    guard !names.isEmpty else { return [] }
    let lines = names.map { name in
      if ForwardedHeaders.credentials.contains(name) {
        return "  \(name): a credential; each caller has its own copy of a response"
      }
      return CredentialName.matches(name)
        ? "  \(name): a credential by its name; part of the cache key as a digest; responses are"
          + " private"
        : "  \(name): part of the cache key, stored in clear text; responses are public"
    }
    return ["Forwarded to upstream:\n" + lines.joined(separator: "\n")]
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

/// The callers who can read stored entities of each type, derived from the operations that select it.
struct StoredReach {
  private let registry: OperationRegistry
  private let hasServiceCredentials: Bool
  private let forwardsCredentials: Bool
  /// Whether a verified user's request can go upstream without the user's credential; it then has the
  /// service's rights like any other.
  private let usersMayComeWithout: Bool

  init(_ workspace: Workspace) {
    registry = workspace.registry
    hasServiceCredentials = workspace.settings.upstream.hasServiceCredentials
    let names = workspace.settings.upstream.forward.map { $0.lowercased() }
    usersMayComeWithout =
      !names.contains("authorization")
      || workspace.settings.accounts.provider == .local
        && !workspace.settings.upstream.forwardsOwnTokens
    forwardsCredentials = workspace.settings.upstream.forward.contains {
      ForwardedHeaders.credentials.contains($0.lowercased())
    }
  }

  /// The section of the report; empty if no operation selects an entity.
  var section: [String] {
    var readers: [String: Set<Reader>] = [:]
    for operation in registry.operations {
      for type in operation.entityTypes {
        readers[type, default: []].formUnion(self.readers(of: operation))
      }
    }
    guard !readers.isEmpty else { return [] }
    let lines = readers.sorted { $0.key < $1.key }.map { type, readers in
      "  \(type): \(readers.sorted().map(text).joined(separator: "; "))"
    }
    return ["Stored entities can be read by:\n" + lines.joined(separator: "\n")]
  }

  /// A group of readers, from the widest to the narrowest.
  private enum Reader: Hashable, Comparable {
    case anyone
    case role(String)
    case claim(String)
    case each
  }

  private func readers(of operation: RegisteredOperation) -> [Reader] {
    if let claim = operation.claim { return [.claim(claim)] }
    let shared = operation.access.role?.demanded.map { Reader.role($0.rawValue.lowercased()) }
    guard operation.sendsCallersCredential, forwardsCredentials else {
      return [shared ?? .anyone]
    }
    // A call without a credential has the service's rights, if it is admitted at all.
    switch operation.access.role?.demanded {
    case .device, .admin: return [.each] + [shared ?? .anyone]
    case .user: return [.each] + (usersMayComeWithout ? [shared ?? .anyone] : [])
    case nil:
      return operation.access.isOpen || usersMayComeWithout ? [.each, .anyone] : [.each]
    }
  }

  private func text(_ reader: Reader) -> String {
    switch reader {
    case .anyone: hasServiceCredentials ? "users verified here, the operator" : "anyone"
    case .role(let role): "role \(role)"
    case .claim(let name): "verified users with the same \(name)"
    case .each: "each caller, data fetched with their own credential"
    }
  }
}

/// The check of mutations queued in a data folder against the operations of a workspace: those that no
/// longer fit would be parked by a start.
enum QueuedOperations {
  /// - Returns: one line for each operation that no longer fits queued mutations.
  static func misfits(_ workspace: Workspace) throws(StorageError) -> [String] {
    let fit = OperationFit(registry: workspace.registry)
    var survey = OperationSurvey()
    for held in try Store.heldPayloads(folder: workspace.settings.dataFolder) {
      survey.note(held, fit: fit)
    }
    return survey.misfits.map { misfits in
      let mutations = misfits.count == 1 ? "1 queued mutation" : "\(misfits.count) queued mutations"
      return "\(misfits.operation): \(mutations) cannot be sent. \(misfits.detail)"
    }
  }
}
