/// The exchange of a session's refresh token for its next one.
package struct RefreshRotation: Hashable, Sendable {
  package let familyDigest: String
  /// Of the token that was presented.
  package let presentedDigest: String
  package let nextDigest: String
  package let now: Timestamp
  /// Of the session, after this exchange.
  package let expires: Timestamp
  /// How long after an exchange the token before is taken once more, for a client that the answer
  /// did not reach.
  package let leeway: Duration

  package init(
    familyDigest: String, presentedDigest: String, nextDigest: String, now: Timestamp,
    expires: Timestamp, leeway: Duration
  ) {
    self.familyDigest = familyDigest
    self.presentedDigest = presentedDigest
    self.nextDigest = nextDigest
    self.now = now
    self.expires = expires
    self.leeway = leeway
  }
}
