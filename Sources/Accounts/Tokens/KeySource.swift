/// Where the keys of an issuer come from: this service's own store, or the issuer over the network.
protocol KeySource: Sendable {
  /// - Parameter id: what the token names; nil where it names none, which only one key allows.
  func key(
    id: String?, algorithm: TokenAlgorithm
  ) async throws(TokenFault) -> VerificationKey

  /// Whether a key of this id is known without asking anybody.
  func knows(keyID: String) -> Bool
}
