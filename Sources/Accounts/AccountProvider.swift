/// A service that keeps users and their passwords: this service itself, or Auth0.
///
/// Where a password is required, every provider responds the same for known and unknown addresses.
/// Rate limits are not the providers' concern.
package protocol AccountProvider: Sendable {
  /// Creates an account and signs it in.
  func signUp(
    _ credentials: Credentials, from client: ClientOrigin
  ) async throws(AccountFault) -> AccountSession

  /// The rules that a new password breaks, worded for the user, if the provider can check without
  /// the network.
  func rulesBroken(byPassword password: String) -> [String]

  func signIn(
    _ credentials: Credentials, from client: ClientOrigin
  ) async throws(AccountFault) -> AccountSession

  /// Issues new tokens for a refresh token, which can become invalid by that.
  func refresh(
    _ refreshToken: String, from client: ClientOrigin
  ) async throws(AccountFault) -> AccountSession

  /// Ends the session of a refresh token. An unknown token counts as ended (RFC 7009 section 2.2).
  ///
  /// - Returns: the user who signed out, if the provider reports it.
  func signOut(_ refreshToken: String) async throws(AccountFault) -> String?

  /// Succeeds if the password is right. No session is opened.
  func checkPassword(
    _ credentials: Credentials, from client: ClientOrigin
  ) async throws(AccountFault)

  /// Sets a new password after checking the current one.
  func changePassword(
    _ change: PasswordChange, from client: ClientOrigin
  ) async throws(AccountFault)

  /// The email address of a user's account, if the provider has it without the network.
  func email(of user: VerifiedUser) async throws(AccountFault) -> String?

  /// Deletes an account with its sessions.
  ///
  /// - Returns: whether there was one; nil if accounts are not kept here.
  func remove(account id: String) async throws(AccountFault) -> Bool?
}

extension AccountProvider {
  package func remove(account id: String) async throws(AccountFault) -> Bool? { nil }
}

/// The tokens of a new session.
package struct AccountSession: Hashable, Sendable {
  package let accessToken: String
  package let refreshToken: String
  /// The access token's lifetime.
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

/// Why an account provider refused or failed.
package enum AccountFault: Error, Hashable, Sendable {
  /// Wrong email address or password; which of them is not reported.
  case wrongCredentials
  /// The refresh token is unknown, used or expired: the user must sign in again.
  case sessionExpired
  case accountExists
  /// The new password breaks these rules, worded for the user.
  case weakPassword([String])
  /// The account requires a second factor, which no route supports.
  case mfaRequired
  /// Too many wrong passwords, or blocked by an operator: a short wait does not help.
  case blocked
  /// An operator of this service has disabled the account.
  case disabled
  /// The password was found in a leak elsewhere and must be reset.
  case passwordLeaked
  /// Denied by a rule of the provider, such as one for suspicious requests.
  case denied
  case rateLimited(after: Duration?)
  /// The queue for this work is full.
  case overloaded
  /// The provider rejects this service's configuration, not the user. The cause is for operators.
  case misconfigured(cause: String)
  /// The database of local accounts is unavailable.
  case storeUnavailable(cause: String)
  /// No usable response. With `wasSent`, the provider may have executed the request.
  case unavailable(cause: String, wasSent: Bool)
}
