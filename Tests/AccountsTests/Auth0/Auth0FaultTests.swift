import Accounts
import Auth0Double
import HTTPTypes
import Logging
import LosslessJSON
import Model
import Testing

/// Every error that Auth0 documents for our requests, with its status and the resulting fault.
struct Auth0FaultTests {
  struct Row: CustomTestStringConvertible, Sendable {
    let status: Int
    let body: JSONValue?
    var fields: HTTPFields = [:]
    let fault: AccountFault

    /// - Parameter body: nil for none.
    init(_ status: Int, body: JSONValue?, is fault: AccountFault) {
      self.status = status
      self.body = body
      self.fault = fault
    }

    /// In OAuth's form.
    init(_ status: Int, _ error: String, _ text: String = "", is fault: AccountFault) {
      self.init(
        status, body: ["error": .string(error), "error_description": .string(text)], is: fault)
    }

    /// In the form of sign-ups.
    init(_ status: Int, code: String, _ name: String = "", is fault: AccountFault) {
      self.init(
        status,
        body: [
          "code": .string(code), "name": .string(name), "description": "text", "message": "text",
          "statusCode": .number(JSONNumber(Int64(status))),
        ], is: fault)
    }

    /// In the form of the management API.
    init(_ status: Int, message: String, _ code: String? = nil, is fault: AccountFault) {
      var body: JSONValue = [
        "statusCode": .number(JSONNumber(Int64(status))), "error": "For people",
        "message": .string(message),
      ]
      if let code { body["errorCode"] = .string(code) }
      self.init(status, body: body, is: fault)
    }

    /// A rate limit that ends after as many seconds.
    init(limitedFor seconds: Int64) {
      self.init(
        429, "too_many_requests", "Global limit has been reached",
        is: .rateLimited(after: .seconds(seconds)))
      fields[.retryAfter] = "\(seconds)"
    }

    var testDescription: String { "\(status) \(body?.text ?? "")" }
  }

  private static let misconfigured = AccountFault.misconfigured(cause: "")
  private static let unavailable = AccountFault.unavailable(cause: "", wasSent: true)
  private static let weak = AccountFault.weakPassword(["It must be stronger."])
  private static let usedBefore = AccountFault.weakPassword(["It must not have been used before."])
  private static let tooCommon = AccountFault.weakPassword(["It must not be a common password."])
  private static let personal = AccountFault.weakPassword([
    "It must not contain the user's personal data."
  ])

  // MARK: Tables

  /// Errors of every request in which this service authenticates.
  private static let ofAll: [Row] = [
    Row(400, "invalid_request", "Missing required parameter", is: misconfigured),
    Row(401, "invalid_client", "Unauthorized", is: misconfigured),
    Row(403, "unauthorized_client", "Grant type not allowed", is: misconfigured),
    Row(limitedFor: 7), Row(429, body: nil, is: .rateLimited(after: nil)),
    Row(500, "server_error", is: unavailable), Row(502, body: nil, is: unavailable),
    Row(503, "temporarily_unavailable", is: unavailable),
  ]

  static let signIns: [Row] =
    ofAll + [
      Row(403, "invalid_grant", "Wrong email or password.", is: .wrongCredentials),
      Row(403, "invalid_user_password", "Wrong email or password.", is: .wrongCredentials),
      Row(403, "mfa_required", "Multifactor authentication required", is: .mfaRequired),
      Row(401, "mfa_required", "Multifactor authentication required", is: .mfaRequired),
      Row(401, "password_leaked", "This login has been blocked", is: .passwordLeaked),
      Row(429, "too_many_attempts", "Your account has been blocked", is: .blocked),
      Row(401, "unauthorized", "user is blocked", is: .blocked),
      Row(403, "unauthorized", "user is blocked", is: .blocked),
      Row(403, "unauthorized", "Access denied.", is: .denied),
      Row(403, "access_denied", "Denied by an Action", is: .denied),
      Row(401, "requires_verification", "Suspicious request", is: .denied),
      Row(400, "unsupported_grant_type", is: misconfigured),
    ]

  static let signUps: [Row] = [
    Row(400, code: "user_exists", is: .accountExists),
    Row(409, code: "user_exists", is: .accountExists),
    Row(400, code: "username_exists", is: .accountExists),
    Row(400, code: "invalid_signup", "BadRequestError", is: .accountExists),
    Row(400, code: "unauthorized", is: .denied), Row(401, code: "unauthorized", is: .denied),
    Row(400, code: "extensibility_error", is: .denied),
    Row(400, code: "invalid_password", "PasswordStrengthError", is: weak),
    Row(400, code: "invalid_password", "PasswordHistoryError", is: usedBefore),
    Row(400, code: "password_dictionary_error", "PasswordDictionaryError", is: tooCommon),
    Row(400, code: "password_no_user_info_error", "PasswordNoUserInfoError", is: personal),
    Row(400, "invalid_request", "Missing required parameter", is: misconfigured),
    Row(limitedFor: 7), Row(403, body: nil, is: .denied),
  ]

