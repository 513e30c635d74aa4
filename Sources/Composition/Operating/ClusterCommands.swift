import Cluster
import Endpoints
import Gateway
import Logging
import LosslessJSON
import Model

/// The `cluster` commands. They speak to PostgreSQL by the settings, whether a node runs or not.
package struct ClusterCommands {
  /// How long after the lease's time a new leader is waited for, and the pause between two looks.
  private static let successorPatience = Duration.seconds(5)
  private static let pause = Duration.milliseconds(100)

  let settings: Settings
  let backend: any ClusterBackend
  /// Returns what asks the nodes who they are; nil without the secret.
  private let check: @Sendable (_ cluster: String?) -> NodeCheck?
  private let sleep: @Sendable (Duration) async throws -> Void

  init(
    _ settings: Settings, _ backend: any ClusterBackend,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    check: @escaping @Sendable (_ cluster: String?) -> NodeCheck? = { _ in nil }
  ) {
    self.settings = settings
    self.backend = backend
    self.check = check
    self.sleep = sleep
  }

  /// Runs a command with connections to the PostgreSQL that the settings name.
  package static func run<Result>(
    _ settings: Settings,
    _ body: (ClusterCommands) async throws(StartFailure) -> Result
  ) async throws(StartFailure) -> Result {
    guard let postgres = settings.cluster.postgres else {
      throw StartFailure(
        .faultySettings,
        "`cluster.postgres` is not set: this is a single machine. Set it to the PostgreSQL of the cluster."
      )
    }
    let backend = try ClusterAssembly.backend(
      postgres, settings.cluster, logger: Logger(label: "larder") { _ in SwiftLogNoOpLogHandler() })
    do throws(StartFailure) {
      let result = try await body(
        ClusterCommands(settings, backend, check: { NodeCheck.command(settings, cluster: $0) }))
      await backend.close()
      return result
    } catch {
      await backend.close()
      throw error
    }
  }

  // MARK: Status

  package func status(isJSON: Bool) async throws(StartFailure) -> String {
    let report = await ClusterReport(of: backend, name: settings.cluster.name)
    if let outage = report.outage {
      throw StartFailure(
        .addressInUse, "The state of the cluster cannot be read: \(outage.onOneLine).")
    }
    let faults = await nodeFaults()
    guard isJSON else { return ClusterStatusText.text(report, faults: faults) }
    var document = ClusterDocument.value(report)
    if !faults.isEmpty { document["faults"] = .array(faults.map { .string($0) }) }
    return document.text
  }

  /// What is wrong with live nodes, as their addresses answer.
  private func nodeFaults() async -> [String] {
    guard let nodes = try? await backend.nodes() else { return [] }
    var faults = NodeCheck.sharedAddresses(nodes).map {
      "\(NodeCheck.text($0)). Set `cluster.advertise` to an address of its own on each."
    }
    // A leader of another cluster's name, or one whose row was removed.
    if let lease = try? await backend.lease(), !nodes.contains(where: { $0.id == lease.holder }) {
      faults.append(
        "the leader \(lease.holder) (\(lease.url.onOneLine)) is not in the list of nodes. Look at its log."
      )
    }
    guard let check = check(try? await backend.identity()) else { return faults }
    for (node, fault) in await check.faults(of: nodes) {
      faults.append("node \(node.id): \(fault.text). \(fault.cure)")
    }
    return faults
  }

  // MARK: Transfer

  /// Ends the leader's lease, and waits until another node leads.
  ///
  /// - Parameter wanted: the id or the URL of the next leader; nil for the one that is furthest.
  package func transfer(to wanted: String?, isJSON: Bool) async throws(StartFailure) -> String {
    let (lease, nodes) = try await asked { () throws(ClusterError) in
      (try await backend.lease(), try await backend.nodes())
    }
    guard let lease else {
      throw StartFailure(
        .failed, "No node leads, so there is nothing to transfer. See `larder cluster status`.")
    }
    let heir = try heir(wanted, of: lease, among: nodes)
    try await asked { () throws(ClusterError) in try await backend.release(lease, to: heir.id) }
    let next = try await successor(of: lease)
    guard let next else {
      throw StartFailure(
        .failed,
        "The lease of \(lease.holder) has ended, and no node leads yet: \(heir.id) did not take it. Is "
          + "`cluster.candidate` false there? Its log says why; any other node takes it after "
          + "`cluster.lease`.")
    }
    if isJSON {
      let document: JSONValue = [
        "leader": .string(next.holder.text), "url": .string(next.url),
        "epoch": .number(JSONNumber(next.epoch)),
      ]
      return document.text
    }
    let text = "\(next.holder) (\(next.url)) leads since epoch \(next.epoch)."
    return next.holder == heir.id
      ? text : "\(text) \(heir.id) did not take the lease: is `cluster.candidate` false there?"
  }

  private func heir(
    _ wanted: String?, of lease: Lease, among nodes: [NodeRecord]
  ) throws(StartFailure) -> NodeRecord {
    let others = nodes.filter { $0.id != lease.holder }
    guard let wanted else {
      // A node with other operations does not lead until it is told.
      let fit = others.filter { $0.isLive && $0.isCandidate && $0.digest == lease.digest }
      guard let furthest = fit.max(by: { ($0.position, $1.id) < ($1.position, $0.id) }) else {
        throw StartFailure(
          .failed,
          "No other live node has the leader's operations. See `larder cluster status`; `--to NODE` "
            + "makes one with other operations the leader.")
      }
      return furthest
    }
    let node = try self.node(wanted, among: nodes)
    guard node.id != lease.holder else {
      throw StartFailure(.failed, "\(node.id) leads already.")
    }
    guard node.isLive else {
      throw StartFailure(
        .failed, "\(node.id) is not running: it was last seen \(Self.seconds(node.seenAgo)) ago.")
    }
    return node
  }

  /// Waits for the next lease, which needs at most the time of the last one if the heir does not take it.
  private func successor(of lease: Lease) async throws(StartFailure) -> Lease? {
    let limit = settings.cluster.lease + Self.successorPatience
    var waited = Duration.zero
    while true {
      let next = try await asked { () throws(ClusterError) in try await backend.lease() }
      if let next, next.epoch > lease.epoch { return next }
      guard waited < limit else { return nil }
      try? await sleep(Self.pause)
      waited += Self.pause
    }
  }

  // MARK: Remove

  /// Forgets a node that is gone for good.
  package func remove(_ wanted: String, isJSON: Bool) async throws(StartFailure) -> String {
    let (lease, nodes) = try await asked { () throws(ClusterError) in
      (try await backend.lease(), try await backend.nodes())
    }
    let node = try self.node(wanted, among: nodes)
    guard !node.isLive, lease?.holder != node.id else {
      throw StartFailure(
        .failed,
        "\(node.id) is running (\(node.url)), and would appear again. Stop it, wait until `larder "
          + "cluster status` shows it as gone, and remove it then.")
    }
    try await asked { () throws(ClusterError) in try await backend.remove(node.id) }
    if isJSON { return JSONValue.object([JSONMember("removed", .string(node.id.text))]).text }
    return
      "Removed \(node.id) (\(node.url)). The log is no longer kept for it; if it starts again, it "
      + "begins with a snapshot."
  }

  // MARK: Shared

  /// The node of an id, of the beginning of one, or of a URL.
  private func node(_ wanted: String, among nodes: [NodeRecord]) throws(StartFailure) -> NodeRecord
  {
    if let exact = nodes.first(where: { $0.id.text == wanted }) { return exact }
    let found = nodes.filter { $0.id.text.hasPrefix(wanted) || $0.url == wanted }
    if let only = found.first, found.count == 1, !wanted.isEmpty { return only }
    let known = nodes.map { "  \($0.id)\t\($0.url.onOneLine)" }.joined(separator: "\n")
    throw StartFailure(
      .usage,
      (found.isEmpty
        ? "The cluster has no node \"\(wanted.onOneLine)\"."
        : "\"\(wanted.onOneLine)\" names several nodes.")
        + (nodes.isEmpty ? " It has none at all." : " Its nodes are:\n\(known)"))
  }

  func asked<Value>(
    _ body: () async throws(ClusterError) -> Value
  ) async throws(StartFailure) -> Value {
    do throws(ClusterError) { return try await body() } catch { throw StartFailure(error) }
  }

  static func seconds(_ duration: Duration) -> String { "\(duration.wholeSeconds) s" }
}

