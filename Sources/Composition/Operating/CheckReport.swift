import Endpoints
import Gateway
import LosslessJSON
import Model
import Storage
import Upstream

/// The output of `larder check` without faults: warnings, who can call and read what, and which
/// operations are not cached and why.
package struct CheckReport {
  package let text: String
  private let document: JSONValue

  /// The report for programs: `{"valid", "operations", "faults", "warnings", "notes", "sections",
  /// "comparison"?}`. Faults and warnings are `{"message", "file"?, "line"?, "column"?, "setting"?}`; `file` can
  /// be a variable or a flag. A section is `{"title", "lines"}`, a comparison `{"against", "breaking", "other",
  /// "changes": [{"gravity", "subject", "message"}]}`.
  ///
  /// - Parameter comparison: with an old version; nil without one.
  package func json(comparison: VersionComparison.Report? = nil) -> String {
    guard let comparison else { return document.text }
    var document = document
    document["comparison"] = comparison.document
    return document.text
  }

  /// The report for programs of what did not pass the check.
  ///
  /// - Parameter loaded: the settings, whose notes are part of it; nil if they are what did not pass.
  package static func json(_ failure: StartFailure, _ loaded: LoadedSettings? = nil) -> String {
    let faults =
      failure.faults.isEmpty
      ? [Finding(severity: .fault, message: failure.description)] : failure.faults
    return document(
      operations: nil, faults: faults, warnings: failure.warnings,
      notes: loaded?.notes.map(\.description) ?? [], sections: []
    ).text
  }

  private static func document(
    operations: Int?, faults: [Finding], warnings: [Finding], notes: [String], sections: [String]
  ) -> JSONValue {
    [
      "valid": .bool(faults.isEmpty),
      "operations": operations.map { .number(JSONNumber($0)) } ?? .null,
      "faults": .array(faults.map(\.document)),
      "warnings": .array(warnings.map(\.document)),
      "notes": .array(notes.map { .string($0) }),
      "sections": .array(sections.map(document(ofSection:))),
    ]
  }

  /// A section of the text, whose lines follow its title or stand beside it after a colon.
  private static func document(ofSection text: String) -> JSONValue {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let title = lines[0].firstRange(of: ":").map { lines[0][..<$0.lowerBound] } ?? lines[0]
    let beside = lines[0].dropFirst(title.count + 1).drop { $0 == " " }
    let all = (beside.isEmpty ? [] : [beside]) + lines.dropFirst().map { $0.drop { $0 == " " } }
    return ["title": .string(String(title)), "lines": .array(all.map { .string(String($0)) })]
  }

  package init(_ workspace: Workspace) {
    let operations = OperationDirectory(registry: workspace.registry).descriptions
    let notes = workspace.loaded.notes.map(\.description)
    let queued = Self.queued(workspace)
    let warnings =
      workspace.warnings + queued.warnings
      + (workspace.digest == nil ? [] : ClusterSchemas.kept(workspace.settings)).map {
        Finding(severity: .warning, message: $0)
      }
    var sections = Self.switchedOff(workspace.settings)
    sections += Self.cluster(workspace)
    sections += Self.access(operations)
    sections += StoredReach(workspace).section
    sections += workspace.settings.allUpstreams.flatMap(Self.forwarded)
    sections += Self.webhooks(workspace)
    sections += Self.cdn(workspace)
    sections += Self.uncached(operations)
    sections += Self.lookups(workspace.registry)
    sections += workspace.settings.allUpstreams.flatMap(Self.standing)
    document = Self.document(
      operations: operations.count, faults: [], warnings: warnings, notes: notes + queued.notes,
      sections: sections)
    let count = operations.count.counted("operation")
    let sum =
      "\(count) checked, no faults"
      + (warnings.isEmpty ? "." : ", \(warnings.count.counted("warning")).")
    let texts =
      notes + warnings.map(\.report) + queued.notes.map { "note: \($0)" } + sections + [sum]
    text = texts.joined(separator: "\n\n")
  }

  /// What the nodes of a cluster must have in common.
  private static func cluster(_ workspace: Workspace) -> [String] {
    guard let digest = workspace.digest else { return [] }
    let cluster = workspace.settings.cluster
    return [
      "Cluster \(cluster.name): digest \(digest.prefix(12)) of operations, schemas and local types, the"
        + " same on each node" + (cluster.isCandidate ? "" : "; this node does not lead")
    ]
  }

  /// What a shared cache in front keeps for all callers, and what it must not keep.
  private static func cdn(_ workspace: Workspace) -> [String] {
    guard workspace.settings.isBehindCDN else { return [] }
    let shared = workspace.registry.operations.filter {
      $0.kind == .query && $0.cache.sharing == .public && $0.access.role?.demanded == nil
        && ($0.cache.maxAge > .zero || $0.cache.staleWhileRevalidate > .zero)
    }.map(\.name).sorted()
    let names = shared.isEmpty ? "no operation" : shared.joined(separator: ", ")
    return [
      "Kept by the CDN for all callers, also for those whose token is no longer valid: \(names)\n"
        + "  The CDN must pass requests with Device-Token on to Larder: a device does not see its own "
        + "pending changes in a shared copy."
    ]
  }

  /// The parts without routes, also those that went with another one.
  private static func switchedOff(_ settings: Settings) -> [String] {
    let parts = ServicePart.allCases.filter { !settings.parts.contains($0) }.map(\.rawValue)
    return parts.isEmpty ? [] : ["Switched off: \(parts.joined(separator: ", "))"]
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
      "\(group): \(members.map(\.labelledName).joined(separator: ", "))"
    }
  }

  private static func queued(_ workspace: Workspace) -> (warnings: [Finding], notes: [String]) {
    do throws(StorageError) {
      let misfits = try QueuedOperations.misfits(workspace)
      guard !misfits.isEmpty else { return ([], []) }
      let warning = Finding(
        severity: .warning,
        message:
          "these queued mutations would be parked until matching operations are deployed, or "
          + "the mutations are discarded:\n" + misfits.map { "  \($0)" }.joined(separator: "\n"))
      return ([warning], [])
    } catch {
      let folder = workspace.settings.dataFolder
      return ([], ["the queue was not checked. \(StorageStartError.text(error, folder: folder))"])
    }
  }

  /// The handling of each forwarded header field.
  private static func forwarded(_ upstream: NamedUpstream) -> [String] {
    let names = upstream.settings.forward
    guard !names.isEmpty else { return [] }
    let target = upstream.name == .sole ? "upstream" : "the upstream \(upstream.name)"
    let lines = names.map { name in
      if ForwardedHeaders.credentials.contains(name) {
        return "  \(name): a credential; each caller has its own copy of a response"
      }
      return CredentialName.matches(name)
        ? "  \(name): a credential by its name; part of the cache key as a digest; responses are"
          + " private"
        : "  \(name): part of the cache key, stored in clear text; responses are public"
    }
    return ["Forwarded to \(target):\n" + lines.joined(separator: "\n")]
  }

  private static func webhooks(_ workspace: Workspace) -> [String] {
    let lines = HooksCheck(
      settings: workspace.settings.hooks, outline: workspace.registry.outline
    ).lines
    let calls = HooksOutCheck(
      settings: workspace.settings, registry: workspace.registry, local: workspace.local
    ).lines
    return [("Webhooks", lines), ("Hooks", calls)].filter { !$0.1.isEmpty }.map { title, lines in
      "\(title):\n" + lines.map { "  \($0.hook): \($0.text)" }.joined(separator: "\n")
    }
  }

  /// What keeps stored data up to date while no client asks.
  private static func standing(_ upstream: NamedUpstream) -> [String] {
    let settings = upstream.settings
    let place = upstream.name == .sole ? "" : " at the upstream \(upstream.name)"
    let lines =
      settings.standing.map { settings in
        let rule = settings.rule
        let gaps = rule.catchUp.map { "caught up by \($0.operation)" } ?? "marked as due"
        return "  \(rule.operation): subscribed; gaps are \(gaps)"
      } + settings.polls.map { "  \($0.rule.operation): every \($0.rule.every.wholeSeconds) s" }
    return lines.isEmpty
      ? []
      : [
        "Kept up to date with the service's credentials\(place):\n" + lines.joined(separator: "\n")
      ]
  }

  /// Queries for one entity that the store could answer.
  private static func lookups(_ registry: OperationRegistry) -> [String] {
    let lines = registry.operations.compactMap { operation in
      operation.lookupProposal.map { "  \(operation.name): @cache(lookup: \"\($0)\")" }
    }
    guard !lines.isEmpty else { return [] }
    return [
      "Could be answered from stored entities while upstream is unavailable, with:\n"
        + lines.joined(separator: "\n")
    ]
  }

  private static func uncached(_ operations: [OperationDescription]) -> [String] {
    let members = operations.filter { $0.kind == .query && !$0.isCacheable }
    guard !members.isEmpty else { return [] }
    return [
      "Not cached:\n"
        + members.map { "  \($0.labelledName): \($0.reason)" }.joined(separator: "\n")
    ]
  }
}

