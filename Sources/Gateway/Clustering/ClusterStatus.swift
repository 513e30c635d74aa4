package import Model

/// The place of this service in its cluster, for metrics and operators.
package protocol ClusterStatus: Sendable {
  /// What this node knows without a request, for metrics. It must not block.
  var measures: ClusterMeasures { get }

  /// Reads the state from the database that the nodes share, within that database's deadline. What could not be
  /// read is absent, and ``ClusterReport/outage`` says why.
  func report() async -> ClusterReport
}

/// The numbers of one node.
package struct ClusterMeasures: Sendable, Hashable {
  /// The last position of the log that this node has applied; on the leader, the last one that it has written.
  package var position: Int64
  /// Rows of the log, as far as this node knows of them, that it has not applied.
  package var lagRows: Int64
  /// How long the oldest of these rows has waited, and while the node is cut off at least the time since it last
  /// knew the end of the log: it can have missed rows since then. Zero for a node that has them all.
  package var lag: Duration
  /// The epoch of the lease that this node knows of.
  package var epoch: Int64
  package var isLeader: Bool
  /// Whether the node learns nothing new of its cluster, see ``ClusterRole/isCutOff``.
  package var isCutOff: Bool
  /// Mutations that wait for the leader; nil if this node does not know, as while it is cut off.
  package var inboxEntries: Int?

  package init(
    position: Int64, lagRows: Int64, lag: Duration, epoch: Int64, isLeader: Bool,
    isCutOff: Bool = false, inboxEntries: Int?
  ) {
    self.position = position
    self.lagRows = lagRows
    self.lag = lag
    self.epoch = epoch
    self.isLeader = isLeader
    self.isCutOff = isCutOff
    self.inboxEntries = inboxEntries
  }
}

/// The state of a cluster as the database that its nodes share has it.
package struct ClusterReport: Sendable {
  package struct Node: Sendable, Hashable {
    package let id: String
    package let url: String
    package let isLeader: Bool
    package let isLive: Bool
    /// The last position that it has reported.
    package let position: Int64
    package let version: String
    package let digest: String
    /// The time since it reported.
    package let seenAgo: Duration

    package init(
      id: String, url: String, isLeader: Bool, isLive: Bool, position: Int64, version: String,
      digest: String, seenAgo: Duration
    ) {
      self.id = id
      self.url = url
      self.isLeader = isLeader
      self.isLive = isLive
      self.position = position
      self.version = version
      self.digest = digest
      self.seenAgo = seenAgo
    }
  }

  package struct Lease: Sendable, Hashable {
    package let epoch: Int64
    package let node: String
    package let url: String
    package let digest: String
    package let validFor: Duration

    package init(epoch: Int64, node: String, url: String, digest: String, validFor: Duration) {
      self.epoch = epoch
      self.node = node
      self.url = url
      self.digest = digest
      self.validFor = validFor
    }
  }

  package struct Log: Sendable, Hashable {
    package let position: Int64
    /// Rows after this position can be read; a node below it starts from a snapshot.
    package let floor: Int64
    package let epoch: Int64

    package init(position: Int64, floor: Int64, epoch: Int64) {
      self.position = position
      self.floor = floor
      self.epoch = epoch
    }
  }

  package struct Inbox: Sendable, Hashable {
    package let entries: Int
    /// Nil without entries.
    package let oldestAge: Duration?

    package init(entries: Int, oldestAge: Duration?) {
      self.entries = entries
      self.oldestAge = oldestAge
    }
  }

  package struct Snapshot: Sendable, Hashable {
    package let position: Int64
    package let byteCount: Int64
    /// By the clock of the shared database.
    package let made: Timestamp
    package let version: String

    package init(position: Int64, byteCount: Int64, made: Timestamp, version: String) {
      self.position = position
      self.byteCount = byteCount
      self.made = made
      self.version = version
    }
  }

  /// The setting `cluster.name`.
  package let name: String
  /// The node that reports; nil for a command beside it.
  package var node: String?
  /// Why the shared database could not be read, for operators; nil if it was.
  package var outage: String?
  /// Nil if no node leads, or if that could not be read.
  package var lease: Lease?
  package var log: Log?
  package var inbox: Inbox?
  package var snapshot: Snapshot?
  /// In order of their ids.
  package var nodes: [Node] = []

  package init(name: String, node: String? = nil) {
    self.name = name
    self.node = node
  }

  /// The rows that a node has not reported as applied; nil if the log could not be read.
  package func lagRows(of node: Node) -> Int64? { log.map { max(0, $0.position - node.position) } }

  /// Whether a node has the operations, schemas and local types of the leader. Without a leader, those of most
  /// live nodes count, and of several equally common ones the first in order.
  package func agrees(_ node: Node) -> Bool {
    guard let expected = lease?.digest ?? commonDigest else { return true }
    return node.digest == expected
  }

  private var commonDigest: String? {
    let counts = nodes.filter(\.isLive).reduce(into: [:]) { $0[$1.digest, default: 0] += 1 }
    return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
  }
}
