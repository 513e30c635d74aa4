package import Logging
import LosslessJSON
package import Model
package import Storage
package import Transport

/// Account provider for local accounts: addresses and hashed passwords in the database, tokens
/// signed with our own key.
package struct LocalAccounts: AccountProvider {
  private static let idByteCount = 16
  /// Maximum sessions of one account; beyond it, the one unused for the longest time is removed.
  private static let sessionsMax = 200
  private static let signInTries = 3

  private let store: Store
  private let hasher: PasswordHasher
  private let costs: StoredCosts
  private let keys: LocalKeys
  private let rules: LocalAccountRules
  private let pool: BlockingPool
  private let clock: WallClock
  /// The clock that sessions expire by.
  private let expiryClock: WallClock
  private let random: RandomBytes
  private let logger: Logger

  /// - Parameters:
  ///   - pool: the threads that sign tokens.
  ///   - expiryClock: the clock that sessions expire by; nil for `clock`.
  package init(
    store: Store, hasher: PasswordHasher, keys: LocalKeys, rules: LocalAccountRules,
    pool: BlockingPool, clock: WallClock, expiryClock: WallClock? = nil, random: RandomBytes,
    logger: Logger
  ) {
    self.store = store
    self.hasher = hasher
    costs = StoredCosts(store: store, hasher: hasher)
    self.keys = keys
    self.rules = rules
    self.pool = pool
    self.clock = clock
    self.expiryClock = expiryClock ?? clock
    self.random = random
    self.logger = logger
  }

  // MARK: Signing up, in and out

  package func signUp(
    _ credentials: Credentials, from client: ClientOrigin
  ) async throws(AccountFault) -> AccountSession {
    let broken = PasswordRules.broken(
      by: credentials.password, email: credentials.email.text)
    guard broken.isEmpty else { throw .weakPassword(broken) }
    let hash = try await hasher.hash(
      credentials.password, for: Self.share(of: credentials, client))
    let account = Account(
      id: "u_\(name())", email: credentials.email.text, passwordHash: hash.text,
      created: clock.now())
    let isNew = try await storing { () async throws(StorageError) in
      try await store.create(account)
    }
    guard isNew else { throw .accountExists }
    // No other client can have changed the password of an account this new.
    guard let session = try await session(of: account) else { throw .wrongCredentials }
    return session
  }

  package func rulesBroken(byPassword password: String) -> [String] {
    PasswordRules.broken(by: password, email: nil)
  }

  package func signIn(
    _ credentials: Credentials, from client: ClientOrigin
  ) async throws(AccountFault) -> AccountSession {
    // The password or its hash may change between the check and the session.
    for _ in 1...Self.signInTries {
      let (account, isOutdated) = try await checked(credentials, from: client)
      let current =
        isOutdated ? await rehashed(account, credentials, from: client) : account
      if let session = try await session(of: current) { return session }
    }
    throw .wrongCredentials
  }

  package func checkPassword(
    _ credentials: Credentials, from client: ClientOrigin
  ) async throws(AccountFault) {
    _ = try await checked(credentials, from: client)
  }

  package func signOut(_ refreshToken: String) async throws(AccountFault) -> String? {
    guard let token = RefreshToken(refreshToken) else { return nil }
    return try await storing { () async throws(StorageError) in
      try await store.endSession(familyDigest: token.familyDigest)?.account
    }
  }

  package func remove(account id: String) async throws(AccountFault) -> Bool? {
    try await storing { () async throws(StorageError) in try await store.removeAccount(id: id) }
  }

  // MARK: Refreshing

  package func refresh(
    _ refreshToken: String, from client: ClientOrigin
  ) async throws(AccountFault) -> AccountSession {
    // A malformed token is handled like an unknown one.
    let presented = RefreshToken(refreshToken) ?? RefreshToken(random: random)
    let next = presented.next(random: random)
    let now = expiryClock.now()
    let rotation = RefreshRotation(
      familyDigest: presented.familyDigest, presentedDigest: presented.digest,
      nextDigest: next.digest, now: now, expires: now.advanced(by: rules.refreshLifetime),
      leeway: rules.refreshLeeway)
    let outcome = try await storing { () async throws(StorageError) in
      try await store.rotate(rotation)
    }
    switch outcome {
    case .rotated(let session, let account):
      return try await tokens(of: account, session: session, refresh: next)
    case .reused(let session, let account):
      logger.warning(
        "a used refresh token was presented; its session was ended",
        metadata: ["session": "\(session)", "user": "\(account)"])
      throw .sessionExpired
    case .disabled:
      throw .disabled
    case .unknown:
      throw .sessionExpired
    }
  }

  // MARK: Passwords

  package func changePassword(
    _ change: PasswordChange, from client: ClientOrigin
  ) async throws(AccountFault) {
    let account = try await storing { () async throws(StorageError) in
      try await costs.load()
      return try await store.account(id: change.user.id)
    }
    let share = HashingShare(account: change.user.id, from: client)
    let verdict = try await hasher.check(
      change.current, against: account.flatMap { PasswordHash($0.passwordHash) }, for: share)
    guard let account, verdict.isRight else { throw .wrongCredentials }
    guard !account.isDisabled else { throw .disabled }
    let broken = PasswordRules.broken(by: change.new, email: account.email)
    guard broken.isEmpty else { throw .weakPassword(broken) }
    let hash = try await hasher.hash(change.new, for: share)
    let isChanged = try await storing { () async throws(StorageError) in
      try await store.changePassword(
        of: account.id, from: account.passwordHash, to: hash.text, keeping: change.user.session)
    }
    // The password was changed since it was checked.
    guard isChanged else { throw .wrongCredentials }
  }

  package func email(of user: VerifiedUser) async throws(AccountFault) -> String? {
    try await storing { () async throws(StorageError) in
      try await store.account(id: user.id)?.email
    }
  }

  private func checked(
    _ credentials: Credentials, from client: ClientOrigin
  ) async throws(AccountFault) -> (Account, isOutdated: Bool) {
    let account = try await storing { () async throws(StorageError) in
      try await costs.load()
      return try await store.account(email: credentials.email.text)
    }
    let verdict = try await hasher.check(
      credentials.password, against: account.flatMap { PasswordHash($0.passwordHash) },
      for: Self.share(of: credentials, client))
    guard let account, verdict.isRight else { throw .wrongCredentials }
    // Only who knows the password learns that the account is disabled.
    guard !account.isDisabled else { throw .disabled }
    return (account, verdict.isOutdated)
  }

  private static func share(of credentials: Credentials, _ client: ClientOrigin) -> HashingShare {
    HashingShare(account: credentials.email.text, from: client)
  }

  /// Hashes the password again after a correct sign-in, because its hash is cheaper than the
  /// current cost. If this fails, the next sign-in tries again.
  ///
  /// - Returns: the account as stored afterwards.
  private func rehashed(
    _ account: Account, _ credentials: Credentials, from client: ClientOrigin
  ) async -> Account {
    do {
      let hash = try await hasher.hash(
        credentials.password, for: Self.share(of: credentials, client))
      let isReplaced = try await store.replacePasswordHash(
        of: account.id, from: account.passwordHash, to: hash.text)
      guard isReplaced else { return account }
      return Account(
        id: account.id, email: account.email, passwordHash: hash.text, created: account.created)
    } catch {
      logger.warning("an outdated password hash was not replaced", metadata: ["cause": "\(error)"])
      return account
    }
  }

  // MARK: Tokens

  /// - Returns: nil if the password has changed since it was checked, or the account was disabled.
  private func session(of account: Account) async throws(AccountFault) -> AccountSession? {
    let token = RefreshToken(random: random)
    let now = expiryClock.now()
    let session = RefreshSession(
      id: "s_\(name())", account: account.id, familyDigest: token.familyDigest,
      tokenDigest: token.digest, rotated: now,
      expires: now.advanced(by: rules.refreshLifetime))
    let isOpen = try await storing { () async throws(StorageError) in
      try await store.open(
        session, passwordHash: account.passwordHash, sessionsMax: Self.sessionsMax)
    }
    guard isOpen else { return nil }
    return try await tokens(of: account.id, session: session.id, refresh: token)
  }

  private func tokens(
    of account: String, session: String, refresh: RefreshToken
  ) async throws(AccountFault) -> AccountSession {
    guard let key = keys.signing else {
      throw .unavailable(cause: "there is no signing key", wasSent: false)
    }
    let claims = claims(of: account, session: session)
    let accessToken: String = try await pool.run { () throws(AccountFault) in
      try key.sign(claims)
    }
    return AccountSession(
      accessToken: accessToken, refreshToken: refresh.text, lifetime: rules.accessLifetime,
      user: account)
  }

  private func claims(of account: String, session: String) -> JSONValue {
    let now = clock.now().milliseconds / 1000
    var claims: JSONValue = [
      "iss": .string(rules.issuer), "sub": .string(account),
      "iat": .number(JSONNumber(now)),
      "exp": .number(JSONNumber(now + rules.accessLifetime.wholeSeconds)),
      "jti": .string(name()), "sid": .string(session),
    ]
    if let audience = rules.audience { claims["aud"] = .string(audience) }
    return claims
  }

  private func name() -> String { Base64URL.encode(random.bytes(Self.idByteCount)) }

  private func storing<Value: Sendable>(
    _ operation: () async throws(StorageError) -> Value
  ) async throws(AccountFault) -> Value {
    do throws(StorageError) {
      return try await operation()
    } catch {
      throw .storeUnavailable(cause: "\(error)")
    }
  }
}
