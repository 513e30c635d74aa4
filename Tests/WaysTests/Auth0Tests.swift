import Auth0Double
import Foundation
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
