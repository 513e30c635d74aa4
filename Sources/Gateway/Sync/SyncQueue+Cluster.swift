package import Model
import Storage

/// What reads on a node of a cluster need to know of the queue's inbox.
extension SyncQueue {
  /// Whether the node belongs to a cluster, so that requests need ``prepareReads(of:cursors:)``.
  package var isInCluster: Bool { submitter != nil }

  /// Whether a device can have submitted what cached responses do not show, so that none may be sent before
  /// ``prepareReads(of:cursors:)``.
  package var needsPreparation: Bool { submitter?.mirror.isNeeded ?? false }

  /// Prepares this node of a cluster for reads of a caller's device: they show what the device has submitted on
  /// any node.
  ///
  /// - Parameter cursors: those that the caller presents, whose submissions must show.
  /// - Returns: false if this node is cut off from the cluster's database, so that others may be missing.
  ///   The response says so.
  package func prepareReads(
    of caller: Caller, cursors presented: [String]
  ) async throws(Failure) -> Bool {
    guard let submitter, let device = caller.device?.id else { return true }
    let entry = presented.compactMap { cursors.entry(coveredBy: $0) }.max()
    return try await submitter.mirror.prepare(device, covering: entry) == .whole
  }

  /// The last submission of a caller's device that only the inbox of the cluster has, and that this node shows
  /// it; nil for none.
  package func inboxEntry(shownTo caller: Caller) -> Int64? {
    guard let device = caller.device?.id else { return nil }
    return submitter?.mirror.submissions(of: device).last?.number
  }
}
