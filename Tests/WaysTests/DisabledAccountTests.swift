import DemoUpstream
import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Accounts that an operator has disabled.
  struct DisabledAccountTests {
    private static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")
    private static let changes = "/v1/changes/stream?since=now&types=Film"
    private static let film = "/v1/operations/Film/stream?id=f1"

    /// One way of presenting what an account has.
    private struct Way {
      let name: String
      let fields: [(String, String)]
    }

    /// The status of a response, and the code of its problem; streams have no code here.
    private struct Outcome {
      let status: Int
      let code: String?

      var isRefusal: Bool { status == 403 && (code ?? "account_disabled") == "account_disabled" }
    }

    private static func change(
      _ larder: RunningLarder, _ user: String, _ verb: String, status: Int = 200
    ) async throws {
      let answer = try await larder.request(
        "POST", "/v1/admin/users/\(user)/\(verb)", headers: [admin])
      #expect(answer.status == status, "\(answer.text)")
      guard status == 200 else { return }
      let account = try JSONValue(parsing: answer.body)
      #expect(account["id"]?.string == user && account["disabled"] == .bool(verb == "disable"))
    }

    private static func outcome(
      of ask: MatrixAsk, _ fields: [(String, String)], _ larder: RunningLarder
    ) async throws -> Outcome {
      let headers = fields + ask.headers
      if ask.isStream {
        let events = try await EventClient.open(
          port: larder.port, ask.target, headers: headers, body: ask.body)
        return Outcome(status: events.status, code: nil)
      }
      let answer = try await larder.request(
        ask.method, ask.target, headers: headers, body: ask.body)
      return Outcome(status: answer.status, code: try? AccountTests.code(answer))
    }

    /// A device that belongs to the user, and a token of it that only reads.
    private static func devices(
      _ larder: RunningLarder, of user: AccountTests.Session
    ) async throws -> (full: (String, String), reader: (String, String)) {
      let full = ("Device-Token", try await DeviceTests.register(larder).token)
      // Binds it to the user.
      #expect(try await larder.get("/v1/devices/me", user.bearer, full).status == 200)
      let issued = try await larder.post(
        "/v1/devices/me/tokens", #"{"access":"read","expiresIn":3600}"#, full)
      let token = try #require(try JSONValue(parsing: issued.body)["deviceToken"]?.string)
      return (full, ("Device-Token", token))
    }

    // MARK: The route table

    /// The requests of the matrix, by the credentials that they check: those that refuse a bad access token, and
    /// those that refuse a bad device token.
    private static func checking(
      _ world: MatrixWorld, _ secrets: MatrixSecrets, _ session: AccountTests.Session
    ) async throws -> (users: [MatrixAsk], devices: [MatrixAsk]) {
      let larder = world.larder
      let badUser = ("Authorization", session.bearer.1 + "A")
      let badDevice = ("Device-Token", String(repeating: "A", count: 43))
      var (users, devices): ([MatrixAsk], [MatrixAsk]) = ([], [])
      for route in world.routes {
        for ask in try #require(MatrixRequests.all(of: route, secrets), "\(route)") {
          // Requests with credentials of their own.
          if ask.target.contains("ticket=") { continue }
          if ask.headers.contains(where: { ["Authorization", "Device-Token"].contains($0.0) }) {
            continue
          }
          let byUser = try await Self.outcome(of: ask, [badUser], larder)
          if byUser.status == 401, (byUser.code ?? "token_invalid") == "token_invalid" {
            users.append(ask)
          }
          let open = try await Self.outcome(of: ask, [], larder)
          let byDevice = try await Self.outcome(of: ask, [badDevice], larder)
          if open.status != 401, byDevice.status == 401 { devices.append(ask) }
        }
      }
      return (users, devices)
    }

    @Test("Every route that identifies its caller refuses a disabled account, whatever it presents")
    func everyRouteRefuses() async throws {
      let world = try await MatrixWorld.start()
      let larder = world.larder
      let caller = try #require(MatrixCaller.all.first { $0.kind == .user })
      let secrets = try await world.plant(caller)
      let session = try AccountTests.Session(
        try await larder.post("/v1/auth/sign-in", AccountTests.credentials(caller.word)))
      let (full, reader) = try await Self.devices(larder, of: session)
      let (ofUsers, ofDevices) = try await Self.checking(world, secrets, session)
      #expect(ofUsers.count > 150 && ofDevices.count > 100)
      let users = [
        Way(name: "access token", fields: world.headers(of: caller)),
        Way(name: "token of another session", fields: [session.bearer]),
        Way(name: "access token and device", fields: [session.bearer, full]),
      ]
      let devices = [
        Way(name: "device", fields: [full]), Way(name: "read-only token", fields: [reader]),
        Way(name: "device of a disabled account, opaque token", fields: [SyncWorld.ada, full]),
      ]
      let pairs = [(users, ofUsers), (devices, ofDevices)]
      // What it reads is cached, for each way.
      var before: [String] = []
      let own = [
        "/v1/auth/me", "/v1/entities/Wish/\(secrets.wishID)", "/api/me",
        "/v1/files/pics/\(secrets.accountID)/\(secrets.noteID).txt",
      ]
      for target in own { before.append(try await larder.get(target, session.bearer).text) }
      for (ways, asks) in pairs {
        for way in ways {
          for ask in asks where ask.isSafe && !ask.isStream {
            _ = try await Self.outcome(of: ask, way.fields, larder)
            let warm = try await Self.outcome(of: ask, way.fields, larder)
            #expect(warm.code != "account_disabled", "\(way.name): \(ask)")
          }
        }
      }
      try await Self.change(larder, session.user, "disable")
      for restarts in [false, true] {
        if restarts {
          await larder.stopService()
          try await larder.startService()
        }
        for (ways, asks) in pairs {
          for way in ways {
            for ask in asks {
              let outcome = try await Self.outcome(of: ask, way.fields, larder)
              #expect(outcome.isRefusal, "\(restarts) \(way.name): \(ask): \(outcome)")
            }
          }
        }
      }
      // Others are not concerned.
      for other in MatrixCaller.all where other.word != caller.word {
        #expect(try await world.response(to: .get("/api/films/f1"), by: other).status == 200)
      }
      try await Self.change(larder, session.user, "enable")
      for (target, text) in zip(own, before) {
        #expect(try await larder.get(target, session.bearer).text == text, "\(target)")
      }
      for way in users + devices {
        let answer = try await larder.request("GET", "/api/films/f1", headers: way.fields)
        #expect(answer.status == 200, "\(way.name)")
      }
      await world.stop()
    }

    // MARK: Signing in

    @Test("A disabled account neither signs in nor refreshes, and only its owner learns why")
    func sessionsWait() async throws {
      let larder = try await AccountTests.start()
      let ada = try await AccountTests.signUp(larder)
      try await Self.change(larder, ada.user, "disable")
      try await Self.change(larder, ada.user, "disable")
      let right = AccountTests.credentials("ada")
      for (route, body, code) in [
        ("sign-in", right, "account_disabled"), ("check-password", right, "account_disabled"),
        ("sign-in", AccountTests.credentials("ada", "wrong horse"), "invalid_credentials"),
        ("check-password", AccountTests.credentials("ada", "wrong horse"), "invalid_credentials"),
        ("sign-up", right, "account_exists"),
        ("refresh", AccountTests.refreshBody(ada.refresh), "account_disabled"),
        ("refresh", AccountTests.refreshBody("made-up"), "session_expired"),
      ] {
        let answer = try await larder.post("/v1/auth/\(route)", body)
        #expect(try AccountTests.code(answer) == code, "\(route): \(answer.text)")
        if code == "account_disabled" {
          // Otherwise client libraries would give up the mutations that they have.
          #expect(try JSONValue(parsing: answer.body)["retry"] == "same-key")
        }
        #expect(answer.status == (code == "account_disabled" ? 403 : answer.status))
      }
      let password = try await larder.request(
        "PUT", "/v1/auth/password", headers: [ada.bearer],
        body: #"{"currentPassword":"correct horse","newPassword":"another horse"}"#)
      #expect(try AccountTests.code(password) == "account_disabled")
      try await Self.change(larder, ada.user, "enable")
      try await Self.change(larder, ada.user, "enable")
      // The refresh token was not used up.
      let refreshed = try await larder.post(
        "/v1/auth/refresh", AccountTests.refreshBody(ada.refresh))
      #expect(refreshed.status == 200, "\(refreshed.text)")
      #expect(try await larder.post("/v1/auth/sign-in", right).status == 200)
      try await Self.change(larder, "u_none", "disable", status: 404)
      try await Self.change(larder, "u_none", "enable", status: 404)
      await larder.stop()
    }

    @Test("Deleting a disabled account admits none of its tokens and devices")
    func staysDisabledWithoutItsAccount() async throws {
      let larder = try await AccountTests.start()
      let ada = try await AccountTests.signUp(larder)
      let device = try await Self.devices(larder, of: ada).full
      try await Self.change(larder, ada.user, "disable")
      let gone = try await larder.request(
        "DELETE", "/v1/admin/users/\(ada.user)", headers: [Self.admin])
      #expect(gone.status == 204)
      try await Self.change(larder, ada.user, "enable", status: 404)
      for restarts in [false, true] {
        if restarts {
          await larder.stopService()
          try await larder.startService()
        }
        for field in [ada.bearer, device] {
          let answer = try await larder.get("/api/films/f1", field)
          #expect(try AccountTests.code(answer) == "account_disabled")
        }
      }
      // The address is free for another account.
      let next = try await AccountTests.signUp(larder)
      #expect(next.user != ada.user)
      #expect(try await larder.get("/v1/auth/me", next.bearer).status == 200)
      await larder.stop()
    }

    // MARK: Streams

    @Test("Open streams, sockets and waits end, and tickets are refused")
    func streamsEnd() async throws {
      let larder = try await AccountTests.start()
      let ada = try await AccountTests.signUp(larder)
      let eve = try await AccountTests.signUp(larder, "eve")
      let device = try await Self.devices(larder, of: ada).full
      _ = try await larder.get("/api/films/f1")
      var streams: [EventClient] = []
      var tickets: [String] = []
      for way in [[ada.bearer], [device], [ada.bearer, device]] {
        for target in [Self.changes, Self.film, "/v1/entities/Film/stream"] {
          streams.append(try await EventClient.open(port: larder.port, target, headers: way))
        }
        let ticket = try await Self.ticket(larder, of: way)
        streams.append(
          try await EventClient.open(port: larder.port, "\(Self.film)&ticket=\(ticket)"))
        streams.append(
          try await EventClient.open(
            port: larder.port, "/v1/live", headers: way,
            body: #"{"queries":[{"id":"a","operation":"Film","variables":{"id":"f1"}}]}"#))
        tickets.append(try await Self.ticket(larder, of: way))
      }
      let kept = try await EventClient.open(
        port: larder.port, Self.changes, headers: [eve.bearer])
      for stream in streams + [kept] {
        #expect(stream.status == 200)
        #expect(try await stream.nextEvent() != nil)
      }
      let socket = try await SocketClient.open(larder)
      let initialise =
        #"{"type":"connection_init","payload":{"Authorization":"\#(ada.bearer.1)"}}"#
      try await socket.send(initialise)
      #expect(try await socket.next()["type"] == "connection_ack")
      let port = larder.port
      async let held = onOwnThread {
        try RawClient(port: port, timeoutSeconds: 20).request(
          "GET", "/v1/changes?since=now&wait=15", headers: [ada.bearer])
      }
      let start = ContinuousClock.now
      try await Self.change(larder, ada.user, "disable")
      for stream in streams { while try await stream.next() != nil {} }
      #expect(try await socket.closeCode() == 4403)
      let refused = try await held
      #expect(try AccountTests.code(refused) == "account_disabled", "\(refused.text)")
      // Before the next heartbeat, by which a stream could notice.
      #expect(ContinuousClock.now - start < .seconds(10))
      for ticket in tickets {
        let late = try await larder.get("\(Self.film)&ticket=\(ticket)")
        #expect(try AccountTests.code(late) == "account_disabled")
      }
      let again = try await SocketClient.open(larder)
      try await again.send(initialise)
      #expect(try await again.closeCode() == 4403)
      let renamed = try await larder.post(
        "/v1/operations/UpdateFilm", #"{"id":"f1","patch":{"title":"Later"}}"#)
      #expect(renamed.status == 200)
      #expect(try await kept.nextEvent()?.data.contains("Later") == true)
      await larder.stop()
    }

    private static func ticket(
      _ larder: RunningLarder, of fields: [(String, String)]
    ) async throws -> String {
      let answer = try await larder.request("POST", "/v1/stream-tickets", headers: fields)
      return try #require(try JSONValue(parsing: answer.body)["ticket"]?.string)
    }

    // MARK: Queues

    @Test("Queued mutations wait while the account is disabled, and are sent once it is enabled")
    func queuesWait() async throws {
      let larder = try await AccountTests.start()
      let ada = try await AccountTests.signUp(larder)
      let device = try await Self.devices(larder, of: ada).full
      try await larder.demo.change { $0.fail = .status(503) }
      let fields = [ada.bearer, device, ("Idempotency-Key", "1")]
      let sent = try await larder.request(
        "POST", "/v1/mutations", headers: fields, body: SyncWorld.rating("f1", mode: "steady"))
      #expect(sent.status == 202, "\(sent.text)")
      #expect(await eventuallyHolds { larder.demo.report["RateFilm"].requests > 0 })
      try await Self.change(larder, ada.user, "disable")
      try await larder.demo.change { $0.fail = .off }
      // The queue of another device goes on meanwhile.
      let other = try await SyncWorld(larder)
      let id = try await other.enqueue(SyncWorld.renaming("f2"), key: "2")
      _ = try await other.mutation(id, is: "applied")
      #expect(larder.demo.report["RateFilm"].executed == 0)
      try await Self.change(larder, ada.user, "enable")
      // Without a request of the client.
      #expect(await eventuallyHolds { larder.demo.report["RateFilm"].executed == 1 })
      await larder.stop()
    }

    // MARK: Files

    @Test("The links and S3 access keys of a disabled account open nothing")
    func filesAreClosed() async throws {
      let larder = try await AccountTests.start(
        settings: "files: {buckets: {pics: {access: user}}}")
      let ada = try await AccountTests.signUp(larder)
      let path = "/v1/files/pics/\(ada.user)/a.txt"
      let put = try await larder.request("PUT", path, headers: [ada.bearer], body: "hello")
      #expect(put.status == 201, "\(put.text)")
      let issued = try await larder.post(
        "\(path)/presign", #"{"method":"GET","expiresIn":600}"#, ada.bearer)
      let url = try #require(try JSONValue(parsing: issued.body)["url"]?.string)
      let link = try #require(url.range(of: "/v1/").map { String(url[$0.lowerBound...]) })
      let key = try await S3DialectTests.issue(
        larder, #"{"userId":"\#(ada.user)","buckets":["pics"]}"#)
      let object = "/s3/pics/\(ada.user)/a.txt"
      for _ in 1...2 {
        #expect(try await larder.get(link).text == "hello")
        #expect(try await S3DialectTests.ask(larder, "GET", object, by: key).text == "hello")
      }
      try await Self.change(larder, ada.user, "disable")
      let refused = try await larder.get(link)
      #expect(try AccountTests.code(refused) == "account_disabled")
      let denied = try await S3DialectTests.ask(larder, "GET", object, by: key)
      #expect(denied.status == 403 && denied.text.contains("<Code>AccessDenied</Code>"))
      #expect(try await larder.get(path, Self.admin).text == "hello")
      try await Self.change(larder, ada.user, "enable")
      #expect(try await larder.get(link).text == "hello")
      #expect(try await S3DialectTests.ask(larder, "GET", object, by: key).text == "hello")
      await larder.stop()
    }
  }
}
