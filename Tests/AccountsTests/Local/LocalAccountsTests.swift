import Dispatch
import LosslessJSON
import Model
import Storage
import Synchronization
import Testing

@testable import Accounts

struct LocalAccountsTests {
  @Test("The database contains no password and no token")
  func storesNoSecrets() async throws {
    let local = try await LocalSetting()
    let session = try await local.provider().signUp(.of("ada"), from: .test)
    let account = try #require(try await local.store.account(email: "ada@example.com"))
    #expect(account.passwordHash.hasPrefix("$scrypt$ln=10,r=8,p=3$"))
    #expect(!account.passwordHash.contains("correct horse"))
    #expect(!"\(account)".contains(session.refreshToken))
  }

  /// Only a sign-in has the password, so the hash can be replaced only then.
  @Test("A sign-in replaces the hash if the cost was raised")
  func rehashesAtHigherCost() async throws {
    let local = try await LocalSetting()
    _ = try await local.provider(cost: 8).signUp(.of("ada"), from: .test)
    let dearer = try await local.provider(cost: 10)
    try await dearer.checkPassword(.of("ada"), from: .test)
    func stored() async throws -> String {
      try #require(try await local.store.account(email: "ada@example.com")).passwordHash
    }
    #expect(try await stored().hasPrefix("$scrypt$ln=8,"))
    await #expect(throws: AccountFault.wrongCredentials) {
      try await dearer.signIn(.of("ada", "wrong password"), from: .test)
    }
    #expect(try await stored().hasPrefix("$scrypt$ln=8,"))
    _ = try await dearer.signIn(.of("ada"), from: .test)
    let renewed = try await stored()
    #expect(renewed.hasPrefix("$scrypt$ln=10,"))
    // Neither the same cost nor a lower one replaces it.
    _ = try await dearer.signIn(.of("ada"), from: .test)
    _ = try await local.provider(cost: 9).signIn(.of("ada"), from: .test)
    #expect(try await stored() == renewed)
  }

  @Test("A node whose clock is behind accepts a new token, and no node one that has expired")
  func differentClocks() async throws {
    let local = try await LocalSetting()
    let token = try await local.provider().signUp(.of("ada"), from: .test).accessToken
    let verifier = try await local.verifier()
    local.clock.advance(by: .seconds(-59))
    #expect(try await verifier.verify(token) != nil)
    local.clock.advance(by: .seconds(-2))
    await #expect(throws: TokenFault.notYetValid) { try await verifier.verify(token) }
    local.clock.advance(by: .seconds(61 + 86_400))
    await #expect(throws: TokenFault.expired) { try await verifier.verify(token) }
  }

  @Test("Within the leeway a used refresh token is accepted again")
  func leewayForLostResponse() async throws {
    let local = try await LocalSetting()
    let provider = try await local.provider(leeway: .seconds(10))
    let first = try await provider.signUp(.of("ada"), from: .test)
    _ = try await provider.refresh(first.refreshToken, from: .test)
    local.clock.advance(by: .seconds(9))
    let again = try await provider.refresh(first.refreshToken, from: .test)
    local.clock.advance(by: .seconds(1))
    // Accepting it does not extend the leeway of the same token.
    await #expect(throws: AccountFault.sessionExpired) {
      try await provider.refresh(first.refreshToken, from: .test)
    }
    await #expect(throws: AccountFault.sessionExpired) {
      try await provider.refresh(again.refreshToken, from: .test)
    }
  }

  /// It is unknown which of the responses arrived.
  @Test("Of several tokens issued for one, each continues the session", arguments: 0..<4)
  func anyTokenContinues(arrived: Int) async throws {
    let local = try await LocalSetting()
    let provider = try await local.provider(leeway: .seconds(10))
    let first = try await provider.signUp(.of("ada"), from: .test)
    var issued: [String] = []
    for _ in 0..<4 {
      issued.append(try await provider.refresh(first.refreshToken, from: .test).refreshToken)
    }
    local.clock.advance(by: .seconds(900))
    let next = try await provider.refresh(issued[arrived], from: .test)
    #expect(try await provider.refresh(next.refreshToken, from: .test).user == first.user)
    // Whether it is a thief's or the owner's, the session ends.
    await #expect(throws: AccountFault.sessionExpired) {
      try await provider.refresh(issued[(arrived + 1) % 4], from: .test)
    }
    await #expect(throws: AccountFault.sessionExpired) {
      try await provider.refresh(next.refreshToken, from: .test)
    }
  }

  @Test("A used refresh token is void as soon as one issued for it is used", arguments: 1...3)
  func leewayEndsWithSuccessor(times: Int) async throws {
    let local = try await LocalSetting()
    let provider = try await local.provider(leeway: .seconds(10))
    let first = try await provider.signUp(.of("ada"), from: .test)
    var last = first
    for _ in 0..<times { last = try await provider.refresh(first.refreshToken, from: .test) }
    last = try await provider.refresh(last.refreshToken, from: .test)
    await #expect(throws: AccountFault.sessionExpired) {
      try await provider.refresh(first.refreshToken, from: .test)
    }
    await #expect(throws: AccountFault.sessionExpired) {
      try await provider.refresh(last.refreshToken, from: .test)
    }
  }

  @Test("A used refresh token is accepted a limited number of times")
  func repetitionsAreLimited() async throws {
    let local = try await LocalSetting()
    let provider = try await local.provider(leeway: .seconds(10))
    let first = try await provider.signUp(.of("ada"), from: .test)
    for _ in 0..<16 { _ = try await provider.refresh(first.refreshToken, from: .test) }
    await #expect(throws: AccountFault.sessionExpired) {
      try await provider.refresh(first.refreshToken, from: .test)
    }
  }

  /// A password check takes long: the password can change before it ends.
  @Test("A sign-in that began before a password change is refused")
  func signInDuringPasswordChange() async throws {
    let local = try await LocalSetting()
    let provider = try await local.provider()
    let own = try await provider.signUp(.of("ada"), from: .test)
    let change = PasswordChange(
      user: try #require(try await local.verifier().verify(own.accessToken)),
      accessToken: own.accessToken, current: "correct horse", new: "battery staple")
    let isFirst = Atomic(true)
    let slow = try await local.provider {
      guard isFirst.exchange(false, ordering: .relaxed) else { return }
      let done = DispatchSemaphore(value: 0)
      Task {
        try? await provider.changePassword(change, from: .test)
        done.signal()
      }
      done.wait()
    }
    await #expect(throws: AccountFault.wrongCredentials) {
      try await slow.signIn(.of("ada"), from: .test)
    }
    #expect(try await slow.signIn(.of("ada", "battery staple"), from: .test).user == own.user)
  }

  @Test("A session that is not refreshed expires")
  func sessionExpires() async throws {
    let local = try await LocalSetting()
    let provider = try await local.provider()
    let first = try await provider.signUp(.of("ada"), from: .test)
    local.clock.advance(by: .seconds(30 * 86_400 - 1))
    let second = try await provider.refresh(first.refreshToken, from: .test)
    local.clock.advance(by: .seconds(30 * 86_400))
    await #expect(throws: AccountFault.sessionExpired) {
      try await provider.refresh(second.refreshToken, from: .test)
    }
    #expect(try await local.store.removeSessions(expiredBy: local.clock.clock.now(), limit: 9) == 1)
  }

  @Test("A password change ends the user's other sessions")
  func passwordChangeEndsOtherSessions() async throws {
    let local = try await LocalSetting()
    let provider = try await local.provider()
    let own = try await provider.signUp(.of("ada"), from: .test)
    let other = try await provider.signIn(.of("ada"), from: .test)
    let user = try #require(try await local.verifier().verify(own.accessToken))
    try await provider.changePassword(
      PasswordChange(
        user: user, accessToken: own.accessToken, current: "correct horse",
        new: "battery staple"), from: .test)
    #expect(try await provider.refresh(own.refreshToken, from: .test).user == user.id)
    await #expect(throws: AccountFault.sessionExpired) {
      try await provider.refresh(other.refreshToken, from: .test)
    }
  }

  @Test("An account has a limited number of sessions")
  func sessionLimit() async throws {
    let local = try await LocalSetting()
    let provider = try await local.provider(cost: 1)
    let first = try await provider.signUp(.of("ada"), from: .test)
    var last = first
    for _ in 0..<200 {
      local.clock.advance(by: .seconds(1))
      last = try await provider.signIn(.of("ada"), from: .test)
    }
    await #expect(throws: AccountFault.sessionExpired) {
      try await provider.refresh(first.refreshToken, from: .test)
    }
    #expect(try await provider.refresh(last.refreshToken, from: .test).user == first.user)
  }

  // MARK: Keys

  @Test("Tokens remain valid after a restart")
  func tokensOutliveARestart() async throws {
    let local = try await LocalSetting()
    let session = try await local.provider().signUp(.of("ada"), from: .test)
    #expect(try await local.verifier().verify(session.accessToken)?.id == session.user)
    #expect(try await local.store.signingKeys().count == 1)
  }

  /// The key file was lost or replaced: users refresh, and no user is locked out.
  @Test("With another secret a new signing key is made, and users refresh")
  func lostSecretMakesNewKey() async throws {
    let local = try await LocalSetting()
    let session = try await local.provider().signUp(.of("ada"), from: .test)
    let provider = try await local.provider(secret: 2)
    let verifier = try await local.verifier(secret: 2)
    await #expect(throws: TokenFault.unknownKey) { try await verifier.verify(session.accessToken) }
    let fresh = try await provider.refresh(session.refreshToken, from: .test)
    #expect(try await verifier.verify(fresh.accessToken)?.id == session.user)
  }

  private static let day = Duration.seconds(86_400)

  private func ids(_ keys: LocalKeys) -> [String] {
    (keys.published["keys"]?.array ?? []).compactMap { $0["kid"]?.string }
  }

  @Test("A key's successor is published before it signs, and the old key still verifies")
  func successorIsPublishedBeforeSigning() async throws {
    let local = try await LocalSetting()
    let before = ids(try await local.keys())
    local.clock.advance(by: Self.day * 90 - .seconds(100))
    let session = try await local.provider().signUp(.of("ada"), from: .test)
    local.clock.advance(by: .seconds(100))
    let keys = try await local.keys()
    let both = ids(keys)
    #expect(before.count == 1 && both.count == 2 && both.first == before.first)
    #expect(keys.published["keys"]?.array?.allSatisfy { $0["d"] == nil } == true)
    #expect(try await local.verifier().verify(session.accessToken)?.id == session.user)
    #expect(keys.signing?.id == before.first)
    local.clock.advance(by: LocalKeys.announcedFor)
    #expect(keys.signing?.id == both.last)
  }

  @Test("A key is removed once its tokens have expired, without a restart")
  func oldKeysRetire() async throws {
    let local = try await LocalSetting()
    let keys = try await local.keys()
    let first = try #require(ids(keys).first)
    // The process runs long after the key was due: it signs until there is another.
    local.clock.advance(by: Self.day * 200)
    let session = try await local.provider().signUp(.of("ada"), from: .test)
    try await keys.renew()
    #expect(ids(keys).count == 2)
    #expect(try await local.verifier().verify(session.accessToken)?.id == session.user)
    local.clock.advance(by: LocalKeys.announcedFor + LocalKeys.checksFor - .seconds(1))
    #expect(ids(keys).count == 2)
    local.clock.advance(by: .seconds(1))
    #expect(ids(keys).count == 1 && !ids(keys).contains(first))
    await #expect(throws: TokenFault.unknownKey) {
      try await keys.key(id: first, algorithm: .es256)
    }
    try await keys.renew()
    let stored = try await local.store.signingKeys().map(\.id)
    #expect(!stored.contains(first) && ids(keys).allSatisfy(stored.contains))
  }

  @Test("With a read-only database the due key continues to sign")
  func signsWithDueKey() async throws {
    let local = try await LocalSetting()
    let first = ids(try await local.keys())
    local.clock.advance(by: Self.day * 91)
    local.store.refuseWrites()
    let keys = try await local.keys()
    #expect(ids(keys) == first && keys.signing?.id == first.first)
    // Without any key the start fails with a fault.
    let empty = try await LocalSetting()
    empty.store.refuseWrites()
    await #expect(throws: AccountFault.self) { _ = try await empty.keys() }
  }

  @Test("Replaced keys verify nothing from then on, and users refresh")
  func replacedKeysAreInvalidAtOnce() async throws {
    let local = try await LocalSetting()
    let keys = try await local.keys()
    let verifier = TokenVerifier(
      issuers: [.local(name: LocalSetting.issuer, audience: "api", keys: keys)],
      clock: local.clock.clock, pool: local.pool)
    let provider = try await local.provider(keys: keys)
    let session = try await provider.signUp(.of("ada"), from: .test)
    #expect(try await verifier.verify(session.accessToken)?.id == session.user)
    #expect(try await keys.replaceAll() == 1)
    verifier.forgetAll()
    await #expect(throws: TokenFault.unknownKey) { try await verifier.verify(session.accessToken) }
    let fresh = try await provider.refresh(session.refreshToken, from: .test)
    #expect(try await verifier.verify(fresh.accessToken)?.id == session.user)
    // Also after a restart.
    #expect(ids(try await local.keys()) == ids(keys))
  }
}
