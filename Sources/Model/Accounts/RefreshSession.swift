/// A sign-in that can be prolonged: all the refresh tokens that were made one from the other.
package struct RefreshSession: Hashable, Sendable {
  /// Told in access tokens; it opens nothing.
  package let id: String
  /// The account it belongs to.
  package let account: String
  /// Of the part that all tokens of the session have in common.
  package let familyDigest: String
  /// Of the one token that is good now.
  package let tokenDigest: String
  /// When that token was made.
  package let rotated: Timestamp
  package let expires: Timestamp

  package init(
    id: String, account: String, familyDigest: String, tokenDigest: String, rotated: Timestamp,
    expires: Timestamp
  ) {
    self.id = id
    self.account = account
    self.familyDigest = familyDigest
    self.tokenDigest = tokenDigest
    self.rotated = rotated
    self.expires = expires
  }
}
