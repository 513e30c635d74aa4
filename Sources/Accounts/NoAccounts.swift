/// The provider of a service whose accounts are switched off, which has no routes that call it: there is no
/// account, and none can be created.
package struct NoAccounts: AccountProvider {
  private static let fault = AccountFault.misconfigured(
    cause: "accounts are switched off (setting accounts.enabled)")

  package init() {}

  package func signUp(
    _ credentials: Credentials, from client: ClientOrigin
  ) async throws(AccountFault) -> AccountSession {
    throw Self.fault
  }

  package func rulesBroken(byPassword password: String) -> [String] { [] }

  package func signIn(
    _ credentials: Credentials, from client: ClientOrigin
  ) async throws(AccountFault) -> AccountSession {
    throw Self.fault
  }

  package func refresh(
    _ refreshToken: String, from client: ClientOrigin
  ) async throws(AccountFault) -> AccountSession {
    throw Self.fault
  }

  package func signOut(_ refreshToken: String) async throws(AccountFault) -> String? {
    throw Self.fault
  }

  package func checkPassword(
    _ credentials: Credentials, from client: ClientOrigin
  ) async throws(AccountFault) {
    throw Self.fault
  }

  package func changePassword(
    _ change: PasswordChange, from client: ClientOrigin
  ) async throws(AccountFault) {
    throw Self.fault
  }

  package func email(of user: VerifiedUser) async throws(AccountFault) -> String? { nil }
}
