import Accounts
import Gateway
import HTTPClient
import Logging
import Model
import Sealing
import Storage
import Transport

/// Who keeps the users and whose tokens are believed, as settings say.
struct AccountAssembly {
  /// Of what `local` tokens name as their issuer where settings say nothing.
  static let defaultIssuer = "larder"
  /// Signatures take well under a millisecond.
  private static let tokenThreads = 2

  let provider: any AccountProvider
  let tokens: TokenVerifier
  /// The keys that sign tokens here; nil where another issues them.
  let keys: LocalKeys?

  /// The same for operators and for those who check our tokens.
  var signingKeys: SigningKeyService? {
    keys.map { SigningKeyService(keys: $0, tokens: tokens) }
  }

  static func make(
    _ settings: Settings, sharedClaims: [String], store: Store, client: HTTPClient,
    clock: TrustedClock, sealer: Sealer,
    random: RandomBytes, logger: Logger
  ) async throws(StartFailure) -> AccountAssembly {
    let exchange = JSONExchange { request, limit throws(HTTPClientError) in
      try await client.execute(request, within: limit)
    }
    let pool = BlockingPool(threadsMax: tokenThreads)
    let others = RemoteIssuers(exchange: exchange).others(settings.accounts)
    switch settings.accounts.provider {
    case .auth0:
      let auth0 = Auth0Settings(settings.accounts)
      let first = RemoteIssuers(exchange: exchange).auth0(auth0)
      return AccountAssembly(
        provider: Auth0Accounts(
          settings: auth0, exchange: exchange, clock: SystemClock.wall, logger: logger),
        tokens: TokenVerifier(
          issuers: [first] + others, sharedClaims: sharedClaims, clock: SystemClock.wall, pool: pool
        ),
        keys: nil)
    case .local:
      let rules = LocalAccountRules(settings)
      let keys = try await keys(
        store: store, clock: clock.clock, sealer: sealer, random: random)
      let first = TokenIssuer.local(name: rules.issuer, audience: rules.audience, keys: keys)
      return AccountAssembly(
        provider: LocalAccounts(
          store: store, hasher: hasher(settings.accounts, random: random), keys: keys,
          rules: rules, pool: pool, clock: SystemClock.wall, expiryClock: clock.clock,
          random: random, logger: logger),
        tokens: TokenVerifier(
          issuers: [first] + others, sharedClaims: sharedClaims, clock: SystemClock.wall, pool: pool
        ),
        keys: keys)
    }
  }

  private static func keys(
    store: Store, clock: WallClock, sealer: Sealer, random: RandomBytes
  ) async throws(StartFailure) -> LocalKeys {
    do throws(AccountFault) {
      return try await LocalKeys.open(
        store: store, sealer: sealer, clock: clock, random: random)
    } catch {
      throw StartFailure(.dataFolder, "The keys that sign tokens cannot be kept: \(error)")
    }
  }

  /// All cores but one: whoever hashes passwords must not be all that the machine does.
  private static func hasher(
    _ settings: AccountsSettings, random: RandomBytes
  ) -> PasswordHasher {
    PasswordHasher(
      cost: ScryptCost(exponent: settings.passwordCost),
      pool: BlockingPool(threadsMax: max(1, EventLoopGroup.coreCount - 1)), random: random)
  }
}

extension Auth0Settings {
  /// The settings' checks have seen that what must be there is there.
  init(_ settings: AccountsSettings) {
    let tenant = settings.domain ?? ""
    let base = settings.issuer?.text ?? "https://\(tenant)/"
    self.init(
      // Paths are put right behind it.
      base: base.hasSuffix("/") ? base : base + "/", tenant: tenant,
      clientID: settings.clientID ?? "", clientSecret: settings.clientSecret?.revealed,
      audience: settings.audience ?? "", connection: settings.connection)
  }
}

extension LocalAccountRules {
  init(_ settings: Settings) {
    let accounts = settings.accounts
    self.init(
      issuer: accounts.issuer?.text ?? settings.publicURL?.text ?? AccountAssembly.defaultIssuer,
      audience: accounts.audience, accessLifetime: accounts.accessLifetime,
      refreshLifetime: accounts.refreshLifetime, refreshLeeway: accounts.refreshLeeway)
  }
}

extension AccountRules {
  init(_ settings: AccountsSettings) {
    self.init(
      isSignUpOpen: settings.signUp == .open, triesPerMinute: settings.triesPerMinute,
      callsPerMinute: settings.callsPerMinute)
  }
}

extension AccountsSettings {
  /// Whether any of those who are asked is asked over TLS.
  var asksOverTLS: Bool {
    let addresses = issuers.values.flatMap { [$0.url, $0.keys] }.compactMap { $0?.scheme }
    let provider = provider == .auth0 ? issuer?.scheme ?? "https" : "http"
    return ([provider] + addresses).contains("https")
  }
}
