/// How this service keeps its users.
package struct LocalAccountRules: Sendable {
  /// `iss` of the tokens.
  package var issuer: String
  /// `aud` of the tokens; they have none where this is nil.
  package var audience: String?
  /// Of an access token. It cannot be taken back, so it is short.
  package var accessLifetime: Duration
  /// Of a session that nobody prolongs.
  package var refreshLifetime: Duration
  /// How long a used refresh token is taken once more, for a client whose answer was lost.
  package var refreshLeeway: Duration

  package init(
    issuer: String, audience: String?, accessLifetime: Duration, refreshLifetime: Duration,
    refreshLeeway: Duration
  ) {
    self.issuer = issuer
    self.audience = audience
    self.accessLifetime = accessLifetime
    self.refreshLifetime = refreshLifetime
    self.refreshLeeway = refreshLeeway
  }
}
