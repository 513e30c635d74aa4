import Auth0Double
import Foundation
import HTTPTypes
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  struct Auth0Tests {
    /// - Parameter more: lines of the settings' `accounts`.
    static func start(_ auth0: Auth0Server, more: String = "") async throws -> RunningLarder {
      try await RunningLarder.start(
        settings: """
          accounts:
            provider: auth0
            domain: \(FakeAuth0.domain)
            issuer: \(auth0.tenant.issuer)
            clientId: \(FakeAuth0.clientID)
            clientSecret: \(FakeAuth0.secret)
            audience: \(FakeAuth0.audience)
            \(more)
          """)
    }

    @Test("Users of an Auth0 tenant sign up, sign in and refresh through Larder")
    func tenantUsersSignIn() async throws {
      let auth0 = try await Auth0Server { Int64(Date().timeIntervalSince1970) }
      let larder = try await Self.start(auth0)
      let session = try await AccountTests.signUp(larder)
      #expect(session.user.hasPrefix("auth0|"))
      let me = try await larder.get("/v1/auth/me", session.bearer)
      #expect(try JSONValue(parsing: me.body) == ["userId": .string(session.user)])
      let wrong = try await larder.post(
        "/v1/auth/sign-in", AccountTests.credentials("ada", "wrong password"))
      #expect(wrong.status == 401)
      #expect(try AccountTests.code(wrong) == "invalid_credentials")
      let refreshed = try await larder.post(
        "/v1/auth/refresh", AccountTests.refreshBody(session.refresh))
      let next = try AccountTests.Session(refreshed)
      #expect(next.user == session.user)
      let reused = try await larder.post(
        "/v1/auth/refresh", AccountTests.refreshBody(session.refresh))
      #expect(try AccountTests.code(reused) == "session_expired")
      let changed = try await larder.request(
        "PUT", "/v1/auth/password", headers: [session.bearer],
        body: #"{"currentPassword":"correct horse","newPassword":"battery staple"}"#)
      #expect(changed.status == 204, "\(changed.text)")
      let again = try AccountTests.Session(
        try await larder.post(
          "/v1/auth/sign-in", AccountTests.credentials("ada", "battery staple")))
      let out = try await larder.post(
        "/v1/auth/sign-out", AccountTests.refreshBody(again.refresh))
      #expect(out.status == 204)
      #expect(try await larder.get("/.well-known/jwks.json").status == 404)
      // The user's own address, not this service's.
      #expect(auth0.tenant.forwardedFor.allSatisfy { $0 == "127.0.0.1" })
      #expect(!auth0.tenant.forwardedFor.isEmpty)
      await larder.stop()
      await auth0.stop()
    }

    @Test("A tenant's tokens are verified on every route")
    func tenantTokensAreVerifiedEverywhere() async throws {
      let auth0 = try await Auth0Server { Int64(Date().timeIntervalSince1970) }
      let larder = try await Self.start(auth0)
      let now = Int64(Date().timeIntervalSince1970)
      func token(_ age: Int64, audience: String = FakeAuth0.audience) throws -> (String, String) {
        let claims: JSONValue = [
          "iss": .string(auth0.tenant.issuer), "sub": "auth0|7", "aud": .string(audience),
          "iat": .number(JSONNumber(now - age)), "exp": .number(JSONNumber(now - age + 600)),
        ]
        return ("Authorization", "Bearer \(try auth0.tenant.key.token(claims))")
      }
      #expect(try await larder.get("/api/films/f1", token(0)).status == 200)
      let expired = try await larder.get("/api/films/f1", token(700))
      #expect(expired.status == 401)
      #expect(try AccountTests.code(expired) == "token_expired")
      // An ID token is meant for the application, not for the API.
      let meant = try await larder.get("/api/films/f1", token(0, audience: FakeAuth0.clientID))
      #expect(try AccountTests.code(meant) == "token_invalid")
      await larder.stop()
      await auth0.stop()
    }
  }
}

extension Ways {
  /// The problem document that a client gets for each of Auth0's refusals, by route.
  struct Auth0RefusalTests {
    private struct Row {
      let route: String
      let asked: FakeAuth0.Asked
      /// The status of Auth0's response.
      let status: Int
      let body: JSONValue?
      var fields: HTTPFields = [:]
      /// The status and code of the client's response.
      let told: (status: Int, code: String)
      var retryAfter: String?
      var pointer: String?
    }

    /// Auth0's message text, which only operators can read.
    private static let words = "words-of-the-vendor"

    private static func oauth(_ error: String) -> JSONValue {
      ["error": .string(error), "error_description": .string(words)]
    }

    private static func signUp(_ code: String, _ name: String = "") -> JSONValue {
      [
        "code": .string(code), "name": .string(name), "description": .string(words),
        "message": .string(words), "statusCode": 400,
      ]
    }

    private static func management(_ status: Int64, _ message: String = words) -> JSONValue {
      ["statusCode": .number(JSONNumber(status)), "error": "No", "message": .string(message)]
    }

    // MARK: The table

    private static func row(
      _ route: String, _ asked: FakeAuth0.Asked, _ status: Int, _ body: JSONValue?,
      told: (status: Int, code: String), retryAfter: String? = nil, pointer: String? = nil,
      saying wait: String? = nil
    ) -> Row {
      var row = Row(
        route: route, asked: asked, status: status, body: body, told: told,
        retryAfter: retryAfter, pointer: pointer)
      row.fields[.retryAfter] = wait
      return row
    }

