package import Model

/// The user of a verified token.
package struct VerifiedUser: Hashable, Sendable {
  /// The token's subject; prefixed with the issuer unless it is the first.
  package let id: String
  /// The session that the token was issued in, if it names one.
  package let session: String?
  /// The time from which the token is refused.
  package let expires: Timestamp
  /// Whether this service issued the token.
  package let isOwn: Bool
  /// The token's claims that responses are shared by.
  package let claims: [Claim]

  package init(
    id: String, session: String? = nil, expires: Timestamp, isOwn: Bool = false,
    claims: [Claim] = []
  ) {
    self.isOwn = isOwn
    self.id = id
    self.session = session
    self.expires = expires
    self.claims = claims
  }

  /// The size of its texts, for cache accounting.
  var byteCount: Int {
    claims.reduce(id.utf8.count + (session?.utf8.count ?? 0)) {
      $0 + MemoryLayout<Claim>.stride + $1.name.utf8.count + $1.value.utf8.count
    }
  }
}

/// Why a token of a configured issuer is refused.
package enum TokenFault: Error, Hashable, Sendable {
  /// Expired; the client should refresh it.
  case expired
  case notYetValid
  /// The claims are malformed, or a required one is missing.
  case malformed
  /// The token is for another audience.
  case wrongAudience
  /// The issuer is not the key's.
  case wrongIssuer
  /// The algorithm is not supported, or not the key's.
  case wrongAlgorithm
  /// The issuer has no key with this id.
  case unknownKey
  case wrongSignature
  /// The issuer's keys could not be fetched; the client can retry.
  case keysUnavailable(cause: String)
}