  static let refreshes: [Row] =
    ofAll + [
      Row(403, "invalid_grant", "Unknown or invalid refresh token.", is: .sessionExpired),
      Row(401, "unauthorized", "user is blocked", is: .blocked),
      Row(403, "access_denied", "Denied by an Action", is: .denied),
      Row(403, "mfa_required", "Multifactor authentication required", is: .mfaRequired),
      Row(400, "unsupported_grant_type", is: misconfigured),
    ]

  static let profiles: [Row] = [
    Row(401, body: nil, is: .denied), Row(401, "invalid_token", is: .denied), Row(limitedFor: 12),
    Row(403, "insufficient_scope", is: misconfigured), Row(500, body: nil, is: unavailable),
    Row(200, body: ["sub": "auth0|somebody-else", "email": "eve@example.com"], is: .denied),
    Row(200, body: ["sub": "auth0|1"], is: .denied),
  ]

  static let managementTokens: [Row] =
    ofAll + [
      Row(403, "access_denied", "Client is not authorized to access the API", is: misconfigured),
      Row(403, "access_denied", "Service not enabled within domain", is: misconfigured),
      Row(401, "unauthorized", "Unauthorized", is: misconfigured),
      Row(400, "invalid_grant", is: misconfigured),
      Row(400, "unsupported_grant_type", is: misconfigured),
      Row(200, body: ["token_type": "Bearer", "expires_in": 60], is: misconfigured),
      Row(200, body: ["access_token": "token"], is: misconfigured),
      Row(200, body: nil, is: misconfigured),
    ]

  static let newPasswords: [Row] = [
    Row(400, message: "PasswordStrengthError: Password is too weak", is: weak),
    Row(400, message: "PasswordHistoryError: Password has previously been used", is: usedBefore),
    Row(400, message: "PasswordDictionaryError: Password is too common", is: tooCommon),
    Row(400, message: "PasswordNoUserInfoError: Password contains user information", is: personal),
    Row(400, message: "Payload validation error", "invalid_body", is: misconfigured),
    Row(401, message: "Invalid token", is: misconfigured),
    Row(401, message: "Expired token received for JSON Web Token validation", is: misconfigured),
    Row(403, message: "Insufficient scope", "insufficient_scope", is: misconfigured),
    Row(404, message: "The user does not exist.", "inexistent_user", is: .wrongCredentials),
    Row(404, message: "The user does not exist.", is: .wrongCredentials),
    Row(
      429, message: "Global limit has been reached", "too_many_requests",
      is: .rateLimited(after: nil)),
    Row(500, message: "Internal error", is: unavailable), Row(503, body: nil, is: unavailable),
  ]

  // MARK: Requests

  private let clock = TestClock()

  private func tenant() async throws -> (FakeAuth0, Auth0Accounts) {
    let fake = try await FakeAuth0 { [clock] in clock.seconds }
    return (
      fake,
      Auth0Accounts(
        settings: FakeAuth0.settings(), exchange: fake.exchange, clock: clock.clock,
        logger: Logger(label: "test"))
    )
  }

  private func expect(
    _ row: Row, of asked: FakeAuth0.Asked,
    at call: (Auth0Accounts, AccountSession) async throws -> Void
  ) async throws {
    let (fake, provider) = try await tenant()
    let session = try await provider.signUp(.of("ada"), from: .test)
    fake.answer(asked, row.status, row.body, fields: row.fields)
    let fault = try await #require(throws: AccountFault.self) { try await call(provider, session) }
    #expect(fault.withoutCause == row.fault)
  }

  private static func change(
    _ provider: Auth0Accounts, _ session: AccountSession
  ) async throws {
    try await provider.changePassword(
      PasswordChange(
        user: VerifiedUser(id: session.user, expires: Timestamp(milliseconds: .max)),
        accessToken: session.accessToken, current: "correct horse", new: "battery staple"),
      from: .test)
  }

  @Test("Faults of a sign-in", arguments: signIns)
  func signIn(row: Row) async throws {
    try await expect(row, of: .signIn) { provider, _ in
      _ = try await provider.signIn(.of("ada"), from: .test)
    }
  }

