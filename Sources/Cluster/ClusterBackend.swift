/// What the nodes of a cluster share: the lease of the leader, the log, the inbox, the list of nodes, and
/// snapshots to start from.
///
/// Times are those of the backend's clock, never a node's: nodes whose clocks differ agree on who leads.
/// Every call ends within the backend's deadline. A call that throws ``ClusterError/unavailable(_:)`` has
/// changed nothing that a repetition of it would not.
package protocol ClusterBackend: Sendable {
  /// Creates the tables, or what is missing of them and can be created without a loss: the list of nodes, that of
  /// snapshots, and the inbox, whose entries are lost already. Any number of nodes can call it at once, at each start.
  ///
  /// Throws ``ClusterError/faulty(_:)`` if more is missing, see ``losses()``.
  func prepare() async throws(ClusterError)

  /// Returns what is missing of tables that were once there, in words for operators: empty if all is there, or if the
  /// cluster was never made. Only ``erase()`` makes it usable again.
  func losses() async throws(ClusterError) -> [String]

  /// Returns the name that the cluster got when its tables were created: random, so that a data folder of another
  /// cluster is noticed.
  func identity() async throws(ClusterError) -> String

  /// Removes everything that the nodes share and begins a cluster with another identity, in which no node is, also if
  /// some of it is lost. The nodes must be stopped.
  ///
  /// Throws ``ClusterError/fenced`` if a node leads.
  func erase() async throws(ClusterError)

  // MARK: Lease

  /// Returns the lease; nil if there is none, or if it has expired.
  func lease() async throws(ClusterError) -> Lease?

  /// Takes the lease for `duration` if it is free, has expired, or is held by the same node.
  ///
  /// Each lease that is taken has a new epoch, also one that the node held before: an append that an earlier
  /// process of the node left behind must not be committed under the new lease. To keep a lease, renew it.
  ///
  /// The lease's ``Lease/validFor`` counts from before the call: its response took some of it.
  ///
  /// - Returns: nil if another node holds it, or was named as the next holder.
  func take(_ me: NodeRecord, for duration: Duration) async throws(ClusterError) -> Lease?

  /// Extends a lease to `duration` from now. An expired one is extended too if no node has taken it.
  ///
  /// - Returns: false if the lease was taken by another node, or released.
  func renew(_ lease: Lease, for duration: Duration) async throws(ClusterError) -> Bool

  /// Ends a lease at once, and wakes the nodes that wait for rows; does nothing if it has another holder or epoch by now.
  ///
  /// - Parameter heir: the only node that may take it, for as long as the lease's last duration.
  func release(_ lease: Lease, to heir: NodeID?) async throws(ClusterError)

  func succession() async throws(ClusterError) -> Succession

  // MARK: Log

  func head() async throws(ClusterError) -> LogHead

  /// Returns the rows after a position, in order and without gaps, until they have `bytesMax` bytes of
  /// payload; at least one if there is one.
  ///
  /// Throws ``ClusterError/faulty(_:)`` if the row after `position` was removed: the node must start from a
  /// snapshot.
  func rows(after position: Int64, bytesMax: Int) async throws(ClusterError) -> [LogRow]

  /// Returns what appends to the log under a lease. It has a session of its own, made by the first append.
  func appender(of lease: Lease) throws(ClusterError) -> any LogAppender

  /// Allows the backend to remove the rows up to a position. The last row of the log always stays, and others
  /// can stay for a while: ``LogHead/floor`` says which are left.
  func trim(upTo position: Int64) async throws(ClusterError)

  /// Waits until the log may have rows after a position, at most that long. A wait can end early, so read the
  /// rows; and without a connection it ends by its limit alone.
  func waitForRows(after position: Int64, atMost limit: Duration) async

  // MARK: Inbox

  /// Adds entries in their order, all or none. An entry whose device and key are in the inbox is not added
  /// again.
  ///
  /// Numbers are given in the order of commits over all nodes: once an entry is seen, none with a smaller
  /// number appears. A number can be missing.
  ///
  /// Throws ``ClusterError/inDoubt(_:)`` if the entries may have been added. They can be submitted again.
  ///
  /// - Returns: a receipt for each entry, in their order.
  func submit(_ entries: [InboxEntry]) async throws(ClusterError) -> [InboxReceipt]

  /// Returns entries with larger numbers, in order of their numbers.
  func inbox(after number: Int64, limit: Int) async throws(ClusterError) -> [InboxEntry]

  /// Returns the entries of one device, in order of their numbers.
  func inbox(of device: String) async throws(ClusterError) -> [InboxEntry]

  func inboxState() async throws(ClusterError) -> InboxState

  /// Removes entries with these numbers; numbers without an entry are ignored.
  func removeInbox(_ numbers: [Int64]) async throws(ClusterError)

  /// Waits until the inbox may have entries with larger numbers, at most that long, like
  /// ``waitForRows(after:atMost:)``.
  func waitForInbox(after number: Int64, atMost limit: Duration) async

  // MARK: Nodes

  /// Records a node's address, position and version, and that it was seen now.
  ///
  /// Throws ``ClusterError/twin(url:)``, and records nothing, while a live node with the same id has another
  /// ``NodeRecord/place``.
  func beat(_ me: NodeRecord) async throws(ClusterError)

  /// Returns all nodes that were ever seen and not removed, in order of their ids.
  func nodes() async throws(ClusterError) -> [NodeRecord]

  /// Forgets a node. One that is still running appears again with its next beat.
  func remove(_ id: NodeID) async throws(ClusterError)

  // MARK: Snapshots

  /// Returns the complete snapshot with the largest position; nil if there is none.
  func latestSnapshot() async throws(ClusterError) -> SnapshotInfo?

  /// Stores a file as the snapshot of a position, and then removes older ones. It is visible to others once it
  /// is complete.
  ///
  /// - Parameters:
  ///   - file: a path. The file must not change while it is read.
  ///   - version: the version of Larder that wrote it.
  func putSnapshot(position: Int64, file: String, version: String) async throws(ClusterError)
    -> SnapshotInfo

  /// Writes the bytes of a snapshot to a new file, and syncs it. A file of the path is replaced.
  ///
  /// Throws ``ClusterError/faulty(_:)`` if the bytes do not have the snapshot's digest, and
  /// ``ClusterError/unavailable(_:)`` if it was removed in the meantime: look for the latest one again. It
  /// leaves no file when it throws.
  func getSnapshot(_ info: SnapshotInfo, into file: String) async throws(ClusterError)

  /// Closes all connections. Later calls throw ``ClusterError/unavailable(_:)``.
  func close() async
}

/// Appends to the log under one lease.
///
/// It is called on the store's writer thread and blocks it, until the backend's deadline at the latest, so the
/// order of positions is the order of commits.
package protocol LogAppender: AnyObject, Sendable {
  /// Appends one row at exactly `position`, which must be the last one + 1, in one transaction that checks the
  /// lease; afterwards it wakes the waiting nodes.
  ///
  /// | error | what has happened | what to do |
  /// |---|---|---|
  /// | `unavailable` | nothing was appended | roll back; the same append can be repeated |
  /// | `fenced` | nothing was appended: another node leads, or the position is not the next one | stop leading |
  /// | `inDoubt` | unknown, and it may still be under way | roll back; take the lease again; then read the head |
  /// | `faulty` | nothing was appended | roll back and report |
  ///
  /// In doubt, the head alone is no answer: the append can be committed after it was read. The next lease ends
  /// that, since it waits for an append that is being committed, and fences one that has not begun.
  func append(_ payload: [UInt8], at position: Int64) throws(ClusterError)

  /// Closes the session. An append that runs ends with an error.
  func close()
}
