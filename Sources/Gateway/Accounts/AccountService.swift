package import Accounts
package import Logging
package import Model

/// Signing up, in and out, and what goes with it, for whichever provider keeps the users.
///
/// Who asks is told by what is in the body; a device's token beside it makes the device that user's.
package struct AccountService: Sendable {
  /// Told after a sign-out, before it is answered. What it throws is logged: the session is over
  /// either way.
  package typealias SignOutListener = @Sendable (SignedOut) async throws(Failure) -> Void

  private let provider: any AccountProvider
  private let rules: AccountRules
  private let devices: DeviceRegistry
  private let clock: WallClock
  private let logger: Logger
  private let whenSignedOut: SignOutListener
  private let known: KnownNetworks
  private let accounts: AttemptThrottle
  private let networks: AttemptThrottle

  package init(
    provider: any AccountProvider, rules: AccountRules, devices: DeviceRegistry,
    networks: KnownNetworks, clock: WallClock, logger: Logger,
    whenSignedOut: @escaping SignOutListener
  ) {
    self.provider = provider
    self.rules = rules
    self.devices = devices
    self.clock = clock
    self.logger = logger
    self.whenSignedOut = whenSignedOut
    accounts = AttemptThrottle(perMinute: rules.triesPerMinute)
    known = networks
    self.networks = AttemptThrottle(perMinute: rules.callsPerMinute)
  }

  // MARK: Coming

  /// - Parameter isAdmin: whether the operator asks.
  package func signUp(
    email: String, password: String, isAdmin: Bool, _ call: AccountCall
  ) async throws(Failure) -> SignedIn {
    guard rules.isSignUpOpen || isAdmin else {
      throw Failure(.forbidden, "Accounts are opened by the operator here.")
    }
    guard let address = EmailAddress(email) else {
      let rules = provider.rulesBroken(byPassword: password)
      throw Failure(
        .malformedRequest, "The account cannot be made.",
        details: [.init(place: .pointer("/email"), detail: "is not an address")]
          + Failure(.weakPassword(rules)).details)
    }
    let credentials = Credentials(email: address, password: password)
    return try await session(call, isOfNewUser: true) { () async throws(Failure) in
      // What is counted is accounts, and asking whose there are.
      try await counting(isAdmin ? nil : call, where: { $0 == nil || $0 == .accountExists }) {
        () async throws(AccountFault) in
        try await provider.signUp(credentials, from: call.origin())
      }
    }
  }

  package func signIn(
    email: String, password: String, _ call: AccountCall
  ) async throws(Failure) -> SignedIn {
    try await session(call) { () async throws(Failure) in
      try await trying(Self.account(email), call) { origin async throws(AccountFault) in
        try await provider.signIn(try Self.credentials(email, password), from: origin)
      }
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

  /// Signs in with the device's token where one comes along: a device of another user's ends the
  /// sign-in. One that is not known, or anybody's where the user is new, is refused before anything
  /// is done.
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
      // Any other failure must not end a session whose refresh token was changed just now.
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

  // MARK: Going

  package func signOut(_ refreshToken: String, _ call: AccountCall) async throws(Failure) {
    let device = try await device(call)
    let user: String?
    do throws(AccountFault) {
      user = try await provider.signOut(refreshToken)
    } catch {
      throw told(error)
    }
    guard let device, let owner = device.user, user?.equalsExactly(owner) ?? true else { return }
    do throws(Failure) {
      try await whenSignedOut(SignedOut(user: owner, device: device.id))
    } catch {
      logger.error(
        "what a device holds of a user who signed out was not put away",
        metadata: ["device": "\(device.id)", "cause": "\(error.cause ?? error.message)"])
    }
  }

  /// - Throws: where the token that came along is not known.
  private func device(_ call: AccountCall) async throws(Failure) -> Device? {
    guard let token = call.deviceToken else { return nil }
    return try await devices.identify(token: token, user: nil).device
  }

  // MARK: Asking

  /// The signed-in user, and the address of the account where it is known here.
  package func me(_ caller: Caller) async throws(Failure) -> (user: String, email: String?) {
    let (user, _) = try signedIn(caller)
    do throws(AccountFault) {
      return (user.id, try await provider.email(of: user))
    } catch {
      throw told(error)
    }
  }

  private func signedIn(
    _ caller: Caller
  ) throws(Failure) -> (user: VerifiedUser, token: String) {
    guard let verified = caller.verified else {
      throw Failure(.signInRequired, "This route takes a signed-in user's access token.")
    }
    return (verified.user, verified.token)
  }

  // MARK: Counting

  /// What tries at an account are counted by. No account has what is no address; all such share one.
  private static func account(_ email: String) -> String {
    EmailAddress(email)?.text ?? "no address"
  }

  /// Runs what a guesser would call. For the account a wrong password counts, for the network every
  /// password that was checked: a right one costs as much work.
  private func trying<Answer>(
    _ account: String, _ call: AccountCall, passwordMember: String = "password",
    _ body: (ClientOrigin) async throws(AccountFault) -> Answer
  ) async throws(Failure) -> Answer {
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
      let answer = try await body(call.origin(isKnown: isKnown))
      accounts.giveBack(tries, at: clock.now())
      await known.note(account, call.network)
      return answer
    } catch {
      if error != .wrongCredentials { accounts.giveBack(tries, at: clock.now()) }
      if error.isBeforeWork { networks.giveBack(call.network.attemptNames, at: clock.now()) }
      throw told(error, passwordMember: passwordMember)
    }
  }

  /// Counts a call of an address by how it ends.
  ///
  /// - Parameters:
  ///   - call: nil counts nothing.
  ///   - counts: whether an end does; of nil where it went well.
  private func counting<Answer>(
    _ call: AccountCall?, where counts: (AccountFault?) -> Bool,
    _ body: () async throws(AccountFault) -> Answer
  ) async throws(Failure) -> Answer {
    if let call { try take(call.network.attemptNames, of: networks) }
    func end(_ fault: AccountFault?) {
      if let call, !counts(fault) {
        networks.giveBack(call.network.attemptNames, at: clock.now())
      }
    }
    do throws(AccountFault) {
      let answer = try await body()
      end(nil)
      return answer
    } catch {
      end(error)
      throw told(error)
    }
  }

  private func take(
    _ names: [AttemptThrottle.Name], of throttle: AttemptThrottle
  ) throws(Failure) {
    guard let wait = throttle.take(names, at: clock.now()) else { return }
    throw Failure(
      .rateLimited, "Too many attempts within a minute.", retry: .after, retryAfter: wait)
  }

  /// What is no address has no account.
  private static func credentials(
    _ email: String, _ password: String
  ) throws(AccountFault) -> Credentials {
    guard let email = EmailAddress(email) else { throw .wrongCredentials }
    return Credentials(email: email, password: password)
  }

  /// A provider that refuses this service is for the operator to mend.
  private func told(_ fault: AccountFault, passwordMember: String = "password") -> Failure {
    switch fault {
    case .misconfigured(let cause):
      logger.error("the account provider refuses this service", metadata: ["cause": "\(cause)"])
    case .storeUnavailable(let cause):
      logger.error("accounts could not be stored or read", metadata: ["cause": "\(cause)"])
    case .unavailable(let cause, _):
      logger.warning("the account provider does not answer", metadata: ["cause": "\(cause)"])
    default: break
    }
    return Failure(fault, passwordMember: passwordMember)
  }
}

extension AccountFault {
  /// Nobody checked the password.
  fileprivate var isBeforeWork: Bool {
    switch self {
    case .overloaded, .unavailable, .misconfigured, .rateLimited: true
    default: false
    }
  }
}
