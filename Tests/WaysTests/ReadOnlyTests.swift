import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Device tokens that only read.
  struct ReadOnlyTests {
    /// Routes that read although their method is not `GET`.
    private static let readsByOtherMethods: Set<String> = [
      "POST /v1/entities/{type}/diff", "POST /v1/entities/{type}/{id}/{relationship}/diff",
      "POST /v1/operations/{name}/diff", "POST /v1/stream-tickets", "POST /v1/live",
      "PATCH /v1/live/{streamId}", "POST /v1/admin/explain", "POST /v1/admin/sql",
    ]
    /// Routes on which the request decides; they are tried by name below.
    private static let decidedByRequest: Set<String> = [
      "POST /v1/operations/{name}", "POST /v1/graphql", "GET /v1/graphql",
    ]

    static func isRead(_ route: String) -> Bool {
      route.hasPrefix("GET ") || readsByOtherMethods.contains(route)
        || route.hasPrefix("POST /api/") && route.hasSuffix("/diff")
    }

    private static func token(
      _ larder: RunningLarder, of full: String, _ expiresIn: Int = 3_600
    ) async throws -> (id: String, field: (String, String)) {
      let answer = try await larder.post(
        "/v1/devices/me/tokens", #"{"access":"read","expiresIn":\#(expiresIn)}"#,
        ("Device-Token", full))
      #expect(answer.status == 201, "\(answer.text)")
      #expect(answer["cache-control"] == "no-store")
      let body = try JSONValue(parsing: answer.body)
      let token = try #require(body["deviceToken"]?.string)
      return (try #require(body["id"]?.string), ("Device-Token", token))
    }

    private static func code(_ answer: RawResponse) -> String? {
      (try? JSONValue(parsing: answer.body))?["code"]?.string
    }

    @Test("A read-only token is refused by every route that writes, and by no other")
    func everyRouteChecksTheToken() async throws {
      let world = try await MatrixWorld.start()
      let larder = world.larder
      let full = try await DeviceTests.register(larder).token
      let reader = try await Self.token(larder, of: full).field
      let secrets = MatrixSecrets(
        word: "reader", listID: "l1", revision: "none", tags: [], listTag: "none", cursor: "none",
        pageToken: nil)
      #expect(world.routes.count > 30)
      var refused = 0
      for route in world.routes where !Self.decidedByRequest.contains(route) {
        let asks = try #require(MatrixRequests.all(of: route, secrets), "\(route)")
        for ask in asks {
          let headers = [reader] + ask.headers.filter { $0.0 != "Device-Token" }
          if ask.isStream {
            let events = try await EventClient.open(
              port: larder.port, ask.target, headers: headers, body: ask.body)
            #expect(events.status != 403, "\(ask)")
            continue
          }
          let answer = try await larder.request(
            ask.method, ask.target, headers: headers, body: ask.body)
          if Self.isRead(route) {
            #expect(Self.code(answer) != "read_only", "\(ask)")
          } else {
            #expect(answer.status == 403 && Self.code(answer) == "read_only", "\(ask): \(answer)")
            refused += 1
          }
        }
      }
      #expect(refused > 50)
      await world.stop()
    }

    @Test("A registration can be read-only for its whole life")
    func registersReaders() async throws {
      let larder = try await RunningLarder.start()
      let answer = try await larder.post("/v1/devices", #"{"platform":"tv","access":"read"}"#)
      let body = try JSONValue(parsing: answer.body)
      let reader = ("Device-Token", try #require(body["deviceToken"]?.string))
      let shown = try JSONValue(parsing: try await larder.get("/v1/devices/me", reader).body)
      #expect(shown["access"] == "read" && shown["expiresAt"] == nil)
      #expect(try await larder.get("/api/films/f1", reader).status == 200)
      #expect(try await larder.get("/v1/changes", reader).status == 200)
      for (method, target) in [
        ("POST", "/v1/devices/me/rotate"), ("POST", "/v1/devices/me/tokens"),
        ("DELETE", "/v1/devices/me"), ("PATCH", "/v1/devices/me"), ("POST", "/v1/queue/pause"),
      ] {
        let refused = try await larder.request(method, target, headers: [reader], body: "{}")
        #expect(refused.status == 403 && Self.code(refused) == "read_only", "\(method) \(target)")
      }
      // Neither the operator's token nor a user's makes more of it.
      let operators = try await larder.request(
        "POST", "/v1/admin/tables/clean-up", headers: [reader, OperatingTests.admin])
      #expect(Self.code(operators) == "read_only")
      await larder.stop()
    }

    @Test("Mutations are refused over every protocol, and queries are served")
    func refusesMutationsOverEveryProtocol() async throws {
      let larder = try await RunningLarder.start()
      let full = try await DeviceTests.register(larder).token
      let reader = try await Self.token(larder, of: full).field
      let variables = #"{"id":"f1","patch":{"title":"Renamed"}}"#
      let mutation = #"{"operationName":"UpdateFilm","variables":\#(variables)}"#
      let answers = [
        try await larder.post("/v1/operations/UpdateFilm", variables, reader),
        try await larder.post("/v1/graphql", mutation, reader),
        try await larder.post(
          "/v1/graphql", mutation, reader, ("Accept", "application/graphql-response+json")),
        try await larder.post("/v1/graphql", mutation, reader, ("Accept", "text/event-stream")),
      ]
      for answer in answers { #expect(answer.text.contains("read_only"), "\(answer.text)") }
      #expect(answers[0].status == 403)
      // A ticket is for streams that are read by GET, whatever caller it stands for.
      let issued = try await larder.request("POST", "/v1/stream-tickets", headers: [reader])
      let ticket = try #require(try JSONValue(parsing: issued.body)["ticket"]?.string)
      let byTicket = try await larder.post(
        "/v1/graphql?ticket=\(ticket)", mutation, ("Accept", "text/event-stream"))
      #expect(byTicket.text.contains("only for GET of a stream"), "\(byTicket.text)")
      let socket = try await SocketClient.open(larder)
      try await socket.send(
        #"{"type":"connection_init","payload":{"Device-Token":"\#(reader.1)"}}"#)
      #expect(try await socket.next() == ["type": "connection_ack"])
      try await socket.send(#"{"id":"1","type":"subscribe","payload":\#(mutation)}"#)
      let message = try await socket.next()
      #expect(message["type"] == "error", "\(message)")
      #expect(message["payload"]?[0]?["extensions"]?["code"] == "read_only", "\(message)")
      let query = #"{"operationName":"Film","variables":{"id":"f1"}}"#
      try await socket.send(#"{"id":"2","type":"subscribe","payload":\#(query)}"#)
      #expect(try await socket.next()["payload"]?["data"]?["film"]?["id"] == "f1")
      #expect(try await larder.post("/v1/graphql", query, reader).status == 200)
      let posted = try await larder.post("/v1/operations/Film", #"{"id":"f1"}"#, reader)
      #expect(posted.status == 200 && !posted.text.contains("Renamed"))
      await larder.stop()
    }

    @Test("A read-only token ends with its expiry, its removal, a rotation and its device")
    func readersEnd() async throws {
      let larder = try await RunningLarder.start()
      let (_, full) = try await DeviceTests.register(larder)
      let device = ("Device-Token", full)
      let brief = try await Self.token(larder, of: full, 1)
      let removed = try await Self.token(larder, of: full)
      let rotated = try await Self.token(larder, of: full)
      let listed = try await larder.get("/v1/devices/me/tokens", device)
      let tokens = try JSONValue(parsing: listed.body)["tokens"]?.array ?? []
      #expect(tokens.count == 3 && tokens.first?["id"]?.string == brief.id)
      #expect(!listed.text.contains(brief.field.1))
      let expired = try await eventually {
        try await larder.get("/v1/devices/me", brief.field)
      } until: {
        $0.status == 401
      }
      #expect(expired.status == 401, "\(expired.text)")
      let target = "/v1/devices/me/tokens/\(removed.id)"
      #expect(try await larder.get("/v1/devices/me", removed.field).status == 200)
      #expect(try await larder.get("/api/films/f1", removed.field).status == 200)
      let stream = try await EventClient.open(
        port: larder.port, "/v1/changes/stream", headers: [removed.field])
      #expect(try await stream.nextEvent() != nil)
      #expect(try await larder.request("DELETE", target, headers: [device]).status == 204)
      #expect(try await larder.request("DELETE", target, headers: [device]).status == 404)
      #expect(try await larder.get("/v1/devices/me", removed.field).status == 401)
      while try await stream.next() != nil {}
      let fresh = try await larder.request("POST", "/v1/devices/me/rotate", headers: [device])
      let second = try #require(try JSONValue(parsing: fresh.body)["deviceToken"]?.string)
      #expect(try await larder.get("/v1/devices/me", rotated.field).status == 401)
      let last = try await Self.token(larder, of: second)
      #expect(try await larder.get("/v1/devices/me", last.field).status == 200)
      let gone = try await larder.request(
        "DELETE", "/v1/devices/me", headers: [("Device-Token", second)])
      #expect(gone.status == 204)
      #expect(try await larder.get("/v1/devices/me", last.field).status == 401)
      await larder.stop()
    }

    @Test("A request for a token is checked, all faults at once")
    func refusesBadRequests() async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      for (body, faults) in [
        ("{}", 2), (#"{"access":"full","expiresIn":60}"#, 1), (#"{"access":"read"}"#, 1),
        (#"{"access":"read","expiresIn":0}"#, 1), (#"{"access":"read","expiresIn":31622401}"#, 1),
        (#"{"access":"read","expiresIn":"60","name":"x"}"#, 2),
        (#"{"access":"read","expiresIn":9223372036854775807}"#, 1),
      ] {
        let answer = try await larder.post("/v1/devices/me/tokens", body, device)
        #expect(answer.status == 400, "\(body)")
        let errors = try JSONValue(parsing: answer.body)["errors"]?.array
        #expect(errors?.count == faults, "\(body): \(answer.text)")
      }
      let answer = try await larder.post("/v1/devices", #"{"platform":"tv","access":"write"}"#)
      #expect(answer.status == 400)
      for number in 1...21 {
        let more = try await larder.post(
          "/v1/devices/me/tokens", #"{"access":"read","expiresIn":60}"#, device)
        #expect(more.status == (number <= 20 ? 201 : 429), "\(number): \(more.text)")
      }
      await larder.stop()
    }
  }
}
