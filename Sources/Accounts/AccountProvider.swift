/// Who keeps the users and their passwords: this service, or Auth0.
///
/// Every provider answers the same for an address it knows and one it does not, wherever a password
/// is asked for. Who may ask how often is not the providers' business.
package protocol AccountProvider: Sendable {
  /// Makes an account and signs it in.
  func signUp(
    _ credentials: Credentials, from client: ClientOrigin
  ) async throws(AccountFault) -> AccountSession

  /// Which of its rules a new password breaks, where the provider can tell without being asked over
  /// the network, in words for whoever chose it.
  func rulesBroken(byPassword password: String) -> [String]

  func signIn(
    _ credentials: Credentials, from client: ClientOrigin
  ) async throws(AccountFault) -> AccountSession

  /// Gives fresh tokens for a refresh token, which may end by that.
  func refresh(
    _ refreshToken: String, from client: ClientOrigin
  ) async throws(AccountFault) -> AccountSession

  /// Ends the session of a refresh token. One that is not known is ended already (RFC 7009
  /// section 2.2).
  ///
  /// - Returns: the user who signed out, where the provider tells.
  func signOut(_ refreshToken: String) async throws(AccountFault) -> String?

  /// Ends without an error where the password is right. Nobody is signed in by it.
  func checkPassword(
    _ credentials: Credentials, from client: ClientOrigin
  ) async throws(AccountFault)

  /// Sets another password once the current one has proved right.
  func changePassword(
    _ change: PasswordChange, from client: ClientOrigin
  ) async throws(AccountFault)

  /// The address of a user's account, where the provider tells without being asked over the
  /// network.
  func email(of user: VerifiedUser) async throws(AccountFault) -> String?
}
