import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Signing in to the console, and out.
  struct OperatorSessionTests {
    private static func code(_ answer: RawResponse) -> String? {
      (try? JSONValue(parsing: answer.body))?["code"]?.string
    }

    @Test("An operator signs in, is shown the session, and signs out")
    func sessionLifecycle() async throws {
      let larder = try await RunningLarder.start()
      #expect(Self.code(try await larder.get("/v1/admin/session")) == "unauthenticated")
      let answer = try await ConsoleSession.signIn(larder, token: RunningLarder.adminToken)
      #expect(answer.status == 201 && answer["cache-control"] == "no-store")
      let setting = try #require(answer["set-cookie"])
      #expect(setting.hasPrefix("larder-console=") && !setting.contains("Secure"))
      for part in ["Path=/", "HttpOnly", "SameSite=Strict"] { #expect(setting.contains(part)) }
      let session = try ConsoleSession(answer)
      #expect(!answer.text.contains(session.cookie.1.dropFirst("larder-console=".count)))
      let shown = try JSONValue(
        parsing: try await larder.get("/v1/admin/session", session.cookie).body)
      #expect(shown["role"] == "admin" && shown["csrfToken"]?.string == session.csrf.1)
      let (idle, end) = (shown["idleExpiresAt"]?.int64 ?? 0, shown["expiresAt"]?.int64 ?? 0)
      #expect(idle > 0 && idle < end)
      #expect(try await larder.get("/v1/admin/tables", session.cookie).status == 200)
      let forged = try await larder.request(
        "DELETE", "/v1/admin/session", headers: [session.cookie])
      #expect(Self.code(forged) == "csrf_invalid")
      let out = try await larder.request("DELETE", "/v1/admin/session", headers: session.fields)
      #expect(out.status == 204 && out["set-cookie"]?.contains("Max-Age=0") == true)
      #expect(
        Self.code(try await larder.get("/v1/admin/tables", session.cookie)) == "session_expired")
      #expect(
        Self.code(try await larder.get("/v1/admin/session", session.cookie)) == "session_expired")
      let again = try await larder.request("DELETE", "/v1/admin/session", headers: session.fields)
      #expect(again.status == 204)
      await larder.stop()
    }

    @Test("Wrong tokens, bodies and pages of other origins open no session")
    func refusesSignIns() async throws {
      let larder = try await RunningLarder.start()
      let page = ("Sec-Fetch-Site", "cross-site")
      let foreign = try await ConsoleSession.signIn(
        larder, token: RunningLarder.adminToken, headers: [page])
      #expect(foreign.status == 403 && Self.code(foreign) == "cross_origin")
      for (body, faults) in [("{}", 1), (#"{"token":1}"#, 1), (#"{"token":1,"role":"admin"}"#, 2)] {
        let answer = try await larder.post("/v1/admin/session", body)
        #expect(answer.status == 400, "\(body)")
        #expect(try JSONValue(parsing: answer.body)["errors"]?.array?.count == faults, "\(body)")
      }
      let form = try await larder.request(
        "POST", "/v1/admin/session",
        headers: [("Content-Type", "application/x-www-form-urlencoded")], body: "token=a")
      #expect(form.status == 415)
      var codes: [String?] = []
      for _ in 0..<11 {
        codes.append(Self.code(try await ConsoleSession.signIn(larder, token: "wrong")))
      }
      #expect(codes.prefix(10).allSatisfy { $0 == "invalid_credentials" }, "\(codes)")
      #expect(codes.last == "rate_limited")
      await larder.stop()
    }

    @Test("Without an admin token there is no sign-in, and over https the cookie is for TLS alone")
    func followsTheSettings() async throws {
      let larder = try await RunningLarder.start(settings: "publicUrl: https://api.example.com")
      let answer = try await ConsoleSession.signIn(
        larder, token: RunningLarder.viewerToken, headers: [("Origin", "https://api.example.com")])
      let setting = try #require(answer["set-cookie"])
      #expect(setting.hasPrefix("__Host-larder-console=") && setting.hasSuffix("; Secure"))
      let session = try ConsoleSession(answer)
      #expect(session.role == "viewer")
      #expect(try await larder.get("/v1/admin/tables", session.cookie).status == 200)
      await larder.stop()
    }

    @Test("A new sign-in ends the session that the request has")
    func signInReplacesTheSession() async throws {
      let larder = try await RunningLarder.start()
      let first = try await ConsoleSession.open(larder, token: RunningLarder.viewerToken)
      let answer = try await ConsoleSession.signIn(
        larder, token: RunningLarder.adminToken, headers: [first.cookie])
      let second = try ConsoleSession(answer)
      #expect(
        Self.code(try await larder.get("/v1/admin/tables", first.cookie)) == "session_expired")
      #expect(try await larder.get("/v1/admin/tables", second.cookie).status == 200)
      await larder.stop()
    }

    @Test("What an operator sees by the session reaches no other caller through a cache")
    func cachesKeepSessionsApart() async throws {
      let larder = try await RunningLarder.start(
        operations: [
          "films": """
          query Secret @access(role: ADMIN) @cache(maxAge: 600) { film(id: "f1") { id title } }
          query Open @cache(maxAge: 600, scope: PUBLIC) { film(id: "f2") { id title } }
          """
        ])
      let session = try await ConsoleSession.open(larder, token: RunningLarder.adminToken)
      let target = "/v1/operations/Secret"
      for _ in 0..<3 {
        let answer = try await larder.request("GET", target, headers: session.fields)
        #expect(answer.status == 200 && answer["cache-control"] == "no-store", "\(answer.text)")
        #expect(try await larder.get(target).status == 401)
        #expect(try await larder.get(target, session.cookie).status == 401)
      }
      for _ in 0..<3 {
        #expect(try await larder.get("/v1/operations/Open").status == 200)
        let answer = try await larder.request(
          "GET", "/v1/operations/Open", headers: session.fields)
        #expect(answer["cache-control"] == "no-store")
      }
      await larder.stop()
    }

    @Test("A stream that was opened in a session ends with it")
    func streamsEndWithTheSession() async throws {
      let larder = try await RunningLarder.start()
      let session = try await ConsoleSession.open(larder, token: RunningLarder.adminToken)
      let stream = try await EventClient.open(
        port: larder.port, "/v1/changes/stream?since=now", headers: session.fields)
      #expect(stream.status == 200)
      let out = try await larder.request("DELETE", "/v1/admin/session", headers: session.fields)
      #expect(out.status == 204)
      _ = try await larder.get("/api/films/f1")
      do {
        while let event = try await stream.nextEvent() { #expect(event.event != "change") }
      } catch RawClient.Problem.closed {
        // One that had not begun to send is cut off.
      }
      await larder.stop()
    }

    @Test("The viewer reads queries that are for the operator, and sends no mutation")
    func viewersSendNoMutations() async throws {
      let larder = try await RunningLarder.start(
        operations: [
          "films": """
          query Secret @access(role: ADMIN) { film(id: "f1") { id title } }
          mutation Rename($id: ID!, $patch: FilmPatch!) @access(role: ADMIN) {
            updateFilm(id: $id, patch: $patch) { id title }
          }
          """
        ])
      let viewer = ("Authorization", "Bearer \(RunningLarder.viewerToken)")
      let session = try await ConsoleSession.open(larder, token: RunningLarder.viewerToken)
      let variables = #"{"id":"f1","patch":{"title":"Renamed"}}"#
      let mutation = #"{"operationName":"Rename","variables":\#(variables)}"#
      for fields in [[viewer], session.fields] {
        let read = try await larder.request("GET", "/v1/operations/Secret", headers: fields)
        #expect(read.status == 200, "\(read.text)")
        for (target, body) in [("/v1/operations/Rename", variables), ("/v1/graphql", mutation)] {
          let answer = try await larder.request("POST", target, headers: fields, body: body)
          #expect(answer.text.contains("read_only"), "\(target): \(answer.text)")
        }
      }
      let socket = try await SocketClient.open(larder)
      try await socket.send(
        #"{"type":"connection_init","payload":{"Authorization":"\#(viewer.1)"}}"#)
      #expect(try await socket.next() == ["type": "connection_ack"])
      try await socket.send(#"{"id":"1","type":"subscribe","payload":\#(mutation)}"#)
      let message = try await socket.next()
      #expect(message["payload"]?[0]?["extensions"]?["code"] == "read_only", "\(message)")
      #expect(!(try await larder.get("/v1/operations/Secret", viewer)).text.contains("Renamed"))
      await larder.stop()
    }
  }
}