extension Finding {
  /// The finding for programs.
  fileprivate var document: JSONValue {
    var members = [JSONMember("message", .string(message))]
    if !path.isEmpty { members.append(JSONMember("file", .string(path))) }
    if line > 0 {
      members.append(JSONMember("line", .number(JSONNumber(line))))
      members.append(JSONMember("column", .number(JSONNumber(column))))
    }
    if let setting { members.append(JSONMember("setting", .string(setting))) }
    return .object(members)
  }
}

extension OperationDescription {
  /// The name, with that of its upstream if there are several.
  fileprivate var labelledName: String { upstream.map { "\(name) (\($0))" } ?? name }
}

/// The callers who can read stored entities of each type, derived from the operations that select it.
struct StoredReach {
  /// What the operations of one upstream mean for their callers.
  private struct Rights {
    let hasServiceCredentials: Bool
    let forwardsCredentials: Bool
    /// Whether a verified user's request can go upstream without the user's credential; it then has
    /// the service's rights like any other.
    let usersMayComeWithout: Bool

    init(_ upstream: UpstreamSettings, _ accounts: AccountsSettings) {
      hasServiceCredentials = upstream.hasServiceCredentials
      let names = upstream.forward.map { $0.lowercased() }
      usersMayComeWithout =
        !names.contains("authorization")
        || accounts.provider == .local && !upstream.forwardsOwnTokens
      forwardsCredentials = names.contains(where: ForwardedHeaders.credentials.contains)
    }
  }

