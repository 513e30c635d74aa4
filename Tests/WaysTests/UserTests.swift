import DemoUpstream
import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Verified user tokens, beyond the account routes.
  struct UserTests {
    private static func tampered(_ token: String) -> String {
      var parts = token.split(separator: ".").map(String.init)
      parts[2] = String(parts[2].reversed())
      return parts.joined(separator: ".")
    }

    private static func bearer(_ token: String) -> (String, String) {
      ("Authorization", "Bearer \(token)")
    }

    @Test("A token that Larder issued is not sent in place of the service's key")
    func ownTokensDoNotReplaceTheServicesKey() async throws {
      let larder = try await RunningLarder.start(
        settings: "accounts: {passwordCost: 10, signUp: open}",
        operations: ["time": "query Time @cache(maxAge: 0) { serverTime }"],
        service: "x-api-key: s3cret")
      let session = try await AccountTests.signUp(larder)
      #expect(try await larder.get("/v1/operations/Time", session.bearer).status == 200)
      let own = try #require(larder.demo.report.recent.last)
      #expect(own["x-api-key"] == "s3cret" && own["authorization"] == nil)
      // Any other token belongs to the caller, and is sent alone.
      let opaque = ("Authorization", "Bearer user-ada")
      #expect(try await larder.get("/v1/operations/Time", opaque).status == 200)
      let other = try #require(larder.demo.report.recent.last)
      #expect(other["x-api-key"] == nil && other["authorization"] == "Bearer user-ada")
      await larder.stop()
    }

    /// Includes responses served from the cache by the event loop.
    @Test("An invalid token is refused on every route, cached responses included")
    func invalidTokenIsRefusedEverywhere() async throws {
      let larder = try await AccountTests.start()
      let session = try await AccountTests.signUp(larder)
      for _ in 0..<3 {
        #expect(try await larder.get("/api/films/f1").status == 200)
        #expect(try await larder.get("/api/films/f1", session.bearer).status == 200)
      }
      let bad = Self.bearer(Self.tampered(session.access))
      let targets = [
        "/api/films/f1", "/v1/operations/Film?id=f1", "/v1/changes", "/v1/entities",
        "/v1/entities/Film", "/v1/auth/me", "/v1/operations/Film/stream?id=f1",
        "/v1/changes/stream", "/v1/operations", "/openapi.json",
      ]
      for target in targets {
        let answer = try await larder.get(target, bad)
        #expect(answer.status == 401, "\(target)")
        #expect(try AccountTests.code(answer) == "token_invalid")
        #expect(answer["www-authenticate"]?.contains("invalid_token") == true)
      }
      let posted = try await larder.post("/v1/devices", #"{"platform":"ios"}"#, bad)
      #expect(posted.status == 401)
      await larder.stop()
    }

    @Test("A cached response is not served once its token has expired")
    func cachedResponseEndsWithItsToken() async throws {
      let larder = try await AccountTests.start(accounts: "accessLifetime: 5s")
      let session = try await AccountTests.signUp(larder)
      for _ in 0..<3 {
        let answer = try await larder.get("/api/films/f1", session.bearer)
        #expect(answer.status == 200)
      }
      let late = try await eventually {
        try await larder.get("/api/films/f1", session.bearer)
      } until: {
        $0.status != 200
      }
      #expect(late.status == 401)
      #expect(try AccountTests.code(late) == "token_expired")
      // A client sends its expired token along when it refreshes the session.
      let fresh = try await larder.post(
        "/v1/auth/refresh", AccountTests.refreshBody(session.refresh), session.bearer)
      #expect(fresh.status == 200)
      await larder.stop()
    }

    /// The client reconnects with another token.
    @Test("A stream ends when its token expires")
    func aStreamEndsWithItsToken() async throws {
      let larder = try await AccountTests.start(accounts: "accessLifetime: 5s")
      let session = try await AccountTests.signUp(larder)
      let headers = [session.bearer]
      let changes = try await EventClient.open(
        port: larder.port, "/v1/changes/stream?since=now", headers: headers, timeoutSeconds: 30)
      let film = try await EventClient.open(
        port: larder.port, "/v1/operations/Film/stream?id=f1", headers: headers,
        timeoutSeconds: 30)
      for events in [changes, film] {
        #expect(events.status == 200)
        while let event = try await events.next() { #expect(event.event != "reset") }
      }
      #expect(
        try await larder.get("/v1/changes/stream", session.bearer).status == 401)
      await larder.stop()
    }

    @Test("A token survives a restart")
    func tokenSurvivesARestart() async throws {
      let larder = try await AccountTests.start()
      let session = try await AccountTests.signUp(larder)
      await larder.stopService()
      try await larder.startService()
      #expect(try await larder.get("/v1/auth/me", session.bearer).status == 200)
      let refreshed = try await larder.post(
        "/v1/auth/refresh", AccountTests.refreshBody(session.refresh))
      #expect(refreshed.status == 200)
      await larder.stop()
    }

    /// Responses that upstream sent for one token of a user serve the user's next token too.
    @Test("Private responses belong to the user and not to one token")
    func responsesBelongToTheUser() async throws {
      let larder = try await AccountTests.start()
      let first = try await AccountTests.signUp(larder)
      let second = try AccountTests.Session(
        try await larder.post("/v1/auth/refresh", AccountTests.refreshBody(first.refresh)))
      let eve = try await AccountTests.signUp(larder, "eve")
      #expect(first.access != second.access)
      let one = try await larder.get("/v1/operations/Film?id=f2", first.bearer)
      let again = try await larder.get("/v1/operations/Film?id=f2", second.bearer)
      #expect(one.status == 200)
      #expect(again["etag"] == one["etag"])
      #expect(one["cache-control"]?.hasPrefix("private") == true)
      // Cursors belong to the caller.
      let cursor = try JSONValue(
        parsing: try await larder.get("/v1/changes?since=now", first.bearer).body)["cursor"]
      let text = try #require(cursor?.string)
      #expect(try await larder.get("/v1/changes?since=\(text)", second.bearer).status == 200)
      #expect(try await larder.get("/v1/changes?since=\(text)", eve.bearer).status == 403)
      await larder.stop()
    }

    @Test("An operation can require a signed-in user")
    func operationCanRequireAUser() async throws {
      let larder = try await AccountTests.start(operations: [
        "time": "query Time @access(role: USER) { serverTime }"
      ])
      #expect(try await larder.get("/v1/operations/Time").status == 401)
      let session = try await AccountTests.signUp(larder)
      #expect(try await larder.get("/v1/operations/Time", session.bearer).status == 200)
      await larder.stop()
    }

    @Test("A user's own data follows the user from device to device")
    func userDataFollowsTheUser() async throws {
      let larder = try await AccountTests.start(
        localTypes: "type Note @local(scope: USER) { id: ID!\n text: String! }")
      let ada = try await AccountTests.signUp(larder)
      let eve = try await AccountTests.signUp(larder, "eve")
      let phone = ("Device-Token", try await DeviceTests.register(larder).token)
      let tablet = ("Device-Token", try await DeviceTests.register(larder).token)
      let json = ("Content-Type", "application/json")
      for headers in [[json], [json, phone], [json, Self.bearer("opaque")]] {
        let refused = try await larder.request(
          "POST", "/v1/entities/Note", headers: headers, body: #"{"text":"milk"}"#)
        #expect(refused.status == 401)
        #expect(try AccountTests.code(refused) == "sign_in_required")
      }
      let made = try await larder.request(
        "POST", "/v1/entities/Note", headers: [json, phone, ada.bearer],
        body: #"{"id":"n1","text":"milk"}"#)
      #expect(made.status == 201, "\(made.text)")
      let elsewhere = try await larder.request(
        "GET", "/v1/entities/Note/n1", headers: [tablet, ada.bearer])
      #expect(elsewhere.status == 200)
      #expect(try JSONValue(parsing: elsewhere.body)["text"] == "milk")
      let later = try AccountTests.Session(
        try await larder.post("/v1/auth/refresh", AccountTests.refreshBody(ada.refresh)))
      #expect(try await larder.get("/v1/entities/Note/n1", later.bearer).status == 200)
      #expect(try await larder.get("/v1/entities/Note/n1", eve.bearer).status == 404)
      let anonymous = try await larder.get("/v1/entities/Note/n1")
      #expect(anonymous.status == 401)
      #expect(try AccountTests.code(anonymous) == "sign_in_required")
      await larder.stop()
    }

    @Test("A device belongs to at most one user")
    func deviceHasAtMostOneUser() async throws {
      let larder = try await AccountTests.start()
      let ada = try await AccountTests.signUp(larder)
      let eve = try await AccountTests.signUp(larder, "eve")
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      let signedIn = try await larder.post(
        "/v1/auth/sign-in", AccountTests.credentials("ada"), device)
      #expect(signedIn.status == 200)
      let shown = try JSONValue(parsing: try await larder.get("/v1/devices/me", device).body)
      #expect(shown["userId"]?.string == ada.user)
      for answer in [
        try await larder.get("/api/films/f1", device, eve.bearer),
        try await larder.post("/v1/auth/sign-in", AccountTests.credentials("eve"), device),
      ] {
        #expect(answer.status == 403)
        #expect(try AccountTests.code(answer) == "device_of_another_user")
      }
      // After a sign-out the device stays its user's; another user registers another device.
      let out = try await larder.post(
        "/v1/auth/sign-out",
        AccountTests.refreshBody(try AccountTests.Session(signedIn).refresh), device)
      #expect(out.status == 204)
      #expect(try await larder.get("/api/films/f1", device, eve.bearer).status == 403)
      let other = ("Device-Token", try await DeviceTests.register(larder).token)
      #expect(try await larder.get("/api/films/f1", other, eve.bearer).status == 200)
      await larder.stop()
    }

    @Test("Settings can restrict device registration to users")
    func registrationCanRequireAUser() async throws {
      let larder = try await AccountTests.start(settings: "devices: {register: user}")
      let ada = try await AccountTests.signUp(larder)
      #expect(try await larder.post("/v1/devices", #"{"platform":"ios"}"#).status == 401)
      let made = try await larder.post("/v1/devices", #"{"platform":"ios"}"#, ada.bearer)
      #expect(made.status == 201)
      let token = try #require(try JSONValue(parsing: made.body)["deviceToken"]?.string)
      let shown = try await larder.get("/v1/devices/me", ("Device-Token", token))
      #expect(try JSONValue(parsing: shown.body)["userId"]?.string == ada.user)
      await larder.stop()
    }

    @Test("The keys that verify tokens are published")
    func tokenKeysArePublished() async throws {
      let larder = try await AccountTests.start(accounts: "audience: api")
      let session = try await AccountTests.signUp(larder)
      let answer = try await larder.get("/.well-known/jwks.json")
      #expect(answer.status == 200)
      let keys = try JSONValue(parsing: answer.body)["keys"]?.array ?? []
      let header = try #require(session.access.split(separator: ".").first)
      let padded = header.replacing("-", with: "+").replacing("_", with: "/")
      let bytes = try #require(
        Data(base64Encoded: padded + String(repeating: "=", count: (4 - header.count % 4) % 4)))
      let id = try JSONValue(parsing: Array(bytes))["kid"]
      #expect(id != nil && keys.contains { $0["kid"] == id && $0["kty"] == "EC" })
      #expect(keys.allSatisfy { $0["d"] == nil })
      await larder.stop()
    }
  }
}
