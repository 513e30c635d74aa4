import Cluster
import Synchronization

/// Decides whether a node may take a lease that no node holds.
///
/// A node with other operations than the last leader's would change what all clients get, so a node with the same
/// ones comes first. A whole deployment of new operations is not left without a leader, though.
final class CandidacyRule: Sendable {
  /// How long no live node must have had the last leader's operations before one with others leads.
  static let patience = Duration.seconds(30)

  /// Since when no live node has had them.
  private let missing = Mutex<ContinuousClock.Instant?>(nil)

  /// - Parameters:
  ///   - id: of the node that asks.
  ///   - digest: of its operations, schemas and local types.
  ///   - nodes: all nodes, read when there was no leader.
  func mayLead(
    _ id: NodeID, digest: String, _ succession: Succession, among nodes: [NodeRecord],
    at now: ContinuousClock.Instant = .now
  ) -> Bool {
    if let heir = succession.heir { return heir == id }
    let last = succession.digest
    let isThere =
      last.isEmpty || last == digest
      || nodes.contains { $0.isLive && $0.id != id && $0.digest == last }
    return missing.withLock { missing in
      guard !isThere else {
        missing = nil
        return last.isEmpty || last == digest
      }
      let since = missing ?? now
      missing = since
      return now - since >= Self.patience
    }
  }
}
