import Model

extension ClientNetwork {
  /// How many networks' attempts a whole block of them has.
  private static let blockShare = 8

  /// What attempts from here are counted for: the network, and the block where that is larger.
  var attemptNames: [AttemptThrottle.Name] {
    let own = AttemptThrottle.Name("network \(name)")
    guard block != name else { return [own] }
    return [own, AttemptThrottle.Name("block \(block)", share: Self.blockShare)]
  }
}