    private static var rows: [Row] {
      let ofPasswords = ["sign-in", "check-password", "password"].flatMap { route in
        [
          row(
            route, .signIn, 403, oauth("invalid_grant"), told: (401, "invalid_credentials")),
          row(route, .signIn, 403, oauth("mfa_required"), told: (403, "mfa_required")),
          row(
            route, .signIn, 429, oauth("too_many_attempts"), told: (403, "account_blocked")),
          row(route, .signIn, 401, oauth("password_leaked"), told: (403, "password_leaked")),
          row(route, .signIn, 403, oauth("access_denied"), told: (403, "forbidden")),
          row(
            route, .signIn, 429, oauth("too_many_requests"), told: (429, "rate_limited"),
            retryAfter: "7", saying: "7"),
          row(route, .signIn, 429, nil, told: (429, "rate_limited"), retryAfter: "60"),
          row(
            route, .signIn, 401, oauth("invalid_client"), told: (502, "accounts_misconfigured")),
          row(
            route, .signIn, 500, oauth("server_error"), told: (503, "accounts_unavailable"),
            retryAfter: "5"),
        ]
      }
      return ofPasswords + [
        row("sign-up", .signUp, 400, signUp("invalid_signup"), told: (409, "account_exists")),
        row("sign-up", .signUp, 400, signUp("extensibility_error"), told: (403, "forbidden")),
        row(
          "sign-up", .signUp, 400, signUp("invalid_password", "PasswordHistoryError"),
          told: (422, "weak_password"), pointer: "/password"),
        row("refresh", .refresh, 403, oauth("invalid_grant"), told: (401, "session_expired")),
        row("refresh", .refresh, 403, oauth("access_denied"), told: (403, "forbidden")),
        row(
          "refresh", .refresh, 503, nil, told: (503, "accounts_unavailable"), retryAfter: "5"),
        row(
          "sign-out", .revoke, 401, oauth("invalid_client"),
          told: (502, "accounts_misconfigured")),
        row(
          "sign-out", .revoke, 503, nil, told: (503, "accounts_unavailable"), retryAfter: "5"),
        row("password", .profile, 401, nil, told: (403, "forbidden")),
        row(
          "password", .profile, 429, oauth("too_many_requests"), told: (429, "rate_limited"),
          retryAfter: "12", saying: "12"),
        row(
          "password", .managementToken, 403, oauth("access_denied"),
          told: (502, "accounts_misconfigured")),
        row(
          "password", .setPassword, 400, management(400, "PasswordStrengthError: \(words)"),
          told: (422, "weak_password"), pointer: "/newPassword"),
        row(
          "password", .setPassword, 401, management(401), told: (502, "accounts_misconfigured")),
        row(
          "password", .setPassword, 404, management(404), told: (401, "invalid_credentials")),
        row(
          "password", .setPassword, 500, management(500), told: (503, "accounts_unavailable"),
          retryAfter: "5"),
      ]
    }

    // MARK: Requests

    private static func ask(
      _ larder: RunningLarder, _ route: String, _ session: AccountTests.Session
    ) async throws -> RawResponse {
      let target = "/v1/auth/\(route)"
      return switch route {
      case "password":
        try await larder.request(
          "PUT", target, headers: [session.bearer],
          body: #"{"currentPassword":"correct horse","newPassword":"battery staple"}"#)
      case "refresh", "sign-out":
        try await larder.post(target, AccountTests.refreshBody(session.refresh))
      case "sign-up": try await larder.post(target, AccountTests.credentials("eve"))
      default: try await larder.post(target, AccountTests.credentials("ada"))
      }
    }

    @Test("Each Auth0 refusal becomes a problem document without Auth0's own text")
    func refusalsUseLarderProblems() async throws {
      let auth0 = try await Auth0Server { Int64(Date().timeIntervalSince1970) }
      let larder = try await Auth0Tests.start(auth0, more: "tries: 1000\n  rate: 1000")
      let session = try await AccountTests.signUp(larder)
      for row in Self.rows {
        let name = "\(row.route), \(row.asked): \(row.status) \(row.body?.text ?? "")"
        auth0.tenant.answer(row.asked, row.status, row.body, fields: row.fields)
        let answer = try await Self.ask(larder, row.route, session)
        auth0.tenant.judge(row.asked)
        let body = try JSONValue(parsing: answer.body)
        #expect(answer.status == row.told.status, "\(name)")
        #expect(body["code"]?.string == row.told.code, "\(name)")
        #expect(answer["content-type"] == "application/problem+json", "\(name)")
        #expect(answer["retry-after"] == row.retryAfter, "\(name)")
        #expect(body["errors"]?[0]?["pointer"]?.string == row.pointer, "\(name)")
        #expect(!answer.text.contains(Self.words), "\(name)")
      }
      // The session has survived all of these.
      let refreshed = try await larder.post(
        "/v1/auth/refresh", AccountTests.refreshBody(session.refresh))
      #expect(refreshed.status == 200)
      await larder.stop()
      await auth0.stop()
    }
  }
}
