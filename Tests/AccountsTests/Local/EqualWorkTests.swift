import Model
import Storage
import Testing

@testable import Accounts

/// Nobody learns from the time that an answer takes whether there is an account: what is hashed for
/// one that is known and for one that is not is the same work, counted.
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

  /// Hashed when settings asked for less, for the same, and for more.
  @Test(arguments: Way.allCases, [6, 8, 10])
  func aKnownAccountTakesWhatAnUnknownOneDoes(way: Way, storedCost: Int) async throws {
    let local = try await LocalSetting()
    _ = try await local.provider(cost: storedCost).signUp(.of("ada"), from: .test)
    let provider = try await local.provider(cost: 8)
    _ = local.work.taken()
    // The unknown one first: nothing was learned from a known one yet.
    try await fail(way, as: "nobody", at: provider)
    let unknown = local.work.taken()
    try await fail(way, as: "ada", at: provider)
    #expect(local.work.taken() == unknown)
    #expect(unknown == (1 << max(8, storedCost)) * 8 * 3)
  }

  @Test func accountsOfDifferentTimesTakeTheSame() async throws {
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

  /// A hash that cannot be read is as good as none, in its work too.
  @Test func aBrokenHashTakesTheSame() async throws {
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

  /// No token's kind is told by hashing: used up, of a session that ended, made up, or no token.
  @Test func refreshingHashesNothing() async throws {
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
