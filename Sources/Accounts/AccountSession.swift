/// What a user gets by signing in.
package struct AccountSession: Hashable, Sendable {
  package let accessToken: String
  package let refreshToken: String
  /// Of the access token.
  package let lifetime: Duration
  /// The subject of the access token.
  package let user: String

  package init(accessToken: String, refreshToken: String, lifetime: Duration, user: String) {
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.lifetime = lifetime
    self.user = user
  }
}