extension StartFailure {
  init(_ error: ClusterError) {
    switch error {
    case .unavailable(let reason):
      self.init(
        .addressInUse, "The PostgreSQL of `cluster.postgres` does not respond: \(reason.onOneLine)."
      )
    case .faulty(let reason): self.init(.faultySettings, "\(reason.onOneLine).")
    case .fenced: self.init(.failed, "A node leads the cluster. Stop all nodes first.")
    case .inDoubt, .twin: self.init(.failed, "\("\(error)".onOneLine).")
    }
  }
}

/// The text of `larder cluster status`.
enum ClusterStatusText {
  /// - Parameter faults: of nodes, see ``NodeCheck``.
  static func text(_ report: ClusterReport, faults: [String] = []) -> String {
    var sections = [head(report)]
    if !report.nodes.isEmpty { sections.append(table(report)) }
    sections.append(rest(report))
    let warnings = faults.map { "warning: \($0)" } + warnings(report)
    if !warnings.isEmpty { sections.append(warnings.joined(separator: "\n")) }
    return sections.joined(separator: "\n\n")
  }

  private static func head(_ report: ClusterReport) -> String {
    let live = report.nodes.count(where: \.isLive)
    let leader =
      report.lease.map { "\($0.node) leads (epoch \($0.epoch))" } ?? "no node leads"
    return
      "Cluster \(report.name): \(leader), \(live) of \(report.nodes.count.counted("node")) live."
  }

