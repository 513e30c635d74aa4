package import Model

/// Whom a verified token stands for.
package struct VerifiedUser: Hashable, Sendable {
  /// The token's subject; with the issuer before it where the issuer is not the first.
  package let id: String
  /// The session the token was given in, where it says so.
  package let session: String?
  /// From here on the token is refused.
  package let expires: Timestamp
  /// Whether the token was issued here.
  package let isOwn: Bool
  /// The claims that responses are shared by, as far as the token carries them.
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

  /// Of its texts, for what remembers it.
  var byteCount: Int {
    claims.reduce(id.utf8.count + (session?.utf8.count ?? 0)) {
      $0 + MemoryLayout<Claim>.stride + $1.name.utf8.count + $1.value.utf8.count
    }
  }
}
