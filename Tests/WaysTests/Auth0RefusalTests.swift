import Auth0Double
import Foundation
import HTTPTypes
import LosslessJSON
import TestSupport
import Testing

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
