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
      let found = try? await backend.nodes()
      if let found { note(others: found.map(\.id).filter { $0 != id }) }
      let others = found?.filter { $0.id != id } ?? []
      let applied = others.filter { $0.position >= position }.map(\.id)
      let isAwaited = found == nil || others.contains { $0.isLive && $0.position < position }
      if !isAwaited || ContinuousClock.now >= deadline || Task.isCancelled {
        let pending = self.others.filter { !applied.contains($0) }
        return (applied.map(\.text), pending.map(\.text))
      }
      try? await Task.sleep(for: Self.lookAgain)
    }
  }
}