  @Test("Faults of a password check", arguments: signIns)
  func passwordCheck(row: Row) async throws {
    try await expect(row, of: .signIn) { provider, _ in
      try await provider.checkPassword(.of("ada"), from: .test)
    }
  }

  /// The current password is checked first, and its fault is reported.
  @Test("Faults of checking the current password before a change", arguments: signIns)
  func currentPassword(row: Row) async throws {
    try await expect(row, of: .signIn, at: Self.change)
  }

  @Test("Faults of a sign-up", arguments: signUps)
  func signUp(row: Row) async throws {
    try await expect(row, of: .signUp) { provider, _ in
      _ = try await provider.signUp(.of("eve"), from: .test)
    }
  }

  @Test("Faults of a refresh", arguments: refreshes)
  func refresh(row: Row) async throws {
    try await expect(row, of: .refresh) { provider, session in
      _ = try await provider.refresh(session.refreshToken, from: .test)
    }
  }

  @Test("Faults of a sign-out", arguments: ofAll)
  func signOut(row: Row) async throws {
    try await expect(row, of: .revoke) { provider, session in
      _ = try await provider.signOut(session.refreshToken)
    }
  }

  @Test("Faults of reading the profile before a password change", arguments: profiles)
  func profile(row: Row) async throws {
    try await expect(row, of: .profile, at: Self.change)
  }

  @Test("Faults of requesting a management token", arguments: managementTokens)
  func managementToken(row: Row) async throws {
    try await expect(row, of: .managementToken, at: Self.change)
  }

  @Test("Faults of setting a new password", arguments: newPasswords)
  func newPassword(row: Row) async throws {
    try await expect(row, of: .setPassword, at: Self.change)
  }

  // MARK: Tokens

  /// Auth0 responds the same to an unknown token, so existing tokens are not revealed.
  @Test("Signing out with an unknown token succeeds")
  func signOutWithUnknownToken() async throws {
    let (fake, provider) = try await tenant()
    _ = try await provider.signOut("made-up")
    #expect(fake.count(of: .revoke) == 1)
  }

  /// A cached token that is refused is renewed once per call, which shows whether it was the cause.
  @Test("A refused management token is renewed once per call")
  func renewsRefusedManagementTokenOnce() async throws {
    let (fake, provider) = try await tenant()
    let session = try await provider.signUp(.of("ada"), from: .test)
    fake.answer(.setPassword, 401, ["statusCode": 401, "message": "Invalid token"])
    for calls in 1...3 {
      let fault = try await #require(throws: AccountFault.self) {
        try await Self.change(provider, session)
      }
      #expect(fault.withoutCause == Self.misconfigured)
      #expect(fake.count(of: .setPassword) == 2 * calls)
      // The first call found no cached token.
      #expect(fake.count(of: .managementToken) == 1 + calls)
    }
    fake.judge(.setPassword)
    try await Self.change(provider, session)
    #expect(fake.count(of: .setPassword) == 7)
    #expect(fake.count(of: .managementToken) == 4)
  }

  /// If no new token can be requested, the refused one is not used again.
  @Test("A refused management token is discarded even if no new one can be requested")
  func discardsRefusedManagementToken() async throws {
    let (fake, provider) = try await tenant()
    let session = try await provider.signUp(.of("ada"), from: .test)
    fake.answer(.setPassword, 401, ["statusCode": 401, "message": "Invalid token"])
    await #expect(throws: AccountFault.self) { try await Self.change(provider, session) }
    let before = fake.count(of: .setPassword)
    fake.answer(.managementToken, 503, nil)
    for _ in 0..<2 {
      let fault = try await #require(throws: AccountFault.self) {
        try await Self.change(provider, session)
      }
      #expect(fault.withoutCause == Self.unavailable)
    }
    #expect(fake.count(of: .setPassword) == before + 1)
  }

  /// Refusals that a new token cannot resolve request none.
  @Test("Other refusals do not renew the management token")
  func otherRefusalsKeepManagementToken() async throws {
    for row in Self.newPasswords where row.status != 401 && row.status != 403 {
      let (fake, provider) = try await tenant()
      let session = try await provider.signUp(.of("ada"), from: .test)
      fake.answer(.setPassword, row.status, row.body)
      await #expect(throws: AccountFault.self) { try await Self.change(provider, session) }
      #expect(fake.count(of: .managementToken) == 1, "\(row.testDescription)")
      #expect(fake.count(of: .setPassword) == 1)
    }
  }
}

extension AccountFault {
  /// Causes are for people.
  var withoutCause: AccountFault {
    switch self {
    case .misconfigured: .misconfigured(cause: "")
    case .unavailable(_, let wasSent): .unavailable(cause: "", wasSent: wasSent)
    default: self
    }
  }
}