  private let registry: OperationRegistry
  private let rights: [UpstreamName: Rights]
  /// The names of operations that the service itself runs.
  private let ownNames: Set<String>

  init(_ workspace: Workspace) {
    registry = workspace.registry
    let all = workspace.settings.allUpstreams
    ownNames = Set(
      all.map(\.settings).flatMap { upstream in
        upstream.standing.flatMap {
          [$0.rule.operation, $0.rule.catchUp?.operation].compactMap { $0 }
        } + upstream.polls.map(\.rule.operation)
      })
    let upstreams = all.map {
      ($0.name, Rights($0.settings, workspace.settings.accounts))
    }
    rights = Dictionary(uniqueKeysWithValues: upstreams)
  }

  /// The section of the report; empty if no operation selects an entity.
  var section: [String] {
    var readers: [String: Set<Reader>] = [:]
    for operation in registry.operations {
      guard let rights = rights[operation.upstream] else { continue }
      for type in operation.entityTypes {
        readers[type, default: []].formUnion(self.readers(of: operation, rights))
      }
    }
    guard !readers.isEmpty else { return [] }
    let upstreams = registry.upstreamsOfTypes
    let lines = readers.sorted { $0.key < $1.key }.map { type, readers in
      let names = (upstreams[type] ?? []).sorted()
      let isGuarded = names.contains { rights[$0]?.hasServiceCredentials == true }
      let from =
        rights.count > 1 ? " (\(names.map(\.text).joined(separator: ", ")))" : ""
      let texts = readers.sorted().map { text($0, isGuarded: isGuarded) }
      return "  \(type)\(from): \(texts.joined(separator: "; "))"
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

  private func readers(of operation: RegisteredOperation, _ rights: Rights) -> [Reader] {
    let shared = operation.access.role?.demanded.map { Reader.role($0.rawValue.lowercased()) }
    // The service's own runs carry no caller's credential.
    let own = ownNames.contains(operation.name) ? [shared ?? .anyone] : []
    return callersReaders(of: operation, rights) + own
  }

  private func callersReaders(of operation: RegisteredOperation, _ rights: Rights) -> [Reader] {
    if let claim = operation.claim { return [.claim(claim)] }
    let shared = operation.access.role?.demanded.map { Reader.role($0.rawValue.lowercased()) }
    guard operation.sendsCallersCredential, rights.forwardsCredentials else {
      return [shared ?? .anyone]
    }
    // A call without a credential has the service's rights, if it is admitted at all.
    switch operation.access.role?.demanded {
    case .device, .admin: return [.each] + [shared ?? .anyone]
    case .user: return [.each] + (rights.usersMayComeWithout ? [shared ?? .anyone] : [])
    case nil:
      return operation.access.isOpen || rights.usersMayComeWithout ? [.each, .anyone] : [.each]
    }
  }

  private func text(_ reader: Reader, isGuarded: Bool) -> String {
    switch reader {
    case .anyone: isGuarded ? "users verified here, the operator" : "anyone"
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
      let mutations = misfits.count.counted("queued mutation")
      return "\(misfits.operation): \(mutations) cannot be sent. \(misfits.detail)"
    }
  }
}
