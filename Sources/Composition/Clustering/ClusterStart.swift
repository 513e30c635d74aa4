import Cluster
import Cryptography
import FoundationEssentials
import Gateway
import HTTPClient
import Logging
import Model
import Storage
import Transport
import Upstream

/// Gets a node ready to open its data folder: finds its place in the log, or takes a snapshot.
struct ClusterStart {
  static let nodeFileName = "larder.node"
  /// Pause between two attempts to reach PostgreSQL, or to find what another node makes.
  private static let pause = Duration.milliseconds(200)
  private static let ownerOnly = 0o600
  /// How much longer than a node counts as live a process with the same id is waited for.
  private static let twinPatience = Duration.seconds(2)
  /// Rows that are read at once, in bytes of payload.
  static let rowsBytesMax = 4 << 20

  let node: ClusterNode
  let digest: String
  /// The types whose tables the node reads.
  let types: [EntityType]
  let logger: Logger

  init(node: ClusterNode, digest: String, types: [EntityType], logger: Logger) {
    self.node = node
    self.digest = digest
    self.types = types
    self.logger = logger
  }

  init(_ node: ClusterNode, _ workspace: Workspace) {
    self.init(
      node: node, digest: workspace.digest ?? "", types: workspace.registry.catalogue.types,
      logger: node.logger)
  }

  private var folder: String { node.folder.path }

  // MARK: Identity

  /// Returns the id of the node that a data folder belongs to, and makes one for a new folder.
  static func nodeID(of folder: DataFolder) throws(StartFailure) -> NodeID {
    let path = "\(folder.path)/\(nodeFileName)"
    if let data = FileManager.default.contents(atPath: path) {
      let text = String(decoding: data, as: UTF8.self).trimmingWhitespace
      if !text.isEmpty { return NodeID(text) }
    }
    let id = "n_" + Hexadecimal.encode((0..<6).map { _ in UInt8.random(in: 0...255) })
    let isWritten = FileManager.default.createFile(
      atPath: path, contents: Data((id + "\n").utf8),
      attributes: [.posixPermissions: ownerOnly])
    guard isWritten else {
      throw StartFailure(.dataFolder, "The file \(path) cannot be written.")
    }
    return NodeID(id)
  }

  // MARK: Place

  /// Brings the data folder to a state in which the node can open it as a replica, or takes the lease of a new
  /// cluster to open it as the leader. Waits for PostgreSQL, or for another node's first snapshot, as long as it
  /// takes.
  ///
  /// A node that was cut off and never left serves what it has if PostgreSQL cannot be reached. One that has left may
  /// not: no response has named it as a node that does not know yet of a revocation.
  ///
  /// - Throws: ``StartFailure`` if the folder has data that is not the cluster's.
  func run() async throws {
    var hasWaited = false
    var target: Int64?
    var twinSince: ContinuousClock.Instant?
    while true {
      let own = try position()
      if own == nil, Store.hasDatabase(folder: folder) {
        throw StartFailure(
          .dataFolder,
          "The data folder \(folder) has data of a single machine. Run `larder cluster import` to begin a "
            + "cluster with it, or set an empty folder with `data`.")
      }
      do {
        try await node.backend.prepare()
        try await checkTwins()
        if try await place(own, &target) {
          try await beat()
          node.folder.note(hasLeft: false)
          return
        }
      } catch let error as ClusterError {
        if case .faulty(let reason) = error {
          throw StartFailure(.faultySettings, "The node cannot join its cluster: \(reason).")
        }
        if case .twin(let url) = error {
          try await waitForTwin(at: url, since: &twinSince)
          continue
        }
        twinSince = nil
        if let own, !own.isDiverged, !node.folder.hasLeft, try isCurrent(),
          try missingTables() == nil
        {
          logger.error(
            "the cluster's database cannot be reached: reads are served as they were here",
            metadata: ["cause": "\(error)"])
          node.link.note(isCutOff: true)
          return
        }
        if !hasWaited {
          logger.error("waiting for the cluster's database", metadata: ["cause": "\(error)"])
        }
        hasWaited = true
      }
      try await Task.sleep(for: Self.pause)
    }
  }

  // MARK: Twins

