import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  struct AccountTests {
    struct Session {
      let access: String
      let refresh: String
      let user: String

      var bearer: (String, String) { ("Authorization", "Bearer \(access)") }

      init(_ answer: RawResponse) throws {
        let body = try JSONValue(parsing: answer.body)
        access = try #require(body["accessToken"]?.string, "\(answer.text)")
        refresh = try #require(body["refreshToken"]?.string)
        user = try #require(body["userId"]?.string)
      }
    }

    /// Starts a service with a low password cost, for speed.
    static func start(
      accounts: String = "", settings: String = "", operations: [String: String] = [:],
      localTypes: String? = nil
    ) async throws -> RunningLarder {
      try await RunningLarder.start(
        settings: "accounts: {passwordCost: 10\(accounts.isEmpty ? "" : ", ")\(accounts)}\n"
          + settings, operations: operations, localTypes: localTypes)
    }

    static func credentials(_ name: String, _ password: String = "correct horse") -> String {
      #"{"email":"\#(name)@example.com","password":"\#(password)"}"#
    }

    static func signUp(_ larder: RunningLarder, _ name: String = "ada") async throws -> Session {
      let answer = try await larder.post("/v1/auth/sign-up", credentials(name))
      #expect(answer.status == 201, "\(answer.text)")
      #expect(answer["cache-control"] == "no-store")
      return try Session(answer)
    }

    static func code(_ answer: RawResponse) throws -> String? {
      try JSONValue(parsing: answer.body)["code"]?.string
    }

    static func refreshBody(_ token: String) -> String { #"{"refreshToken":"\#(token)"}"# }

    @Test("A user signs up, refreshes the session and signs out")
    func userLifecycle() async throws {
      let larder = try await Self.start()
      let first = try await Self.signUp(larder)
      let again = try await larder.post("/v1/auth/sign-up", Self.credentials("ADA"))
      #expect(again.status == 409)
      #expect(try Self.code(again) == "account_exists")
      let signedIn = try await larder.post("/v1/auth/sign-in", Self.credentials("ada"))
      #expect(signedIn.status == 200)
      let session = try Session(signedIn)
      #expect(session.user == first.user)
      let me = try await larder.get("/v1/auth/me", session.bearer)
      #expect(me.status == 200)
      #expect(
        try JSONValue(parsing: me.body)
          == ["userId": .string(first.user), "email": "ada@example.com"])
      let refreshed = try await larder.post(
        "/v1/auth/refresh", Self.refreshBody(session.refresh))
      #expect(refreshed.status == 200)
      let next = try Session(refreshed)
      #expect(try await larder.get("/v1/auth/me", next.bearer).status == 200)
      let out = try await larder.post("/v1/auth/sign-out", Self.refreshBody(next.refresh))
      #expect(out.status == 204)
      let over = try await larder.post("/v1/auth/refresh", Self.refreshBody(next.refresh))
      #expect(over.status == 401)
      #expect(try Self.code(over) == "session_expired")
      // The session of the sign-up continues.
      #expect(
        try await larder.post("/v1/auth/refresh", Self.refreshBody(first.refresh)).status == 200)
      await larder.stop()
    }

    @Test("A refresh token that is used twice ends its session")
    func aUsedRefreshTokenEndsItsSession() async throws {
      let larder = try await Self.start(accounts: "refreshLeeway: 0s")
      let first = try await Self.signUp(larder)
      let second = try Session(
        try await larder.post("/v1/auth/refresh", Self.refreshBody(first.refresh)))
      for token in [first.refresh, second.refresh, first.refresh, "made-up"] {
        let answer = try await larder.post("/v1/auth/refresh", Self.refreshBody(token))
        #expect(answer.status == 401)
        #expect(try Self.code(answer) == "session_expired")
      }
      await larder.stop()
    }

    @Test("Responses do not reveal whether an email address has an account")
    func accountsAreNotEnumerable() async throws {
      let larder = try await Self.start()
      _ = try await Self.signUp(larder)
      for route in ["sign-in", "check-password"] {
        var answers: [JSONValue] = []
        for name in ["ada", "nobody"] {
          let answer = try await larder.post(
            "/v1/auth/\(route)", Self.credentials(name, "wrong password"))
          #expect(answer.status == 401)
          var body = try JSONValue(parsing: answer.body)
          body["requestId"] = nil
          answers.append(body)
        }
        #expect(answers[0] == answers[1])
        #expect(answers[0]["code"] == "invalid_credentials")
      }
      let right = try await larder.post("/v1/auth/check-password", Self.credentials("ada"))
      #expect(right.status == 204)
      await larder.stop()
    }

    @Test("Password guessing is throttled, while right passwords go on working")
    func passwordGuessingIsThrottled() async throws {
      let larder = try await Self.start(accounts: "tries: 3, rate: 24")
      _ = try await Self.signUp(larder)
      for _ in 0..<12 {
        let answer = try await larder.post("/v1/auth/sign-in", Self.credentials("ada"))
        #expect(answer.status == 200)
      }
      func guess(_ name: String) async throws -> RawResponse {
        try await larder.post("/v1/auth/sign-in", Self.credentials(name, "wrong password"))
      }
      for name in ["ada", "nobody"] {
        for _ in 0..<3 { #expect(try await guess(name).status == 401) }
        let refused = try await guess(name)
        #expect(refused.status == 429)
        #expect(refused["retry-after"].flatMap { Int($0) }.map { 1...20 ~= $0 } == true)
      }
      // The right password is refused too while the account is throttled.
      #expect(
        try await larder.post("/v1/auth/sign-in", Self.credentials("ada")).status == 429)
      // Checked so far: the sign-up, twelve right passwords and six wrong ones.
      var statuses: [Int] = []
      for number in 0..<10 { statuses.append(try await guess("guest\(number)").status) }
      #expect(statuses.contains(401) && statuses.last == 429, "\(statuses)")
      await larder.stop()
    }

    @Test("A password change ends the user's other sessions")
    func aChangedPasswordEndsTheOtherSessions() async throws {
      let larder = try await Self.start()
      let own = try await Self.signUp(larder)
      let other = try Session(
        try await larder.post("/v1/auth/sign-in", Self.credentials("ada")))
      func change(_ current: String, _ new: String) async throws -> RawResponse {
        try await larder.request(
          "PUT", "/v1/auth/password", headers: [own.bearer],
          body: #"{"currentPassword":"\#(current)","newPassword":"\#(new)"}"#)
      }
      let wrong = try await change("wrong password", "battery staple")
      #expect(wrong.status == 401)
      #expect(try Self.code(wrong) == "invalid_credentials")
      let weak = try await change("correct horse", "short")
      #expect(weak.status == 422)
      #expect(try Self.code(weak) == "weak_password")
      #expect(try JSONValue(parsing: weak.body)["errors"]?[0]?["pointer"] == "/newPassword")
      #expect(try await change("correct horse", "battery staple").status == 204)
      #expect(
        try await larder.post("/v1/auth/refresh", Self.refreshBody(other.refresh)).status == 401)
      #expect(
        try await larder.post("/v1/auth/refresh", Self.refreshBody(own.refresh)).status == 200)
      #expect(
        try await larder.post(
          "/v1/auth/sign-in", Self.credentials("ada", "battery staple")
        ).status == 200)
      let anonymous = try await larder.request(
        "PUT", "/v1/auth/password", headers: [("Authorization", "Bearer opaque")],
        body: #"{"currentPassword":"a","newPassword":"b"}"#)
      #expect(anonymous.status == 401)
      #expect(try Self.code(anonymous) == "sign_in_required")
      await larder.stop()
    }

    @Test("A password is checked without signing in")
    func passwordIsChecked() async throws {
      let larder = try await Self.start()
      let session = try await Self.signUp(larder)
      // A client that has only its token learns the address from it.
      let me = try JSONValue(parsing: try await larder.get("/v1/auth/me", session.bearer).body)
      let email = try #require(me["email"]?.string)
      func check(_ password: String, _ headers: (String, String)...) async throws -> RawResponse {
        let body: JSONValue = ["email": .string(email), "password": .string(password)]
        return try await larder.request(
          "POST", "/v1/auth/check-password", headers: headers, body: body.text)
      }
      let right = try await check("correct horse", session.bearer)
      #expect(right.status == 204 && right.body.isEmpty, "\(right.text)")
      let wrong = try await check("wrong password", session.bearer)
      #expect(wrong.status == 401)
      #expect(try Self.code(wrong) == "invalid_credentials")
      // A token that is not valid does not matter.
      #expect(try await check("correct horse", ("Authorization", "Bearer a.b.c")).status == 204)
      let incomplete = try await larder.post(
        "/v1/auth/check-password", #"{"password":"correct horse"}"#, session.bearer)
      #expect(incomplete.status == 400)
      #expect(try JSONValue(parsing: incomplete.body)["errors"]?[0]?["pointer"] == "/email")
      // The session goes on.
      #expect(
        try await larder.post("/v1/auth/refresh", Self.refreshBody(session.refresh)).status == 200)
      await larder.stop()
    }

    @Test("A user changes the password in one request, with the current one")
    func passwordIsChanged() async throws {
      let larder = try await Self.start()
      let session = try await Self.signUp(larder)
      let without = try await larder.request(
        "PUT", "/v1/auth/password", headers: [session.bearer],
        body: #"{"newPassword":"battery staple"}"#)
      #expect(without.status == 400)
      #expect(
        try JSONValue(parsing: without.body)["errors"]?[0]?["pointer"] == "/currentPassword")
      func signIn(_ password: String) async throws -> Int {
        try await larder.post("/v1/auth/sign-in", Self.credentials("ada", password)).status
      }
      #expect(try await signIn("correct horse") == 200)
      let changed = try await larder.request(
        "PUT", "/v1/auth/password", headers: [session.bearer],
        body: #"{"currentPassword":"correct horse","newPassword":"battery staple"}"#)
      #expect(changed.status == 204, "\(changed.text)")
      #expect(try await signIn("correct horse") == 401)
      #expect(try await signIn("battery staple") == 200)
      await larder.stop()
    }

    @Test("All faults of a sign-up are reported in one response")
    func reportsAllFaultsAtOnce() async throws {
      let larder = try await Self.start()
      let answer = try await larder.post(
        "/v1/auth/sign-up", #"{"email":7,"role":"admin"}"#)
      #expect(answer.status == 400)
      let faults = try JSONValue(parsing: answer.body)["errors"]?.array ?? []
      #expect(
        Set(faults.compactMap { $0["pointer"]?.string }) == ["/email", "/password", "/role"])
      let form = try await larder.post(
        "/v1/auth/sign-in", Self.credentials("ada"), ("Content-Type", "text/plain"))
      #expect(form.status == 415)
      #expect(try await larder.request("DELETE", "/v1/auth/sign-in").status == 405)
      #expect(try await larder.post("/v1/auth/refresh", "[]").status == 400)
      let weak = try await larder.post("/v1/auth/sign-up", Self.credentials("ada", "short"))
      #expect(weak.status == 422)
      let odd = try await larder.post(
        "/v1/auth/sign-up", #"{"email":"ada","password":"correct horse"}"#)
      #expect(odd.status == 400)
      await larder.stop()
    }

    @Test("Settings can restrict sign-up to the operator")
    func signUpCanBeRestrictedToTheOperator() async throws {
      let larder = try await Self.start(accounts: "signUp: admin")
      let refused = try await larder.post("/v1/auth/sign-up", Self.credentials("ada"))
      #expect(refused.status == 403)
      let made = try await larder.post(
        "/v1/auth/sign-up", Self.credentials("ada"), OperatingTests.admin)
      #expect(made.status == 201)
      await larder.stop()
    }

    @Test("The admin SQL endpoint cannot read the columns that hold account secrets")
    func adminSQLDoesNotReadSecrets() async throws {
      let larder = try await Self.start()
      _ = try await Self.signUp(larder)
      for column in [
        "password_hash FROM account", "token_digest FROM session",
        "key_sealed FROM signing_key",
      ] {
        let answer = try await larder.post(
          "/v1/admin/sql", #"{"sql":"SELECT \#(column)"}"#, OperatingTests.admin)
        #expect(answer.status >= 400, "\(column): \(answer.text)")
      }
      await larder.stop()
    }
  }
}
