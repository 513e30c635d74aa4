import Cluster
import Gateway
import HTTPServer
import Logging
import Model
import ServiceLifecycle
import Storage
import Transport

/// Keeps a node in its cluster: applies the log, takes the lease when there is no leader, keeps it, and gives it
/// back.
///
/// One task decides and applies, one after the other; another keeps the lease and reports the node, so that
/// neither a long reload nor a long row costs the lease.
struct ClusterLoop: Service {
  /// Pause after an error of PostgreSQL.
  private static let pause = Duration.milliseconds(200)
  /// How long the next leader may take before a leader that ends goes on ending.
  private static let successorWithin = Duration.seconds(2)

  /// How lately the next leader must have been seen: all wait for it.
  private static let heirSeenWithin = Duration.seconds(3)

  /// With which the reasons of ``ClusterNode/isNew(_:at:)`` begin.
  private static let following = "following"
  private static let reporting = "reporting"

  let node: ClusterNode
  let service: LarderService

  private var logger: Logger { node.logger }
  private var backend: any ClusterBackend { node.backend }

  func run() async throws {
    await service.deployments.waitUntilListening()
    await cancelWhenGracefulShutdown {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await decide() }
        group.addTask { await keep() }
        group.addTask { await NodeWatch(node: node).run() }
        group.addTask { await NodeHosts(node: node, server: service.server).keep() }
        await group.waitForAll()
      }
    }
    // A task of its own: this one is cancelled, and the next deployment must be opened.
    await Task.detached { await end() }.value
    if let twin = node.twin { throw ClusterStart.twinFailure(node, at: twin) }
  }

  private var digest: String { service.deployments.current?.workspace.digest ?? "" }

  // MARK: Deciding

  private func decide() async {
    while !Task.isCancelled, service.deployments.failure == nil, node.twin == nil {
      let seen = node.signal.count
      do {
        switch node.part {
        case .leader(let lease):
          if await isPassedOn(lease) { node.noteLost("the lease was passed on") }
          if node.hasLost { try await stepDown(from: lease) }
          try await upkeep.runIfDue(node)
          await node.signal.wait(after: seen, atMost: ClusterNode.lookInterval)
        case .replica:
          try await follow()
        }
      } catch is CancellationError {
        return
      } catch let error as ClusterError {
        await note(error)
      } catch let error as StorageError {
        await note(error)
      } catch {
        logger.error("the cluster's log could not be followed", metadata: ["cause": "\(error)"])
        try? await Task.sleep(for: Self.pause)
      }
    }
  }

  private let upkeep = SnapshotUpkeep()

  init(node: ClusterNode, service: LarderService) {
    self.node = node
    self.service = service
  }

  /// Applies what is there, looks for the leader, and waits for more.
  private func follow() async throws {
    if node.cluster == nil {
      try await backend.prepare()
      node.note(cluster: try await backend.identity())
    }
    // Before the log is applied: that can take long, or fail.
    if !node.link.hasLooked { node.note(leader: try await backend.lease()) }
    if !node.isCompared {
      let (own, head, finding) = try await comparison()
      guard finding == .fits else {
        node.note(leader: try await backend.lease())
        return try await leave(own, head, finding)
      }
      node.note(isCompared: own != nil)
      node.note(comparedHead: head.position)
    }
    while try await applyOnce() {}
    node.link.note(isCutOff: false)
    node.noteWorks(Self.following)
    let lease = try await backend.lease()
    node.note(leader: lease)
    if lease == nil, try await mayLead(), let own = try await take() {
      return try await lead(own)
    }
    await backend.waitForRows(after: node.position, atMost: ClusterNode.lookInterval)
  }

  /// - Returns: whether there were rows.
  private func applyOnce() async throws -> Bool {
    guard let opened = node.opened else { return false }
    let rows = try await backend.rows(
      after: opened.store.position, bytesMax: ClusterStart.rowsBytesMax)
    guard let last = rows.last else { return false }
    node.note(head: last.position)
    let applied = try await opened.store.apply(
      rows.map(ReplicatedRow.init))
    await opened.memories.noteApplied(tables: applied.tables)
    node.link.note(position: applied.position)
    node.note(head: applied.position)
    try await backend.beat(node.record(digest: digest))
    if applied.needsReopening {
      logger.info("the leader has changed tables, which are opened again")
      await reopen(as: .replica)
    }
    return true
  }

  /// Compares the database that is open with the log.
  private func comparison() async throws -> (ClusterPosition?, LogHead, LogComparison) {
    // The position first: rows that are appended in between do not matter.
    let own = try await node.opened?.store.clusterPosition()
    let head = try await backend.head()
    guard let own else { return (nil, head, .fits) }
    return (own, head, try await LogComparison.of(own, backend, head))
  }

  /// Replaces a database that does not go on where the log does. Without a snapshot for that, the node serves what
  /// it has until there is one.
  private func leave(
    _ own: ClusterPosition?, _ head: LogHead, _ finding: LogComparison
  ) async throws {
    node.note(isCompared: false)
    node.link.note(isCutOff: true)
    let isNew = node.isNew("\(Self.following) \(finding)")
    if isNew, let own { finding.note(own, head, in: logger) }
    if let snapshot = try await backend.fittingSnapshot(head) {
      await replaceDatabase(by: snapshot, aside: finding.losesRows ? own?.position : nil)
    } else if isNew {
      LogComparison.noteNoSnapshot(in: logger)
    }
    try await Task.sleep(for: Self.pause)
  }

  private func mayLead() async throws -> Bool {
    guard node.opened != nil, !Task.isCancelled else { return false }
    return try await node.mayLead(digest: digest)
  }

  private func take() async throws -> Lease? {
    let asked = ContinuousClock.now
    let lease = try await backend.take(node.record(digest: digest), for: node.settings.lease)
    if lease != nil { node.noteLeaseKept(at: asked) }
    return lease
  }

  /// Becomes the leader under a new lease: applies the rest of the log, to which no other node can append any more,
  /// and opens the store for writing.
  private func lead(_ lease: Lease) async throws {
    do {
      // Nothing has been appended under the lease, so this is the log as it stays.
      let (own, head, finding) = try await comparison()
      guard finding == .fits else {
        try await backend.release(lease, to: nil)
        return try await leave(own, head, finding)
      }
      while node.position < head.position { guard try await applyOnce() else { break } }
      guard node.position == head.position else {
        throw StorageError.diverged(
          "the log ends at \(head.position), and this node at \(node.position)")
      }
    } catch {
      try? await backend.release(lease, to: nil)
      throw error
    }
    // Requests that wait for a leader would wait for this node, which waits for them.
    node.link.endHandover()
    await reopen(as: .leader(lease))
    guard node.lease == lease else { return try await backend.release(lease, to: nil) }
    node.note(leader: lease)
    logger.notice("this node leads the cluster", metadata: ["epoch": "\(lease.epoch)"])
  }

  /// Whether an operator has ended the lease, or another node has taken it.
  private func isPassedOn(_ lease: Lease) async -> Bool {
    do throws(ClusterError) {
      // One that has expired can still be renewed.
      if let held = try await backend.lease() { return held.epoch != lease.epoch }
      return try await backend.succession().heir != nil
    } catch {
      return false
    }
  }

  private func stepDown(from lease: Lease, to heir: NodeID? = nil) async throws {
    node.link.noteHandover()
    // All that it has written until now is here.
    if !node.hasLost { node.link.note(isCutOff: false) }
    node.forgetLeader()
    await reopen(as: .replica, after: .release(lease, to: heir))
    node.note(isCompared: false)
  }

  /// Opens the deployment again in another part, behind open sockets.
  private func reopen(as part: ClusterNode.Part, after errand: ClusterNode.Errand? = nil) async {
    var applying: Task<Void, Never>?
    if case .replica = part, case .replica = node.part, errand == nil, let opened = node.opened {
      applying = Task { await applyWhileOpen(opened) }
    }
    defer { applying?.cancel() }
    while !Task.isCancelled, let current = service.deployments.current {
      node.become(part, after: errand)
      switch await service.reload(to: current.workspace) {
      case .applied, .reverted: return
      case .refused(let reason):
        logger.error("the node cannot change its part", metadata: ["reason": "\(reason)"])
        try? await Task.sleep(for: Self.pause)
      case .ended:
        // Another reload is in progress, or the process ends.
        await service.deployments.waitForReload(isPatient: false)
        if service.deployments.failure != nil || service.deployments.isEnding { return }
        try? await Task.sleep(for: .milliseconds(10))
      }
    }
  }

  /// Applies rows while the deployment is replaced: requests in progress wait for them, and the replacement waits
  /// for these requests.
  private func applyWhileOpen(_ opened: ClusterNode.Opened) async {
    while !Task.isCancelled {
      do {
        let rows = try await backend.rows(
          after: opened.store.position, bytesMax: ClusterStart.rowsBytesMax)
        guard !rows.isEmpty else {
          node.link.note(isCutOff: false)
          await backend.waitForRows(
            after: opened.store.position, atMost: ClusterNode.lookInterval)
          continue
        }
        let applied = try await opened.store.apply(rows.map(ReplicatedRow.init))
        await opened.memories.noteApplied(tables: applied.tables)
        node.link.note(position: applied.position)
      } catch {
        // The store is closed, or the next deployment finds the same.
        return
      }
    }
  }

  private func note(_ error: ClusterError) async {
    node.note(isCompared: false)
    switch error {
    case .faulty(let reason):
      if node.isNew("\(Self.following) \(reason)") {
        logger.error("the log cannot be followed", metadata: ["reason": "\(reason)"])
      }
      await replaceDatabase()
    case .twin(let url): return noteTwin(at: url)
    default:
      node.link.note(isCutOff: true)
      if node.isNew("\(Self.following) unreachable") {
        logger.warning("the cluster's database cannot be reached", metadata: ["cause": "\(error)"])
      }
    }
    try? await Task.sleep(for: Self.pause)
  }

  private func note(_ error: StorageError) async {
    node.note(isCompared: false)
    switch error {
    case .diverged(let reason):
      if node.isNew("\(Self.following) \(reason)") {
        logger.error("the database does not agree with the log", metadata: ["reason": "\(reason)"])
      }
      await replaceDatabase()
    case .closed: break
    default:
      if node.isNew("\(Self.following) \(error)") {
        logger.error("rows of the log cannot be applied", metadata: ["cause": "\(error)"])
      }
    }
    try? await Task.sleep(for: Self.pause)
  }

  /// Starts again from the latest snapshot, if it is newer than what is here.
  private func replaceDatabase() async {
    do throws(ClusterError) {
      guard let snapshot = try await backend.latestSnapshot(), snapshot.position > node.position
      else { return }
      await replaceDatabase(by: snapshot, aside: nil)
    } catch {
      if node.isNew("\(Self.following) snapshot \(error)") {
        logger.error("no snapshot could be found", metadata: ["cause": "\(error)"])
      }
    }
  }

  /// - Parameter aside: see ``SnapshotPlacing/place(keepingAhead:)``.
  private func replaceDatabase(by snapshot: SnapshotInfo, aside: Int64?) async {
    do throws(ClusterError) {
      guard snapshot.version == Version.text else {
        if node.isNew("\(Self.following) version \(snapshot.version)") {
          logger.error(
            "the cluster has another version: this node serves what it has until it is upgraded",
            metadata: ["version": "\(snapshot.version)"])
        }
        return
      }
      try await SnapshotPlacing(node: node).fetch(snapshot)
    } catch {
      if node.isNew("\(Self.following) snapshot \(error)") {
        logger.error("no snapshot could be fetched", metadata: ["cause": "\(error)"])
      }
      return
    }
    await reopen(as: .replica, after: .replaceDatabase(aside: aside))
    node.note(isCompared: false)
  }

  // MARK: Keeping

  /// Keeps the lease and reports the node.
  private func keep() async {
    let interval = min(node.settings.lease / ClusterNode.renewals, .seconds(1))
    var renewed = ContinuousClock.now
    while !Task.isCancelled {
      do throws(ClusterError) {
        if let lease = node.lease {
          let asked = ContinuousClock.now
          let isKept = try await backend.renew(lease, for: node.settings.lease)
          if isKept {
            node.noteLeaseKept(at: asked)
            renewed = .now
          } else if node.lease == lease {
            node.noteLost("another node has taken the lease")
          }
        } else {
          renewed = .now
        }
        try await backend.beat(node.record(digest: digest))
        node.note(inboxEntries: try await backend.inboxState().count)
        let nodes = try await backend.nodes()
        let others = nodes.filter { $0.id != node.id }
        node.note(others: others.map(\.id))
        node.note(otherHosts: NodeHosts.hosts(of: others))
        service.server.divideRateLimit(among: max(1, nodes.count(where: \.isLive)))
        node.noteWorks(Self.reporting)
      } catch {
        node.note(isCompared: false)
        if case .twin(let url) = error { return noteTwin(at: url) }
        let isNoted = if case .unavailable = error { node.lease == nil } else { false }
        if !isNoted, node.isNew("\(Self.reporting) \(error)") {
          logger.error(
            "this node cannot be reported in the cluster", metadata: ["cause": "\(error)"])
        }
        // Another node may lead by now; this one could not know.
        if node.lease != nil, .now - renewed > node.settings.lease * 2 {
          node.noteLost("the lease could not be renewed: \(error)")
        }
      }
      try? await Task.sleep(for: interval)
    }
  }

  /// Ends this process: while it was away, another one has become its node.
  private func noteTwin(at url: String) {
    logger.error(
      "another process has become this node: this one ends, so that no client reads what it has not applied",
      metadata: ["url": "\(url)"])
    node.note(twin: url)
  }

  // MARK: Ending

  /// Gives the lease to another node before this one stops accepting requests.
  private func end() async {
    if let lease = node.lease {
      let others = ((try? await backend.nodes()) ?? []).filter { $0.isLive && $0.id != node.id }
      if !others.isEmpty {
        try? await stepDown(from: lease, to: heir(among: others)?.id)
        let found = await waitForSuccessor()
        logger.notice(found ? "another node leads now" : "no other node has taken the lead yet")
      } else {
        // No other node takes it; what is still written until the end must find it valid.
        let asked = ContinuousClock.now + service.queueEndMax
        if (try? await backend.renew(lease, for: node.settings.lease + service.queueEndMax)) == true
        {
          node.noteLeaseKept(at: asked)
        }
      }
    }
  }

  /// The node that is to lead next: of those with the same operations the one that is furthest.
  private func heir(among others: [NodeRecord]) -> NodeRecord? {
    others.filter { $0.isCandidate && $0.digest == digest && $0.seenAgo < Self.heirSeenWithin }
      .max { ($0.position, $1.id) < ($1.position, $0.id) }
  }

  private func waitForSuccessor() async -> Bool {
    let deadline = ContinuousClock.now + Self.successorWithin
    while ContinuousClock.now < deadline {
      if let lease = try? await backend.lease() {
        node.note(leader: lease)
        return true
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
    return false
  }
}

extension ClusterNode {
  /// Notes that this node leads no more, although its store does not know it.
  func noteLost(_ reason: String) {
    logger.warning("this node leads no more", metadata: ["cause": "\(reason)"])
    setLost()
    signal.notify()
  }
}
