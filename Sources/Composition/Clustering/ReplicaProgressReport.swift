import Cluster
import Gateway
import Transport

/// How far the other nodes are, as they report it to PostgreSQL.
extension ClusterNode: ReplicaProgress {
  private static let lookAgain = Duration.milliseconds(10)

  func waitUntilApplied(
    _ position: Int64, atMost limit: Duration
  ) async -> (applied: [String], pending: [String]) {
    let deadline = ContinuousClock.now + limit
    while true {
      let others = ((try? await backend.nodes()) ?? []).filter { $0.isLive && $0.id != id }
      let pending = others.filter { $0.position < position }
      if pending.isEmpty || ContinuousClock.now >= deadline || Task.isCancelled {
        let applied = others.filter { $0.position >= position }
        return (applied.map(\.id.text), pending.map(\.id.text))
      }
      try? await Task.sleep(for: Self.lookAgain)
    }
  }
}