  private static func table(_ report: ClusterReport) -> String {
    var table = TextTable("NODE", "ROLE", "POSITION", "LAG", "VERSION", "SEEN", "URL")
    for node in report.nodes {
      table.add(
        node.id.onOneLine, node.isLeader ? "leader" : node.isLive ? "replica" : "gone",
        "\(node.position)", report.lagRows(of: node).map { "\($0)" } ?? "?", node.version.onOneLine,
        "\(ClusterCommands.seconds(node.seenAgo)) ago", node.url.onOneLine)
    }
    return table.text
  }

  private static func rest(_ report: ClusterReport) -> String {
    var lines: [String] = []
    if let log = report.log { lines.append("Log: rows \(log.floor + 1) to \(log.position).") }
    if let inbox = report.inbox {
      let age = inbox.oldestAge.map { ", the oldest for \(ClusterCommands.seconds($0))" } ?? ""
      lines.append(
        inbox.entries == 0
          ? "Inbox: empty." : "Inbox: \(inbox.entries.counted("mutation")) waiting\(age).")
    }
    lines.append(
      report.snapshot.map {
        "Snapshot: position \($0.position), \($0.byteCount) bytes, made \($0.made.iso8601)."
      } ?? "Snapshot: none yet.")
    return lines.joined(separator: "\n")
  }

  private static func warnings(_ report: ClusterReport) -> [String] {
    var lines: [String] = []
    let live = Set(report.nodes.filter(\.isLive).map(\.id))
    if let lease = report.lease, !live.contains(lease.node) {
      lines.append(
        "warning: \(lease.node.onOneLine) holds the lease, and is not among the live nodes: it has just "
          + "ended, or renews the lease and cannot report itself. Look at its log "
          + "(\(lease.url.onOneLine)).")
    }
    let others = report.nodes.filter { $0.isLive && !report.agrees($0) }
    if !others.isEmpty {
      lines.append(
        "warning: other operations, schemas or local types than the leader's: "
          + others.map(\.id.onOneLine).joined(separator: ", ")
          + ". They serve reads, and do not become the leader by themselves; deploy the same files there."
      )
    }
    let versions = Set(report.nodes.filter(\.isLive).map(\.version))
    if versions.count > 1 {
      lines.append(
        "note: versions \(versions.sorted().joined(separator: ", ").onOneLine) run at once.")
    }
    return lines
  }
}
