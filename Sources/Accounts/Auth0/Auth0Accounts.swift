package import Logging
import LosslessJSON
package import Model

/// Account provider for a database connection of an Auth0 tenant.
package struct Auth0Accounts: AccountProvider {
  private let client: Auth0Client
  private let management: ManagementToken
  private let flights = RefreshFlights()
  private let logger: Logger

  package init(
    settings: Auth0Settings, exchange: JSONExchange, clock: WallClock, logger: Logger
  ) {
    client = Auth0Client(settings: settings, exchange: exchange, clock: clock)
    management = ManagementToken(client: client)
    self.logger = logger
  }

  /// If Auth0 may have created the account and its response was lost, a sign-in finds out: a second
  /// sign-up would report that the account exists.
  package func signUp(
    _ credentials: Credentials, from client: ClientOrigin
  ) async throws(AccountFault) -> AccountSession {
    do throws(AccountFault) {
      try await self.client.signUp(credentials)
    } catch {
      guard case .unavailable(_, wasSent: true) = error,
        let session = try? await signIn(credentials, from: client)
      else { throw error }
      return session
    }
    return try await signIn(credentials, from: client)
  }

  package func rulesBroken(byPassword password: String) -> [String] { [] }

  package func signIn(
    _ credentials: Credentials, from client: ClientOrigin
  ) async throws(AccountFault) -> AccountSession {
    let response = try await self.client.signIn(
      name: credentials.email.text, password: credentials.password,
      scope: Auth0Client.sessionScope, from: client)
    return try Self.session(response, refreshToken: nil)
  }

  package func refresh(
    _ refreshToken: String, from client: ClientOrigin
  ) async throws(AccountFault) -> AccountSession {
    try await flights.share(refreshToken) { [auth0 = self.client] in
      do throws(AccountFault) {
        let response = try await auth0.refresh(refreshToken, from: client)
        return .success(try Self.session(response, refreshToken: refreshToken))
      } catch {
        return .failure(error)
      }
    }.get()
  }

  package func signOut(_ refreshToken: String) async throws(AccountFault) -> String? {
    try await client.revoke(refreshToken)
    return nil
  }

  package func checkPassword(
    _ credentials: Credentials, from client: ClientOrigin
  ) async throws(AccountFault) {
    _ = try await self.client.signIn(
      name: credentials.email.text, password: credentials.password,
      scope: Auth0Client.checkScope, from: client)
  }

  /// The management API does not require the current password, so a sign-in with it comes first,
  /// for the address that the user's own token leads to.
  package func changePassword(
    _ change: PasswordChange, from client: ClientOrigin
  ) async throws(AccountFault) {
    let profile = try await self.client.profile(accessToken: change.accessToken)
    guard profile["sub"]?.string == change.user.id, let email = profile["email"]?.string else {
      throw .denied
    }
    _ = try await self.client.signIn(
      name: email, password: change.current, scope: Auth0Client.checkScope, from: client)
    let token = try await management.current()
    let refusal = try await self.client.setPassword(
      of: change.user.id, to: change.new, managementToken: token)
    guard refusal != nil else { return await endSessions(of: change.user.id, by: token) }
    // The token may have been revoked, or predate a permission; retrying with a new one shows
    // whether that was the cause.
    management.drop(token)
    let fresh = try await management.current()
    let fault = try await self.client.setPassword(
      of: change.user.id, to: change.new, managementToken: fresh)
    if let fault { throw fault }
    await endSessions(of: change.user.id, by: fresh)
  }

  /// The password has already been changed, so a failure here is only logged for the operator.
  private func endSessions(of user: String, by managementToken: String) async {
    do throws(AccountFault) {
      try await client.endSessions(of: user, managementToken: managementToken)
    } catch {
      // A token's permissions are fixed when it is issued; the next one may have more.
      management.drop(managementToken)
      logger.warning(
        "sessions opened with the old password remain open", metadata: ["cause": "\(error)"])
    }
  }

  package func email(of user: VerifiedUser) async throws(AccountFault) -> String? { nil }

  /// - Parameter refreshToken: the token that was used; without rotation it remains valid and the
  ///   response contains no other.
  private static func session(
    _ response: JSONValue, refreshToken: String?
  ) throws(AccountFault) -> AccountSession {
    guard let accessToken = response["access_token"]?.string,
      let seconds = response["expires_in"]?.int64, 0...86_400_000 ~= seconds
    else { throw .unavailable(cause: "Auth0's response has no access token", wasSent: true) }
    guard let user = CompactToken(accessToken)?.claims?["sub"]?.string else {
      throw .misconfigured(
        cause: "Auth0's access token is not a JWT; set accounts.audience to an API's identifier")
    }
    guard let next = response["refresh_token"]?.string ?? refreshToken else {
      throw .misconfigured(
        cause: "Auth0 returned no refresh token; allow offline access for the API")
    }
    return AccountSession(
      accessToken: accessToken, refreshToken: next, lifetime: .seconds(seconds), user: user)
  }
}
