package import Accounts
package import Logging
package import Model

/// Sign-up, sign-in, sign-out and password changes, independent of the account provider.
///
/// The request body identifies the user. A device token in the request also binds that device to
/// the user.
package struct AccountService: Sendable {
  /// Called after a sign-out, before its response. Errors are logged: the session has ended in any
  /// case.
  package typealias SignOutListener = @Sendable (SignedOut) async throws(Failure) -> Void

  private let provider: any AccountProvider
  private let rules: AccountRules
  private let devices: DeviceRegistry
  private let clock: WallClock
  private let logger: Logger
  private let whenSignedOut: SignOutListener
  private let tickets: StreamTickets?
  private let known: KnownNetworks
  private let accounts: AttemptThrottle
  private let networks: AttemptThrottle
  private let meters = SignInMeters()

  /// - Parameter tickets: the stream tickets that end with a sign-out; nil if there are none.
  package init(
    provider: any AccountProvider, rules: AccountRules, devices: DeviceRegistry,
    networks: KnownNetworks, tickets: StreamTickets? = nil, clock: WallClock, logger: Logger,
    whenSignedOut: @escaping SignOutListener
  ) {
    self.provider = provider
    self.rules = rules
    self.devices = devices
    self.tickets = tickets
    self.clock = clock
    self.logger = logger
    self.whenSignedOut = whenSignedOut
    accounts = AttemptThrottle(perMinute: rules.triesPerMinute)
    known = networks
    self.networks = AttemptThrottle(perMinute: rules.callsPerMinute)
  }

  // MARK: Signing in

  /// - Parameter isAdmin: whether the caller is the operator.
  package func signUp(
    email: String, password: String, isAdmin: Bool, _ call: AccountCall
  ) async throws(Failure) -> SignedIn {
    guard rules.isSignUpOpen || isAdmin else {
      throw Failure(.forbidden, "Sign-up is closed: only the operator can create accounts.")
    }
    guard let address = EmailAddress(email) else {
      let rules = provider.rulesBroken(byPassword: password)
      throw Failure(
        .malformedRequest, "The account cannot be created.",
        details: [.init(place: .pointer("/email"), detail: "must be an email address")]
          + Failure(.weakPassword(rules)).details)
    }
    let credentials = Credentials(email: address, password: password)
    return try await session(call, isOfNewUser: true) { () async throws(Failure) in
      // Counts created accounts and attempts to find out which addresses have one.
      try await counting(isAdmin ? nil : call, where: { $0 == nil || $0 == .accountExists }) {
        () async throws(AccountFault) in
        try await provider.signUp(credentials, from: call.origin())
      }
    }
  }

  package func signIn(
    email: String, password: String, _ call: AccountCall
  ) async throws(Failure) -> SignedIn {
    do throws(Failure) {
      let signedIn = try await session(call) { () async throws(Failure) in
        try await trying(Self.account(email), call) { origin async throws(AccountFault) in
          try await provider.signIn(try Self.credentials(email, password), from: origin)
        }
      }
      meters.note(.signedIn)
      return signedIn
    } catch {
      meters.note(SignInResult(error))
      throw error
    }
  }

  package func refresh(
    _ token: String, _ call: AccountCall
  ) async throws(Failure) -> SignedIn {
    try await session(call) { () async throws(Failure) in
      try await counting(call, where: { $0 == .sessionExpired }) {
        () async throws(AccountFault) in
        try await provider.refresh(token, from: call.origin())
      }
    }
  }

  /// Opens a session and binds the device, if the request has a device token. If the device belongs
  /// to another user, the new session is ended again. An unknown token, and at sign-up a device
  /// that already has a user, are refused before anything is done.
  private func session(
    _ call: AccountCall, isOfNewUser: Bool = false,
    _ open: () async throws(Failure) -> AccountSession
  ) async throws(Failure) -> SignedIn {
    let device = try await device(call)
    if isOfNewUser, device?.user != nil { throw DeviceRegistry.ofAnotherUser }
    let session = try await open()
    guard let token = call.deviceToken else { return SignedIn(session) }
    do throws(Failure) {
      _ = try await devices.identify(token: token, user: session.user)
    } catch {
      // Any other failure must not end a session whose refresh token has just been rotated.
      guard error.code == .deviceOfAnotherUser else { return SignedIn(session) }
      _ = try? await provider.signOut(session.refreshToken)
      throw error
    }
    return SignedIn(session)
  }

  // MARK: Passwords

  package func checkPassword(
    email: String, password: String, _ call: AccountCall
  ) async throws(Failure) {
    _ = try await device(call)
    try await trying(Self.account(email), call) { origin async throws(AccountFault) in
      try await provider.checkPassword(try Self.credentials(email, password), from: origin)
    }
  }

  package func changePassword(
    of caller: Caller, from current: String, to new: String, _ call: AccountCall
  ) async throws(Failure) {
    let (user, token) = try signedIn(caller)
    let change = PasswordChange(user: user, accessToken: token, current: current, new: new)
    try await trying(user.id, call, passwordMember: "newPassword") {
      origin async throws(AccountFault) in
      try await provider.changePassword(change, from: origin)
    }
  }

  // MARK: Signing out

  /// Deletes an account, for an operator. Its refresh tokens and stream tickets end at once; access tokens
  /// cannot be revoked, and expire.
  package func remove(account id: String) async throws(Failure) {
    let wasThere: Bool?
    do throws(AccountFault) {
      wasThere = try await provider.remove(account: id)
    } catch {
      throw failure(error)
    }
    guard let wasThere else {
      throw Failure(.notFound, "Accounts are not kept here (setting `accounts.provider`).")
    }
    guard wasThere else { throw Failure(.notFound, "No account has this id.") }
    tickets?.end(user: id)
  }

  package func signOut(_ refreshToken: String, _ call: AccountCall) async throws(Failure) {
    let device = try await device(call)
    let user: String?
    do throws(AccountFault) {
      user = try await provider.signOut(refreshToken)
    } catch {
      throw failure(error)
    }
    // The service cannot tell which tickets belong to the session, so all of the user's end.
    if let user { tickets?.end(user: user) }
    if let device { tickets?.end(device: device.id) }
    guard let device, let owner = device.user, user?.equalsExactly(owner) ?? true else { return }
    do throws(Failure) {
      try await whenSignedOut(SignedOut(user: owner, device: device.id))
    } catch {
      logger.error(
        "data of a signed-out user was not removed from the device",
        metadata: ["device": "\(device.id)", "cause": "\(error.cause ?? error.message)"])
    }
  }

  /// - Throws: if the request's device token is unknown.
  private func device(_ call: AccountCall) async throws(Failure) -> Device? {
    guard let token = call.deviceToken else { return nil }
    return try await devices.identify(token: token, user: nil).device
  }

  // MARK: The signed-in user

  /// The signed-in user, and the account's email address if the provider has it locally.
  package func me(_ caller: Caller) async throws(Failure) -> (user: String, email: String?) {
    let (user, _) = try signedIn(caller)
    do throws(AccountFault) {
      return (user.id, try await provider.email(of: user))
    } catch {
      throw failure(error)
    }
  }

  private func signedIn(
    _ caller: Caller
  ) throws(Failure) -> (user: VerifiedUser, token: String) {
    guard let verified = caller.verified else {
      throw Failure(.signInRequired, "This route requires a signed-in user's access token.")
    }
    return (verified.user, verified.token)
  }

  // MARK: Rate limits

  /// The name that password attempts are counted under. Invalid addresses have no account and share
  /// one name.
  private static func account(_ email: String) -> String {
    EmailAddress(email)?.text ?? "no address"
  }

  /// Runs a password check under rate limits. The account's limit counts wrong passwords. The
  /// network's limit counts every checked password, because a right one costs as much work.
  private func trying<Value>(
    _ account: String, _ call: AccountCall, passwordMember: String = "password",
    _ body: (ClientOrigin) async throws(AccountFault) -> Value
  ) async throws(Failure) -> Value {
    let isKnown = await known.contains(account, call.network)
    let tries = AttemptThrottle.Name(isKnown ? "\(account) from \(call.network.name)" : account)
    try take(call.network.attemptNames, of: networks)
    do throws(Failure) {
      try take([tries], of: accounts)
    } catch {
      networks.giveBack(call.network.attemptNames, at: clock.now())
      throw error
    }
    do throws(AccountFault) {
      let value = try await body(call.origin(isKnown: isKnown))
      accounts.giveBack(tries, at: clock.now())
      await known.note(account, call.network)
      return value
    } catch {
      if error != .wrongCredentials { accounts.giveBack(tries, at: clock.now()) }
      if error.isBeforeWork { networks.giveBack(call.network.attemptNames, at: clock.now()) }
      throw failure(error, passwordMember: passwordMember)
    }
  }

  /// Runs a call under the network's rate limit, and decides by its outcome whether it counts.
  ///
  /// - Parameters:
  ///   - call: nil for no limit.
  ///   - counts: whether an outcome counts; the argument is nil for success.
  private func counting<Value>(
    _ call: AccountCall?, where counts: (AccountFault?) -> Bool,
    _ body: () async throws(AccountFault) -> Value
  ) async throws(Failure) -> Value {
    if let call { try take(call.network.attemptNames, of: networks) }
    func end(_ fault: AccountFault?) {
      if let call, !counts(fault) {
        networks.giveBack(call.network.attemptNames, at: clock.now())
      }
    }
    do throws(AccountFault) {
      let value = try await body()
      end(nil)
      return value
    } catch {
      end(error)
      throw failure(error)
    }
  }

  private func take(
    _ names: [AttemptThrottle.Name], of throttle: AttemptThrottle
  ) throws(Failure) {
    guard let wait = throttle.take(names, at: clock.now()) else { return }
    throw Failure(
      .rateLimited, "Too many attempts; retry later.", retry: .after, retryAfter: wait)
  }

  /// An invalid address has no account.
  private static func credentials(
    _ email: String, _ password: String
  ) throws(AccountFault) -> Credentials {
    guard let email = EmailAddress(email) else { throw .wrongCredentials }
    return Credentials(email: email, password: password)
  }

  /// Logs faults that the operator must act on, and converts the fault for the client.
  private func failure(_ fault: AccountFault, passwordMember: String = "password") -> Failure {
    switch fault {
    case .misconfigured(let cause):
      logger.error(
        "the account provider rejects this service's configuration", metadata: ["cause": "\(cause)"]
      )
    case .storeUnavailable(let cause):
      logger.error("the account store failed", metadata: ["cause": "\(cause)"])
    case .unavailable(let cause, _):
      logger.warning("the account provider does not respond", metadata: ["cause": "\(cause)"])
    default: break
    }
    return Failure(fault, passwordMember: passwordMember)
  }
}

extension AccountFault {
  /// Whether the fault occurred before the password was checked.
  fileprivate var isBeforeWork: Bool {
    switch self {
    case .overloaded, .unavailable, .misconfigured, .rateLimited: true
    default: false
    }
  }
}
