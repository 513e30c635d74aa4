package import Model

/// Whom a verified token stands for.
package struct VerifiedUser: Hashable, Sendable {
  /// The token's subject; with the issuer before it where the issuer is not the first.
  package let id: String
  /// The session the token was given in, where it says so.
  package let session: String?
  /// From here on the token is refused.
  package let expires: Timestamp

  package init(id: String, session: String? = nil, expires: Timestamp) {
    self.id = id
    self.session = session
    self.expires = expires
  }
}
