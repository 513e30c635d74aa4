import Accounts

/// What a user gets by signing in, as the HTTP interface tells it.
package struct SignedIn: Sendable {
  package let accessToken: String
  package let refreshToken: String
  package let expiresIn: Duration
  package let user: String

  init(_ session: AccountSession) {
    accessToken = session.accessToken
    refreshToken = session.refreshToken
    expiresIn = session.lifetime
    user = session.user
  }
}
