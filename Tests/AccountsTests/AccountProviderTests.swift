import Accounts
import Testing

/// What every provider does, whoever keeps the users.
struct AccountProviderTests {
  @Test(arguments: ProviderUnderTest.Kind.allCases)
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

  @Test(arguments: ProviderUnderTest.Kind.allCases)
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

  @Test(arguments: ProviderUnderTest.Kind.allCases)
  func tellsNobodyWhoHasAnAccount(kind: ProviderUnderTest.Kind) async throws {
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

  @Test(arguments: ProviderUnderTest.Kind.allCases)
  func refreshesWithTheNewestTokenAlone(kind: ProviderUnderTest.Kind) async throws {
    let test = try await ProviderUnderTest.make(kind)
    let first = try await test.provider.signUp(.of("ada"), from: .test)
    let other = try await test.provider.signIn(.of("ada"), from: .test)
    let second = try await test.provider.refresh(first.refreshToken, from: .test)
    #expect(second.user == first.user)
    #expect(second.refreshToken != first.refreshToken)
    let third = try await test.provider.refresh(second.refreshToken, from: .test)
    // Somebody has a token of the past: neither that one nor the newest is good any more.
    await #expect(throws: AccountFault.sessionExpired) {
      try await test.provider.refresh(first.refreshToken, from: .test)
    }
    await #expect(throws: AccountFault.sessionExpired) {
      try await test.provider.refresh(third.refreshToken, from: .test)
    }
    // The other session is not concerned.
    #expect(try await test.provider.refresh(other.refreshToken, from: .test).user == first.user)
  }

  @Test(arguments: ProviderUnderTest.Kind.allCases)
  func endsASessionForGood(kind: ProviderUnderTest.Kind) async throws {
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

  @Test(arguments: ProviderUnderTest.Kind.allCases)
  func changesAPasswordForWhoKnowsTheOldOne(kind: ProviderUnderTest.Kind) async throws {
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

  @Test(arguments: ProviderUnderTest.Kind.allCases)
  func refusesAWeakPasswordAtSignUp(kind: ProviderUnderTest.Kind) async throws {
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
