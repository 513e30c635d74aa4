import Accounts
import Gateway
import HTTPClient
import Logging
import Model
import Storage
import Transport

/// The account provider and the verifier of trusted tokens, wired as settings configure them.
struct AccountAssembly {
  /// The issuer of `local` tokens by default.
  static let defaultIssuer = "larder"
  /// Signatures take well under a millisecond.
  private static let tokenThreads = 2

  let provider: any AccountProvider
  let tokens: TokenVerifier
  /// The keys that sign tokens here; nil if another service issues them.
  let keys: LocalKeys?

  /// The same for operators and for services that verify our tokens.
  var signingKeys: SigningKeyService? {
    keys.map { SigningKeyService(keys: $0, tokens: tokens) }
  }

  static func make(
    _ settings: Settings, sharedClaims: [String], store: Store, client: HTTPClient,
    clock: TrustedClock, sealer: Sealer,
    random: RandomBytes, renewsKeys: Bool = true, logger: Logger
  ) async throws(StartFailure) -> AccountAssembly {
    let exchange = JSONExchange { request, limit throws(HTTPClientError) in
      try await client.execute(request, within: limit)
    }
    let pool = BlockingPool(threadsMax: tokenThreads)
    let others = RemoteIssuers(exchange: exchange).others(settings.accounts)
    switch settings.accounts.provider {
    case _ where !settings.accounts.isOn:
      return AccountAssembly(
        provider: NoAccounts(),
        tokens: TokenVerifier(
          issuers: others, sharedClaims: sharedClaims, clock: SystemClock.wall, pool: pool),
        keys: nil)
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
        store: store, clock: clock.clock, sealer: sealer, random: random, renews: renewsKeys)
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
    store: Store, clock: WallClock, sealer: Sealer, random: RandomBytes, renews: Bool
  ) async throws(StartFailure) -> LocalKeys {
    do throws(AccountFault) {
      return try await LocalKeys.open(
        store: store, sealer: sealer, clock: clock, random: random, renews: renews)
    } catch {
      throw StartFailure(.dataFolder, "The keys that sign access tokens cannot be stored: \(error)")
    }
  }

  /// All cores but one, so that hashing passwords cannot occupy the whole machine.
  private static func hasher(
    _ settings: AccountsSettings, random: RandomBytes
  ) -> PasswordHasher {
    PasswordHasher(
      cost: ScryptCost(exponent: settings.passwordCost),
      pool: BlockingPool(threadsMax: max(1, EventLoopGroup.coreCount - 1)), random: random)
  }
}

extension Auth0Settings {
  /// The settings' checks have made sure that required members are set.
  init(_ settings: AccountsSettings) {
    let tenant = settings.domain ?? ""
    let base = settings.issuer?.text ?? "https://\(tenant)/"
    self.init(
      // Paths are appended to it directly.
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
  /// Whether any issuer or provider is called over TLS.
  var asksOverTLS: Bool {
    let addresses = issuers.values.flatMap { [$0.url, $0.keys] }.compactMap { $0?.scheme }
    let provider = isOn && provider == .auth0 ? issuer?.scheme ?? "https" : "http"
    return ([provider] + addresses).contains("https")
  }
}

/// Issuers whose keys are fetched over HTTP.
struct RemoteIssuers {
  let exchange: JSONExchange

  func auth0(_ settings: Auth0Settings) -> TokenIssuer {
    .remote(
      name: settings.base, audience: settings.audience, isFirst: true,
      keys: auth0Keys(settings))
  }

  func auth0Keys(_ settings: Auth0Settings) -> RemoteKeys {
    keys(at: "\(settings.base).well-known/jwks.json", issuer: settings.base)
  }

  func others(_ settings: AccountsSettings) -> [TokenIssuer] {
    settings.issuers.values.sorted { $0.url?.text ?? "" < $1.url?.text ?? "" }.compactMap {
      guard let url = $0.url, let audience = $0.audience else { return nil }
      return .remote(
        name: url.text, audience: audience, isFirst: false,
        keys: keys(at: $0.keys?.text, issuer: url.text))
    }
  }

  func keys(at address: String?, issuer: String) -> RemoteKeys {
    let place = address.flatMap { try? HTTPURL($0) }.map(RemoteKeys.Place.keySet)
    return RemoteKeys(
      at: place ?? .discovery(issuer: issuer), exchange: exchange, clock: SystemClock.wall)
  }
}
