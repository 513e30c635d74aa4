import Metrics

/// How a request that a node passed on to the leader ended.
package enum ForwardOutcome: String, CaseIterable, Sendable {
  /// The leader responded, whatever its status.
  case responded
  /// The other node was not the leader.
  case notLeader = "not_leader"
  /// There was no leader, or it could not be reached.
  case unreachable
  /// The leader did not respond in time, or broke off.
  case failed
  /// The leader did not accept the signature: another secret, or clocks apart.
  case refused
  /// This node had as many requests or streams at the leader as it may.
  case crowded
}

extension ForwardOutcome {
  init(_ fault: ForwardingFault) {
    self =
      switch fault {
      case .notLeader: .notLeader
      case .noLeader, .unreachable: .unreachable
      case .unanswered: .failed
      case .refused: .refused
      case .declined: .responded
      case .crowded: .crowded
      }
  }
}

/// Counters of a node of a cluster. A single machine has none.
package final class ClusterMeters: Sendable {
  private let forwarded: [ForwardOutcome: Counter]
  private let appends = Timer(label: "larder.cluster.append.duration")

  package init() {
    forwarded = Dictionary(
      uniqueKeysWithValues: ForwardOutcome.allCases.map { outcome in
        let dimensions = [("outcome", outcome.rawValue)]
        return (
          outcome, Counter(label: "larder.cluster.forwarded.requests", dimensions: dimensions)
        )
      })
  }

  package func noteForwarded(_ outcome: ForwardOutcome) { forwarded[outcome]?.increment() }

  /// Notes the time that PostgreSQL took for one row of the log. Called on the writer's thread.
  package func noteAppend(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    appends.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  }
}
