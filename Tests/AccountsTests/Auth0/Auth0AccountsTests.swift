import Accounts
import Auth0Double
import HTTPTypes
import Logging
import LosslessJSON
import Model
import Testing

struct Auth0AccountsTests {
  let clock = TestClock()

  func tenant() async throws -> (FakeAuth0, Auth0Accounts) {
    let fake = try await FakeAuth0 { [clock] in clock.seconds }
    let provider = Auth0Accounts(
      settings: FakeAuth0.settings(), exchange: fake.exchange, clock: clock.clock,
      logger: Logger(label: "test"))
    return (fake, provider)
  }

  @Test("The rules that a password breaks are reported")
  func reportsBrokenRules() async throws {
    let (_, provider) = try await tenant()
    await #expect(throws: AccountFault.weakPassword(["At least 8 characters in length"])) {
      try await provider.signUp(.of("ada", "short"), from: .test)
    }
  }

  @Test("A rate limit is reported with its retry time")
  func reportsRetryTime() async throws {
    let (fake, provider) = try await tenant()
    let limited: JSONValue = ["error": "too_many_requests", "error_description": "Global limit"]
    for text in ["7", "Tue, 14 Nov 2023 22:13:27 GMT"] {
      fake.answerNext(429, limited, fields: [.retryAfter: text])
      await #expect(throws: AccountFault.rateLimited(after: .seconds(7))) {
        try await provider.signIn(.of("ada"), from: .test)
      }
    }
    let reset = try #require(HTTPField.Name("X-RateLimit-Reset"))
    fake.answerNext(429, limited, fields: [reset: "\(clock.seconds + 30)"])
    await #expect(throws: AccountFault.rateLimited(after: .seconds(30))) {
      try await provider.refresh("refresh-1", from: .test)
    }
  }

  @Test("The user's address is forwarded only by a client with a secret")
  func forwardsAddressOnlyWithSecret() async throws {
    let (fake, provider) = try await tenant()
    _ = try await provider.signUp(.of("ada"), from: .test)
    #expect(fake.forwardedFor == ["203.0.113.7"])
    _ = try await provider.signIn(
      .of("ada"), from: ClientOrigin(address: nil, network: ClientNetwork("unix")))
    #expect(fake.forwardedFor.count == 1)
    let open = Auth0Accounts(
      settings: FakeAuth0.settings(secret: nil), exchange: fake.exchange, clock: clock.clock,
      logger: Logger(label: "test"))
    // The tenant requires the secret, so a client without one is refused, not the user.
    let fault = try await #require(throws: AccountFault.self) {
      try await open.signIn(.of("ada"), from: .test)
    }
    #expect(fault.withoutCause == .misconfigured(cause: ""))
    #expect(fake.forwardedFor.count == 1)
  }

  /// A second sign-up would report that the account exists, though the user got no response.
  @Test("A sign-up whose response was lost is followed by a sign-in")
  func signsInAfterLostSignUp() async throws {
    let (fake, provider) = try await tenant()
    fake.loseNextAnswer()
    let session = try await provider.signUp(.of("ada"), from: .test)
    #expect(session.user.hasPrefix("auth0|"))
    #expect(fake.requests == ["POST /dbconnections/signup", "POST /oauth/token"])
  }

  @Test("Concurrent refreshes with one token share one response")
  func concurrentRefreshesShareResponse() async throws {
    let (fake, provider) = try await tenant()
    let session = try await provider.signUp(.of("ada"), from: .test)
    let answers = await withTaskGroup(of: AccountSession?.self) { group in
      for _ in 0..<8 {
        group.addTask { try? await provider.refresh(session.refreshToken, from: .test) }
      }
      return await group.reduce(into: [AccountSession?]()) { $0.append($1) }
    }
    // Concurrent ones share it; a later one is a reuse.
    let tokens = Set(answers.compactMap { $0?.refreshToken })
    #expect(tokens.count == 1)
    #expect(fake.requests.count { $0 == "POST /oauth/token" } <= 1 + 8)
  }

  @Test("The management token is cached and renewed before it expires")
  func cachesManagementToken() async throws {
    let (fake, provider) = try await tenant()
    let session = try await provider.signUp(.of("ada"), from: .test)
    func change(_ current: String, _ new: String) async throws {
      try await changePassword(provider, session, current, new)
    }
    try await change("correct horse", "battery staple")
    try await change("battery staple", "correct horse")
    #expect(fake.managementTokenCount == 1)
    clock.advance(by: .seconds(86_400 - 60))
    try await change("correct horse", "battery staple")
    #expect(fake.managementTokenCount == 2)
    fake.withdrawManagementTokens()
    try await change("battery staple", "correct horse")
    #expect(fake.managementTokenCount == 1)
  }

  @Test("A password change ends the user's sessions")
  func passwordChangeEndsSessions() async throws {
    let (fake, provider) = try await tenant()
    let session = try await provider.signUp(.of("ada"), from: .test)
    let eves = try await provider.signUp(.of("eve"), from: .test)
    try await changePassword(provider, session, "correct horse", "battery staple")
    await #expect(throws: AccountFault.sessionExpired) {
      try await provider.refresh(session.refreshToken, from: .test)
    }
    #expect(try await provider.refresh(eves.refreshToken, from: .test).user == eves.user)
    // Not every tenant allows it; the password is changed all the same.
    fake.answer(.endSessions, 403, ["statusCode": 403, "errorCode": "insufficient_scope"])
    try await changePassword(provider, session, "battery staple", "correct horse")
    try await provider.checkPassword(.of("ada", "correct horse"), from: .test)
  }

  private func changePassword(
    _ provider: Auth0Accounts, _ session: AccountSession, _ current: String, _ new: String
  ) async throws {
    let user = VerifiedUser(id: session.user, expires: Timestamp(milliseconds: .max))
    try await provider.changePassword(
      PasswordChange(
        user: user, accessToken: session.accessToken, current: current, new: new), from: .test)
  }

  @Test("A user can change only their own password")
  func changesOnlyOwnPassword() async throws {
    let (fake, provider) = try await tenant()
    let ada = try await provider.signUp(.of("ada"), from: .test)
    let eve = try await provider.signUp(.of("eve"), from: .test)
    let user = VerifiedUser(id: ada.user, expires: Timestamp(milliseconds: .max))
    await #expect(throws: AccountFault.denied) {
      try await provider.changePassword(
        PasswordChange(
          user: user, accessToken: eve.accessToken, current: "correct horse",
          new: "battery staple"), from: .test)
    }
    #expect(!fake.requests.contains { $0.hasPrefix("PATCH") })
  }

  @Test("A tenant without usable tokens is reported as misconfigured")
  func reportsUnusableTokens() async throws {
    let (fake, provider) = try await tenant()
    let answers: [JSONValue] = [
      ["access_token": "opaque", "refresh_token": "r", "expires_in": 60],
      [
        "access_token": .string(try fake.key.token(["sub": "auth0|1"])), "expires_in": 60,
      ],
    ]
    for answer in answers {
      fake.answerNext(200, answer)
      let fault = try await #require(throws: AccountFault.self) {
        try await provider.signIn(.of("ada"), from: .test)
      }
      #expect(fault.withoutCause == .misconfigured(cause: ""))
    }
  }
}
