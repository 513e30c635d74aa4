import Model
import Storage
import Synchronization
import Testing

@testable import Accounts

/// Response times must not reveal which accounts exist: the hashing work for a known and an unknown
/// account is the same, counted.
struct EqualWorkTests {
  enum Way: CaseIterable {
    case signIn, checkPassword
  }

  private func fail(
    _ way: Way, as name: String, at provider: LocalAccounts
  ) async throws {
    await #expect(throws: AccountFault.wrongCredentials) {
      switch way {
      case .signIn: _ = try await provider.signIn(.of(name, "wrong password"), from: .test)
      case .checkPassword:
        try await provider.checkPassword(.of(name, "wrong password"), from: .test)
      }
    }
  }

  /// Hashed with a lower, the same, and a higher configured cost.
  @Test(
    "A known account takes as much work as an unknown one", arguments: Way.allCases, [6, 8, 10])
  func knownAndUnknownAccounts(way: Way, storedCost: Int) async throws {
    let local = try await LocalSetting()
    _ = try await local.provider(cost: storedCost).signUp(.of("ada"), from: .test)
    let provider = try await local.provider(cost: 8)
    _ = local.work.taken()
    // The unknown one first: the hasher has not seen a known one yet.
    try await fail(way, as: "nobody", at: provider)
    let unknown = local.work.taken()
    try await fail(way, as: "ada", at: provider)
    #expect(local.work.taken() == unknown)
    #expect(unknown == (1 << max(8, storedCost)) * 8 * 3)
  }

  @Test("Accounts with hashes of different costs take the same work")
  func accountsWithDifferentCosts() async throws {
    let local = try await LocalSetting()
    for (name, cost) in [("old", 6), ("middle", 9), ("new", 7)] {
      _ = try await local.provider(cost: cost).signUp(.of(name), from: .test)
    }
    let provider = try await local.provider(cost: 7)
    _ = local.work.taken()
    var work: Set<Int> = []
    for name in ["new", "nobody", "old", "middle", "new"] {
      try await fail(.signIn, as: name, at: provider)
      work.insert(local.work.taken())
    }
    #expect(work == [(1 << 9) * 8 * 3])
  }

  /// A malformed hash takes the same work as none.
  @Test("A malformed hash takes the same work")
  func malformedHash() async throws {
    let local = try await LocalSetting()
    let provider = try await local.provider(cost: 8)
    _ = try await provider.signUp(.of("ada"), from: .test)
    let account = try #require(try await local.store.account(email: "ada@example.com"))
    _ = try await local.store.replacePasswordHash(
      of: account.id, from: account.passwordHash, to: "$argon2id$v=19$AAAA$AAAA")
    _ = local.work.taken()
    try await fail(.signIn, as: "ada", at: provider)
    let known = local.work.taken()
    try await fail(.signIn, as: "nobody", at: provider)
    #expect(known == local.work.taken())
  }

  /// Used tokens, tokens of ended sessions, made-up tokens and malformed ones.
  @Test("Refreshing hashes nothing, whatever the token")
  func refreshingHashesNothing() async throws {
    let local = try await LocalSetting()
    let provider = try await local.provider(cost: 8)
    let first = try await provider.signUp(.of("ada"), from: .test)
    _ = local.work.taken()
    _ = try await provider.refresh(first.refreshToken, from: .test)
    let unknown = RefreshToken(random: local.random).text
    for token in [first.refreshToken, first.refreshToken, unknown, "no token"] {
      await #expect(throws: AccountFault.sessionExpired) {
        try await provider.refresh(token, from: .test)
      }
    }
    #expect(local.work.taken() == 0)
  }
}

/// Hashes like the service, and counts the work.
final class HashingWork: Sendable {
  private let costs = Mutex<[ScryptCost]>([])

  var derive: PasswordHasher.Derivation {
    { password, salt, cost, byteCount in
      self.costs.withLock { $0.append(cost) }
      return cost.derive(password, salt: salt, byteCount: byteCount)
    }
  }

  /// The work since the last call: passes over a block of the large table, which time is
  /// proportional to (RFC 7914 section 2).
  func taken() -> Int {
    costs.withLock { costs in
      defer { costs = [] }
      return costs.map { (1 << $0.exponent) * $0.blockFactor * $0.parallel }.reduce(0, +)
    }
  }
}