  /// Throws if a live process is this node in another folder, before this one takes a lease in its name.
  private func checkTwins() async throws(ClusterError) {
    let me = node.record(digest: digest)
    let twin = try await node.backend.nodes().first {
      $0.id == me.id && $0.isLive && !$0.place.isEmpty && !me.place.isEmpty && $0.place != me.place
    }
    if let twin { throw .twin(url: twin.url) }
  }

  /// Reports the node for the first time. A twin that was faster keeps the name, and this node no lease.
  private func beat() async throws {
    do {
      try await node.backend.beat(node.record(digest: digest))
    } catch {
      if let lease = node.lease {
        try? await node.backend.release(lease, to: nil)
        node.become(.replica)
      }
      throw error
    }
  }

  /// Waits a moment: a folder that has moved to this machine, or that machine's last start, is reported until it
  /// counts as gone. A process that goes on reporting is another one.
  ///
  /// - Parameter since: when the twin was first found.
  private func waitForTwin(at url: String, since: inout ContinuousClock.Instant?) async throws {
    let start = since ?? .now
    if since == nil {
      logger.warning(
        "a process with the id of this node was seen a moment ago: waiting until it counts as gone",
        metadata: ["url": "\(url)"])
    }
    since = start
    guard .now - start < ClusterAssembly.liveFor(node.settings) + Self.twinPatience else {
      throw Self.twinFailure(node, at: url)
    }
    try await Task.sleep(for: Self.pause)
  }

  static func twinFailure(_ node: ClusterNode, at url: String) -> StartFailure {
    StartFailure(
      .dataFolder,
      "Another process runs as the node \(node.id), at \(url), so one of the two data folders is a copy of the "
        + "other; this one is \(node.folder.path). Remove \(nodeFileName) from the copy, which makes it a node of its "
        + "own, and start that again.")
  }

  private func isCurrent() throws(StartFailure) -> Bool {
    do throws(StorageError) {
      return try Store.isCurrent(folder: folder)
    } catch {
      throw StartFailure(.dataFolder, StorageStartError.text(error, folder: folder))
    }
  }

  private func position() throws(StartFailure) -> ClusterPosition? {
    do throws(StorageError) {
      return try Store.clusterPosition(folder: folder)
    } catch {
      throw StartFailure(.dataFolder, StorageStartError.text(error, folder: folder))
    }
  }

  /// - Parameter target: the end of the log when it was first looked at, which the node applies before it serves.
  /// - Returns: whether the folder can be opened.
  private func place(_ own: ClusterPosition?, _ target: inout Int64?) async throws -> Bool {
    let cluster = try await node.backend.identity()
    node.note(cluster: cluster)
    if let own {
      guard own.cluster == cluster else {
        throw StartFailure(
          .dataFolder,
          "The data folder \(folder) belongs to another cluster than the one in `cluster.postgres`. Set "
            + "another folder with `data`, or the right database.")
      }
      let head = try await node.backend.head()
      let finding = try await LogComparison.of(own, node.backend, head)
      if finding == .fits {
        node.note(closedPosition: own.position)
        guard try isCurrent() else { return try await upgrade(from: own) }
        if let reason = try missingTables() { return try await waitForTables(reason, own, head) }
        let end = target ?? head.position
        target = end
        if own.position >= end { return true }
        try await replay()
        return false
      }
      let isNew = node.isNew("\(finding)")
      if isNew { finding.note(own, head, in: logger) }
      guard let snapshot = try await node.backend.fittingSnapshot(head) else {
        if isNew { LogComparison.noteNoSnapshot(in: logger) }
        return false
      }
      try await SnapshotPlacing(node: node).fetch(snapshot)
      try SnapshotPlacing(node: node).place(keepingAhead: finding.losesRows ? own.position : nil)
      return false
    }
    if let snapshot = try await node.backend.latestSnapshot() {
      try await SnapshotPlacing(node: node).fetch(snapshot)
      try SnapshotPlacing(node: node).place()
      return false
    }
    guard node.settings.isCandidate else { return false }
    guard
      let lease = try await node.backend.take(
        node.record(digest: digest), for: node.settings.lease)
    else { return false }
    guard try await node.backend.head().position == 0 else {
      try await node.backend.release(lease, to: nil)
      throw StartFailure(
        .dataFolder,
        "The cluster in `cluster.postgres` has data and no snapshot. Start one of its nodes with its data "
          + "folder first.")
    }
    node.become(.leader(lease))
    node.note(leader: lease)
    return true
  }

