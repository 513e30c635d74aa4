import Accounts
import Testing

/// Behaviour common to all account providers.
struct AccountProviderTests {
  @Test(
    "Signing up and signing in open sessions of the same user",
    arguments: ProviderUnderTest.Kind.allCases)
  func signsUpAndIn(kind: ProviderUnderTest.Kind) async throws {
    let test = try await ProviderUnderTest.make(kind)
    let first = try await test.provider.signUp(.of("ada"), from: .test)
    let second = try await test.provider.signIn(.of("ADA"), from: .test)
    #expect(first.user == second.user)
    #expect(first.refreshToken != second.refreshToken)
    for session in [first, second] {
      #expect(try await test.verifier.verify(session.accessToken)?.id == first.user)
      #expect(session.lifetime > .zero)
    }
    test.clock.advance(by: first.lifetime + .seconds(60))
    await #expect(throws: TokenFault.expired) {
      try await test.verifier.verify(first.accessToken)
    }
  }

  @Test(
    "Addresses are compared case-insensitively and kept apart",
    arguments: ProviderUnderTest.Kind.allCases)
  func keepsAddressesApart(kind: ProviderUnderTest.Kind) async throws {
    let test = try await ProviderUnderTest.make(kind)
    let ada = try await test.provider.signUp(.of("ada"), from: .test)
    let eve = try await test.provider.signUp(.of("eve"), from: .test)
    #expect(ada.user != eve.user)
    await #expect(throws: AccountFault.accountExists) {
      try await test.provider.signUp(.of("Ada", "another password"), from: .test)
    }
    await #expect(throws: AccountFault.wrongCredentials) {
      try await test.provider.signIn(.of("ada", "another password"), from: .test)
    }
  }

  @Test(
    "Wrong passwords and unknown addresses get the same fault",
    arguments: ProviderUnderTest.Kind.allCases)
  func hidesWhichAccountsExist(kind: ProviderUnderTest.Kind) async throws {
    let test = try await ProviderUnderTest.make(kind)
    _ = try await test.provider.signUp(.of("ada"), from: .test)
    for name in ["ada", "nobody"] {
      await #expect(throws: AccountFault.wrongCredentials) {
        try await test.provider.signIn(.of(name, "wrong password"), from: .test)
      }
      await #expect(throws: AccountFault.wrongCredentials) {
        try await test.provider.checkPassword(.of(name, "wrong password"), from: .test)
      }
    }
    for token in ["", "refresh-0", String(repeating: "A", count: 64)] {
      await #expect(throws: AccountFault.sessionExpired) {
        try await test.provider.refresh(token, from: .test)
      }
    }
  }

  @Test(
    "Only the newest refresh token is valid; reuse ends the session",
    arguments: ProviderUnderTest.Kind.allCases)
  func refreshRequiresNewestToken(kind: ProviderUnderTest.Kind) async throws {
    let test = try await ProviderUnderTest.make(kind)
    let first = try await test.provider.signUp(.of("ada"), from: .test)
    let other = try await test.provider.signIn(.of("ada"), from: .test)
    let second = try await test.provider.refresh(first.refreshToken, from: .test)
    #expect(second.user == first.user)
    #expect(second.refreshToken != first.refreshToken)
    let third = try await test.provider.refresh(second.refreshToken, from: .test)
    // A used token was presented: neither it nor the newest is valid any more.
    await #expect(throws: AccountFault.sessionExpired) {
      try await test.provider.refresh(first.refreshToken, from: .test)
    }
    await #expect(throws: AccountFault.sessionExpired) {
      try await test.provider.refresh(third.refreshToken, from: .test)
    }
    // The other session is not affected.
    #expect(try await test.provider.refresh(other.refreshToken, from: .test).user == first.user)
  }

  @Test("Signing out ends the session permanently", arguments: ProviderUnderTest.Kind.allCases)
  func signOutEndsSession(kind: ProviderUnderTest.Kind) async throws {
    let test = try await ProviderUnderTest.make(kind)
    let session = try await test.provider.signUp(.of("ada"), from: .test)
    for _ in 0..<2 {
      let user = try await test.provider.signOut(session.refreshToken)
      #expect(user == nil || user == session.user)
    }
    _ = try await test.provider.signOut("unknown")
    await #expect(throws: AccountFault.sessionExpired) {
      try await test.provider.refresh(session.refreshToken, from: .test)
    }
  }

  @Test("Changing a password requires the current one", arguments: ProviderUnderTest.Kind.allCases)
  func changePasswordRequiresCurrent(kind: ProviderUnderTest.Kind) async throws {
    let test = try await ProviderUnderTest.make(kind)
    let session = try await test.provider.signUp(.of("ada"), from: .test)
    let user = try #require(try await test.verifier.verify(session.accessToken))
    func change(_ current: String, _ new: String) -> PasswordChange {
      PasswordChange(user: user, accessToken: session.accessToken, current: current, new: new)
    }
    await #expect(throws: AccountFault.wrongCredentials) {
      try await test.provider.changePassword(change("wrong", "another one"), from: .test)
    }
    let fault = try await #require(throws: AccountFault.self) {
      try await test.provider.changePassword(change("correct horse", "short"), from: .test)
    }
    guard case .weakPassword(let rules) = fault, !rules.isEmpty else {
      Issue.record("\(fault)")
      return
    }
    try await test.provider.checkPassword(.of("ada"), from: .test)
    try await test.provider.changePassword(change("correct horse", "battery staple"), from: .test)
    try await test.provider.checkPassword(.of("ada", "battery staple"), from: .test)
    await #expect(throws: AccountFault.wrongCredentials) {
      try await test.provider.signIn(.of("ada"), from: .test)
    }
  }

  @Test("Sign-up refuses a weak password", arguments: ProviderUnderTest.Kind.allCases)
  func refusesWeakPassword(kind: ProviderUnderTest.Kind) async throws {
    let test = try await ProviderUnderTest.make(kind)
    let fault = try await #require(throws: AccountFault.self) {
      try await test.provider.signUp(.of("ada", "short"), from: .test)
    }
    guard case .weakPassword(let rules) = fault else {
      Issue.record("\(fault)")
      return
    }
    #expect(rules.contains { $0.contains("8") })
    await #expect(throws: AccountFault.wrongCredentials) {
      try await test.provider.signIn(.of("ada", "short"), from: .test)
    }
  }
}
