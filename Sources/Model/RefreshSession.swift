/// A sign-in that can be prolonged: a family of refresh tokens, each issued for the one before.
package struct RefreshSession: Hashable, Sendable {
  /// Part of access tokens; it grants nothing by itself.
  package let id: String
  /// The account it belongs to.
  package let account: String
  /// Digest of the part that all tokens of the session have in common.
  package let familyDigest: String
  /// Digest of the only token that is valid now.
  package let tokenDigest: String
  /// When that token was issued.
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

/// The exchange of a session's refresh token for its next one.
package struct RefreshRotation: Hashable, Sendable {
  package let familyDigest: String
  /// Digest of the presented token.
  package let presentedDigest: String
  package let nextDigest: String
  package let now: Timestamp
  /// When the session expires after this exchange.
  package let expires: Timestamp
  /// How long after an exchange the previous token is accepted again, for a client that did not
  /// receive the response.
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

/// The result of presenting a refresh token.
package enum RefreshOutcome: Hashable, Sendable {
  case rotated(session: String, account: String)
  /// A token that was already exchanged: one of its two holders stole it, so the session is ended.
  case reused(session: String, account: String)
  /// An operator has disabled the account. The token stays valid for the time after.
  case disabled
  /// There is no such session, or it has expired.
  case unknown
}