  /// Waits until this node, of a newer version than its database, may migrate it: until it leads, or until another
  /// node of its version has done so and has written a snapshot.
  ///
  /// - Returns: whether the folder can be opened.
  private func upgrade(from own: ClusterPosition) async throws -> Bool {
    if let snapshot = try await node.backend.latestSnapshot(), snapshot.position > own.position,
      snapshot.version == Version.text
    {
      try await SnapshotPlacing(node: node).fetch(snapshot)
      try SnapshotPlacing(node: node).place()
      return false
    }
    guard node.settings.isCandidate,
      let lease = try await node.backend.take(
        node.record(digest: digest), for: node.settings.lease)
    else {
      if let leader = try await node.backend.lease(), node.leader?.epoch != leader.epoch {
        node.note(leader: leader)
        logger.notice(
          "waiting for the leader, whose version has other tables: restart it with this version",
          metadata: ["leader": "\(leader.url)"])
      }
      return false
    }
    do {
      try await replay()
    } catch {
      try? await node.backend.release(lease, to: nil)
      throw error
    }
    node.become(.leader(lease))
    node.note(leader: lease)
    return true
  }

  /// Returns which tables or columns of this node's operations the database does not have, which only a leader
  /// makes; nil if it has all, or if a process uses it.
  func missingTables() throws(StartFailure) -> String? {
    var configuration = StoreConfiguration(
      folder: folder, segment: 1, opened: SystemClock.wall.now())
    configuration.role = .replica
    do throws(StorageError) {
      try Store.open(configuration, types: types).close()
      return nil
    } catch {
      switch error {
      case .otherTables(let reason): return reason
      case .inUse: return nil
      default: throw StartFailure(.dataFolder, StorageStartError.text(error, folder: folder))
      }
    }
  }

  /// Follows the log without serving, until a leader has made the tables of this node's operations, or until this
  /// node may lead and makes them.
  ///
  /// - Returns: whether the folder can be opened.
  private func waitForTables(
    _ reason: String, _ own: ClusterPosition, _ head: LogHead
  ) async throws -> Bool {
    if node.isNew(reason) {
      logger.notice(
        """
        waiting for a leader with this node's operations: deploy them there, or make this node the leader with \
        larder cluster transfer
        """, metadata: ["missing": "\(reason)"])
    }
    try await node.backend.beat(node.record(digest: digest))
    guard try await node.mayLead(digest: digest),
      let lease = try await node.backend.take(
        node.record(digest: digest), for: node.settings.lease)
    else {
      node.note(leader: try await node.backend.lease())
      if own.position < head.position { try await replay() }
      return false
    }
    do {
      try await replay()
    } catch {
      try? await node.backend.release(lease, to: nil)
      throw error
    }
    node.become(.leader(lease))
    node.note(leader: lease)
    return true
  }

  /// Applies the rest of the log to a database that this node does not serve.
  private func replay() async throws {
    var configuration = StoreConfiguration(
      folder: folder, segment: 1, opened: SystemClock.wall.now())
    configuration.role = .replay
    let store = try Store.open(configuration, types: [])
    defer { store.close() }
    while true {
      let rows = try await node.backend.rows(after: store.position, bytesMax: Self.rowsBytesMax)
      guard !rows.isEmpty else { return }
      _ = try await store.apply(
        rows.map(ReplicatedRow.init))
    }
  }
}

/// Replaces a node's database by a snapshot.
struct SnapshotPlacing {
  let node: ClusterNode

  private var placing: DatabasePlacing {
    DatabasePlacing(folder: node.folder.path, logger: node.logger)
  }

  /// Gets the bytes of a snapshot, while the present database is open.
  func fetch(_ snapshot: SnapshotInfo) async throws(ClusterError) {
    placing.noteFetching(position: snapshot.position, byteCount: snapshot.byteCount)
    try await node.backend.getSnapshot(snapshot, into: placing.file)
  }

  /// Puts the fetched file in the place of the database. See ``DatabasePlacing/place(keepingAhead:)``.
  func place(keepingAhead ahead: Int64? = nil) throws(StartFailure) {
    try placing.place(keepingAhead: ahead)
  }
}

extension String {
  fileprivate var trimmingWhitespace: String {
    String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
  }
}
