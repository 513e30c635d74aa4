/// The part of a node in its cluster. It stays the same as long as a deployment is open: a change of role opens
/// the next one.
package enum ClusterRole: Sendable {
  /// There is no cluster.
  case alone
  case leader(LeaderDuties)
  case replica(ReplicaDuties)

  package var isInCluster: Bool {
    if case .alone = self { false } else { true }
  }

  /// Nil on a node that is not a replica.
  package var link: LeaderLink? {
    if case .replica(let duties) = self { duties.link } else { nil }
  }

  /// Whether this node learns nothing new of its cluster, so that other nodes can have what it does not.
  package var isCutOff: Bool {
    switch self {
    case .alone: false
    case .leader(let duties): duties.isCutOff()
    case .replica(let duties): duties.link.isCutOff
    }
  }

  package var replica: ReplicaDuties? {
    if case .replica(let duties) = self { duties } else { nil }
  }

  package var leader: LeaderDuties? {
    if case .leader(let duties) = self { duties } else { nil }
  }
}

/// What a leader needs to answer forwarded requests, and those that every node must have noticed.
package struct LeaderDuties: Sendable {
  /// The position of the log after this node's last commit.
  package let position: @Sendable () -> Int64
  package let progress: any ReplicaProgress
  /// Whether the lease may be over, because it could not be renewed in time: another node may lead, and have what
  /// this one does not.
  package let isCutOff: @Sendable () -> Bool
  /// The node and the epoch of its lease, which the claims of its queue show; empty if they do not matter.
  package let term: String
  /// What other nodes get to know of this one.
  package let answer: NodeAnswer?

  package init(
    position: @escaping @Sendable () -> Int64, progress: any ReplicaProgress,
    isCutOff: @escaping @Sendable () -> Bool = { false }, term: String = "",
    answer: NodeAnswer? = nil
  ) {
    self.answer = answer
    self.isCutOff = isCutOff
    self.position = position
    self.progress = progress
    self.term = term
  }
}

/// What a replica needs to have the leader answer.
package struct ReplicaDuties: Sendable {
  package let link: LeaderLink
  package let forwarder: LeaderForwarder
  /// What other nodes get to know of this one.
  package var answer: NodeAnswer?

  package init(link: LeaderLink, forwarder: LeaderForwarder, answer: NodeAnswer? = nil) {
    self.answer = answer
    self.link = link
    self.forwarder = forwarder
  }
}

/// How far the replicas have applied the log.
package protocol ReplicaProgress: Sendable {
  /// Waits until all live replicas have applied a position, or for the time limit.
  ///
  /// - Returns: the ids of the nodes that have applied it, and of those that have not, or of which that is not known.
  ///   Nodes that are not seen any more are among these: one that is cut off from PostgreSQL goes on serving.
  func waitUntilApplied(
    _ position: Int64, atMost limit: Duration
  ) async -> (applied: [String], pending: [String])
}
