import Cryptography
import Logging
import Model
import Storage
import Testing
import Transport

@testable import Accounts

/// The environment of local providers, kept across simulated restarts.
struct LocalSetting {
  static let issuer = "larder"

  let folder: StoreFolder
  let clock = TestClock()
  let pool = BlockingPool(threadsMax: 2)
  /// The hashing work of all providers.
  let work = HashingWork()
  let random = RandomBytes { UInt8.random(in: 0...255) }

  init() async throws {
    folder = try StoreFolder()
  }

  var store: Store { folder.store }

  func keys(secret: UInt8 = 1) async throws -> LocalKeys {
    try await LocalKeys.open(
      store: store,
      sealer: Sealer(
        key: SymmetricKey(data: [UInt8](repeating: secret, count: 32)), random: random),
      clock: clock.clock, random: random)
  }

  /// - Parameters:
  ///   - cost: far lower than a service's, for speed.
  ///   - beforeHashing: runs on a thread of the pool.
  func provider(
    cost: Int = 10, leeway: Duration = .zero, secret: UInt8 = 1, keys: LocalKeys? = nil,
    beforeHashing: @escaping @Sendable () -> Void = {}
  ) async throws -> LocalAccounts {
    var own = keys
    if own == nil { own = try await self.keys(secret: secret) }
    return LocalAccounts(
      store: store,
      hasher: PasswordHasher(
        cost: ScryptCost(exponent: cost), pool: pool, random: random
      ) { [work] in
        beforeHashing()
        return work.derive($0, $1, $2, $3)
      },
      keys: try #require(own),
      rules: LocalAccountRules(
        issuer: Self.issuer, audience: "api", accessLifetime: .seconds(900),
        refreshLifetime: .seconds(30 * 86_400), refreshLeeway: leeway),
      pool: pool, clock: clock.clock, random: random,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  func verifier(secret: UInt8 = 1) async throws -> TokenVerifier {
    TokenVerifier(
      issuers: [.local(name: Self.issuer, audience: "api", keys: try await keys(secret: secret))],
      clock: clock.clock, pool: pool)
  }
}
