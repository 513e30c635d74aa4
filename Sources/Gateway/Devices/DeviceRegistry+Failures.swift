import Model

extension DeviceRegistry {
  /// The failure for a device that another user has signed in on.
  static var ofAnotherUser: Failure {
    Failure(
      .deviceOfAnotherUser,
      "This device token belongs to another user. Register a new device for this one.")
  }

  static var unknown: Failure {
    Failure(.unauthenticated, "The device token is unknown.")
  }

  /// The failure for a token that this node does not know. A client that is told that its token is unknown registers
  /// again and loses its data, so only a node that has all tokens says so.
  ///
  /// - Parameter leader: what a replica knows of the leader; nil on other nodes.
  static func unknownHere(_ leader: LeaderLink?, isCutOff: Bool) -> Failure {
    if isCutOff {
      return Failure(
        .nodeBehind,
        "This node does not know the device token, and cannot reach its cluster, which may know it; retry "
          + "later, or at another node.", retry: .after, retryAfter: .seconds(1))
    }
    return leader?.need() ?? unknown
  }
}
