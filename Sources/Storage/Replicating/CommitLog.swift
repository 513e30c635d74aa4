/// The durable log that several nodes share. A leader appends each of its transactions before it commits them,
/// and replicas apply them in the same order.
package protocol CommitLog: Sendable {
  /// Appends one row. Called on the writer's thread, with the transaction open, and blocks until the row is
  /// durable.
  ///
  /// - Parameter position: the number of the row; one more than the last.
  func append(_ payload: [UInt8], at position: Int64) throws(CommitLogError)
}

/// The reason why a row was not appended.
package enum CommitLogError: Error, Sendable, Hashable {
  /// Nothing was appended. The same transaction can be tried again.
  case unavailable(String)
  /// Another node leads: this one must write nothing more.
  case notLeader
  /// It is unknown whether the row was appended: this node must write nothing more before it has read the end of
  /// the log.
  case inDoubt(String)
}

/// The part of a store in a cluster.
package enum StoreRole: Sendable {
  /// The only node; nothing is logged.
  case alone
  /// Appends every transaction to the log before it is committed.
  ///
  /// `cluster` names the cluster, for a database that is in none yet; `epoch` is that of the lease.
  case leader(cluster: String, epoch: Int64, log: any CommitLog)
  /// Is changed only by log rows, see ``Store/apply(_:)``.
  case replica
  /// A replica that is not read: it can be of an older version, and is opened without types.
  case replay
}

extension StoreRole {
  var isReplica: Bool {
    switch self {
    case .replica, .replay: true
    case .alone, .leader: false
    }
  }
}
