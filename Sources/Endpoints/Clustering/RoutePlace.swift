import HTTPServer
import HTTPWire

/// Which nodes of a cluster answer the requests of a route.
package enum RoutePlace: Hashable, Sendable {
  /// Each node, from its own store; what needs upstream or a write is passed on to the leader.
  case anyNode
  /// Only the leader: other nodes pass the request on before anything else.
  case leader
  /// The leader, and each node from its own state while there is none or it cannot be reached: what operators
  /// read to find out why.
  case leaderIfReachable

  /// The place of a route, unless its line of the table says otherwise: what can write belongs to the
  /// leader, and what operators read is the leader's, as long as it responds.
  static func place(of method: RequestMethod, _ pattern: RoutePattern) -> Self {
    guard method == .get else { return .leader }
    return "\(pattern)".hasPrefix(OperatorAccess.prefix) ? .leaderIfReachable : .anyNode
  }
}

/// When the response to a write is sent.
package enum WriteReach: Hashable, Sendable {
  /// Once the leader has stored it.
  case leader
  /// Once every live replica has applied it, or after a bound; the response says which have. For what must
  /// take effect on all nodes: a token that was replaced must be refused everywhere.
  case everyNode
}
