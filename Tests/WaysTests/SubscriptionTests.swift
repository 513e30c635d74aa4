import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Subscriptions from an upstream to clients over sockets.
  struct SubscriptionTests {
    private static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")
    private static let path = "/api/items/changes/stream"
    private static let standing = """
        standing:
          - operation: ItemDeleted
          - operation: ItemChanged
            catchUp: {operation: ItemsSince, variable: since, field: updatedAt}
      """

    private static func start(
      _ upstream: ItemUpstream, upstreamLines: String = ""
    ) async throws -> RunningLarder {
      try await RunningLarder.start(
        operations: ["items": ItemUpstream.operations], upstream: upstream.url,
        upstreamLines: "  subscriptions: sse\n" + upstreamLines, schema: ItemUpstream.schema)
    }

    private static func names(_ larder: RunningLarder) async throws -> [String: String] {
      let response = try await larder.get("/v1/entities/Item?limit=200")
      let items = try JSONValue(parsing: response.body)["items"]?.array ?? []
      return Dictionary(
        items.map { ($0["id"]?.string ?? "", $0["name"]?.string ?? "") },
        uniquingKeysWith: { $1 })
    }

    /// Waits until a value is as wanted.
    private func expect<Value>(
      _ value: () async throws -> Value, toBecome isWanted: (Value) -> Bool,
      sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
      let last = try await eventually(value, until: isWanted)
      #expect(isWanted(last), "\(last)", sourceLocation: sourceLocation)
    }

    @Test(
      "Clients share one subscription upstream, and its events are stored before they come"
    )
    func sharesAndStores() async throws {
      let upstream = try ItemUpstream()
      try await upstream.start()
      let larder = try await Self.start(upstream)
      upstream.set("1", "one")
      #expect(try await larder.get("/v1/operations/Items").text.contains("one"))
      let first = try await EventClient.open(port: larder.port, Self.path)
      let second = try await EventClient.open(
        port: larder.port, "/v1/operations/ItemChanged/stream")
      #expect(first.status == 200 && second.status == 200)
      try await expect {
        upstream.streams
      } toBecome: {
        $0 == 1
      }
      upstream.set("1", "two")
      let event = try #require(try await first.nextEvent())
      #expect(event.event == "next" && event.id == nil)
      #expect(event.data == #"{"data":{"itemChanged":{"id":"1","name":"two","updatedAt":2}}}"#)
      #expect(try await second.nextEvent() == event)
      #expect(try await larder.get("/v1/operations/Items").text.contains("two"))
      #expect(upstream.streams == 1)
      await larder.stop()
      await upstream.stop()
    }

    @Test("A subscription that all its clients have cancelled ends upstream")
    func endsWhenCancelled() async throws {
      let upstream = try ItemUpstream()
      try await upstream.start()
      let larder = try await Self.start(upstream)
      var clients = [
        try await EventClient.open(port: larder.port, Self.path),
        try await EventClient.open(port: larder.port, Self.path),
      ]
      try await expect {
        upstream.streams
      } toBecome: {
        $0 == 1
      }
      clients.removeFirst()
      upstream.set("1", "one")
      #expect(try await clients[0].nextEvent()?.data.contains("one") == true)
      clients = []
      try await expect {
        let status = try await larder.get("/v1/admin/subscriptions", Self.admin)
        return try JSONValue(parsing: status.body)["subscriptions"]
      } toBecome: {
        $0?.array?.isEmpty == true
      }
      try await expect {
        // The upstream notices with what it writes next.
        upstream.set("1", "cancelled")
        return upstream.streams
      } toBecome: {
        $0 == 0
      }
      await larder.stop()
      await upstream.stop()
    }

    @Test("A live query follows what others change upstream, by a subscription")
    func liveQueryFollowsUpstream() async throws {
      let upstream = try ItemUpstream()
      try await upstream.start()
      upstream.set("1", "one")
      let larder = try await Self.start(upstream, upstreamLines: Self.standing)
      try await expect {
        upstream.streams
      } toBecome: {
        $0 == 2
      }
      let live = try await EventClient.open(port: larder.port, "/v1/operations/Items/stream")
      #expect(live.status == 200)
      func follow(until isWanted: (JSONValue?) -> Bool) async throws {
        while true {
          let event = try #require(try await live.nextEvent())
          let body = try JSONValue(parsing: Array(event.data.utf8))
          if isWanted(body["data"]?["items"]) { return }
        }
      }
      try await follow { $0?[0]?["name"] == "one" }
      // None of these changes passes through the service.
      upstream.set("1", "two")
      try await follow { $0?[0]?["name"] == "two" }
      upstream.set("2", "new")
      try await follow { $0?.array?.compactMap { $0["name"]?.string } == ["two", "new"] }
      upstream.delete("1")
      try await follow { $0?.array?.compactMap { $0["name"]?.string } == ["new"] }
      await larder.stop()
      await upstream.stop()
    }

    @Test("What is wrong at once is an HTTP response")
    func refusesAtOnce() async throws {
      let upstream = try ItemUpstream()
      try await upstream.start()
      let larder = try await Self.start(upstream)
      let cases = [
        ("/v1/operations/Mine/stream", 401, "unauthenticated"),
        ("\(Self.path)?nothing=1", 400, "invalid_variables"),
        ("/v1/operations/Nothing/stream", 404, "unknown_operation"),
        ("/v1/operations/ItemChanged", 400, "malformed_request"),
        ("\(Self.path)?ticket=none", 401, "unauthenticated"),
      ]
      for (target, status, code) in cases {
        let response = try await larder.get(target)
        #expect(response.status == status, "\(target) \(response.text)")
        #expect(try JSONValue(parsing: response.body)["code"]?.string == code, "\(target)")
      }
      #expect(upstream.streams == 0)
      await larder.stop()
      await upstream.stop()
    }

    @Test("A client that was connected before begins with a gap, and a ticket opens a stream once")
    func beginsWithGapAndTicket() async throws {
      let upstream = try ItemUpstream()
      try await upstream.start()
      let larder = try await Self.start(upstream)
      let again = try await EventClient.open(
        port: larder.port, Self.path, headers: [("Last-Event-ID", "x")])
      #expect(try await again.nextEvent()?.event == "gap")
      let issued = try await larder.post("/v1/stream-tickets", "", Self.admin)
      let ticket = try #require(JSONValue(parsing: issued.body)["ticket"]?.string)
      let stream = try await EventClient.open(port: larder.port, "\(Self.path)?ticket=\(ticket)")
      #expect(stream.status == 200)
      #expect(try await larder.get("\(Self.path)?ticket=\(ticket)").status == 401)
      await larder.stop()
      await upstream.stop()
    }

    @Test("A subscription in a live stream begins with a gap where its own stream does")
    func liveSubjectBeginsWithGap() async throws {
      let upstream = try ItemUpstream()
      try await upstream.start()
      let larder = try await Self.start(upstream)
      let body = #"{"queries":[{"id":"s","operation":"ItemChanged"}]}"#
      let first = try await EventClient.open(port: larder.port, "/v1/live", body: body)
      #expect(try await first.nextEvent()?.event == "open")
      try await expect {
        upstream.streams
      } toBecome: {
        $0 == 1
      }
      let again = try await EventClient.open(
        port: larder.port, "/v1/live", headers: [("Last-Event-ID", "x")], body: body)
      #expect(try await again.nextEvent()?.event == "open")
      let gap = try await again.nextEvent()
      #expect(gap?.event == "gap" && gap?.data == #"{"id":"s","data":{}}"#)
      // A client that comes for the first time has missed nothing.
      upstream.set("1", "one")
      #expect(try await first.nextEvent()?.event == "next")
      #expect(try await again.nextEvent()?.event == "next")
      await larder.stop()
      await upstream.stop()
    }

    @Test(
      "After each restart of upstream the client is told of the gap, and the store has caught up")
    func catchesUpAfterRestarts() async throws {
      let upstream = try ItemUpstream()
      try await upstream.start()
      upstream.set("0", "zero")
      let larder = try await Self.start(upstream, upstreamLines: Self.standing)
      try await expect {
        try await Self.names(larder)
      } toBecome: {
        $0 == upstream.names
      }
      let client = try await EventClient.open(port: larder.port, Self.path, timeoutSeconds: 60)
      try await expect {
        upstream.streams
      } toBecome: {
        $0 == 2
      }
      for round in 1...4 {
        upstream.set("\(round)", "before \(round)")
        await upstream.kill()
        upstream.set("away \(round)", "while away")
        upstream.set("0", "changed \(round)")
        try await upstream.start()
        try await expect {
          upstream.streams
        } toBecome: {
          $0 == 2
        }
        upstream.set("back \(round)", "after")
        let expected = upstream.names
        try await expect {
          try await Self.names(larder)
        } toBecome: {
          $0 == expected
        }
        var event: String?
        repeat { event = try await client.nextEvent()?.event } while event == "next"
        #expect(event == "gap")
      }
      upstream.delete("0")
      try await expect {
        try await Self.names(larder)
      } toBecome: {
        $0["0"] == nil
      }
      let status = try await larder.get("/v1/admin/subscriptions", Self.admin)
      let shown = try JSONValue(parsing: status.body)["subscriptions"]?.array ?? []
      #expect(shown.map { $0["standing"] } == [true, true])
      let standing = try JSONValue(parsing: status.body)["standing"]?.array ?? []
      #expect(standing.map { $0["state"] } == ["live", "live"], "\(status.text)")
      #expect(standing.allSatisfy { $0["lastConfirmed"] != nil && $0["upstream"] == "default" })
      let shownUpstreams = try JSONValue(
        parsing: try await larder.get("/v1/admin/upstreams", Self.admin).body)["items"]
      let live = shownUpstreams?[0]?["live"]
      #expect((live?["connections"]?.number?.int64 ?? 0) > 0, "\(String(describing: live))")
      #expect((live?["reconnects"]?.number?.int64 ?? 0) >= 4, "\(String(describing: live))")
      #expect(shownUpstreams?[0]?["name"] == "default")
      await larder.stop()
      await upstream.stop()
    }

    @Test("After its own restart it fetches what it missed")
    func catchesUpAfterOwnRestart() async throws {
      let upstream = try ItemUpstream()
      try await upstream.start()
      upstream.set("1", "one")
      let larder = try await Self.start(upstream, upstreamLines: Self.standing)
      try await expect {
        try await Self.names(larder)
      } toBecome: {
        $0 == upstream.names
      }
      await larder.stopService()
      upstream.set("1", "two")
      upstream.set("2", "new")
      try await larder.startService()
      try await expect {
        try await Self.names(larder)
      } toBecome: {
        $0 == upstream.names
      }
      await larder.stop()
      await upstream.stop()
    }
  }
}
