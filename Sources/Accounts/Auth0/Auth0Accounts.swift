package import Logging
import LosslessJSON
package import Model

/// Users that Auth0 keeps in a database connection of a tenant.
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

  /// Where Auth0 may have made the account and its answer was lost, a sign-in tells: asking again
  /// would say that the account exists.
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
    let answer = try await self.client.signIn(
      name: credentials.email.text, password: credentials.password,
      scope: Auth0Client.sessionScope, from: client)
    return try Self.session(answer, refreshToken: nil)
  }

  package func refresh(
    _ refreshToken: String, from client: ClientOrigin
  ) async throws(AccountFault) -> AccountSession {
    try await flights.share(refreshToken) { [auth0 = self.client] in
      do throws(AccountFault) {
        let answer = try await auth0.refresh(refreshToken, from: client)
        return .success(try Self.session(answer, refreshToken: refreshToken))
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

  /// The management API does not ask for the current password, so a sign-in with it comes first, in
  /// the name that the user's own token leads to.
  package func changePassword(
    _ change: PasswordChange, from client: ClientOrigin
  ) async throws(AccountFault) {
    let profile = try await self.client.profile(accessToken: change.accessToken)
    guard profile["sub"]?.string == change.user.id, let email = profile["email"]?.string else {
      throw .denied
    }
    _ = try await self.client.signIn(
      name: email, password: change.current, scope: Auth0Client.checkScope, from: client)
    let kept = try await management.current()
    let refusal = try await self.client.setPassword(
      of: change.user.id, to: change.new, managementToken: kept)
    guard refusal != nil else { return await endSessions(of: change.user.id, by: kept) }
    // It may have been withdrawn, or be older than what it is to allow; a fresh one says whether it
    // was that.
    management.drop(kept)
    let fresh = try await management.current()
    let fault = try await self.client.setPassword(
      of: change.user.id, to: change.new, managementToken: fresh)
    if let fault { throw fault }
    await endSessions(of: change.user.id, by: fresh)
  }

  /// The password is another already, so what fails here is the operator's to know.
  private func endSessions(of user: String, by managementToken: String) async {
    do throws(AccountFault) {
      try await client.endSessions(of: user, managementToken: managementToken)
    } catch {
      // What it may do is fixed when it is given; the next one may be allowed more.
      management.drop(managementToken)
      logger.warning(
        "sessions begun with the old password go on", metadata: ["cause": "\(error)"])
    }
  }

  package func email(of user: VerifiedUser) async throws(AccountFault) -> String? { nil }

  /// - Parameter refreshToken: the one that was used; it stays good where rotation is off, and no
  ///   other comes then.
  private static func session(
    _ answer: JSONValue, refreshToken: String?
  ) throws(AccountFault) -> AccountSession {
    guard let accessToken = answer["access_token"]?.string,
      let seconds = answer["expires_in"]?.int64, 0...86_400_000 ~= seconds
    else { throw .unavailable(cause: "Auth0's answer has no access token", wasSent: true) }
    guard let user = CompactToken(accessToken)?.claims?["sub"]?.string else {
      throw .misconfigured(
        cause: "Auth0's access token is not a JWT: accounts.audience is an API's identifier")
    }
    guard let next = answer["refresh_token"]?.string ?? refreshToken else {
      throw .misconfigured(
        cause: "Auth0 gave no refresh token: the API does not allow offline access")
    }
    return AccountSession(
      accessToken: accessToken, refreshToken: next, lifetime: .seconds(seconds), user: user)
  }
}
