/// Why a token that names an issuer of ours is refused.
package enum TokenFault: Error, Hashable, Sendable {
  /// It was good: refresh it.
  case expired
  case notYetValid
  /// The claims cannot be read, or one that must be there is not.
  case malformed
  /// For another service.
  case wrongAudience
  /// Another issuer than the key's.
  case wrongIssuer
  /// An algorithm that is not taken, or not the key's.
  case wrongAlgorithm
  /// No key of the issuer's has this id.
  case unknownKey
  case wrongSignature
  /// The issuer's keys could not be had: try again.
  case keysUnavailable(cause: String)
}
