import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// A device's streams and waits, which end with its token, not at the client's next request.
  struct CutOffTests {
    enum Ending: CaseIterable {
      case revoked, rotated

      var request: (method: String, target: String) {
        switch self {
        case .revoked: ("DELETE", "/v1/devices/me")
        case .rotated: ("POST", "/v1/devices/me/rotate")
        }
      }
    }

    private static let changes = "/v1/changes/stream?since=now&types=Film"
    private static let film = "/v1/operations/Film/stream?id=f1"

    @Test("Open streams end when their device token ends", arguments: Ending.allCases)
    func openStreamsEnd(ending: Ending) async throws {
      let larder = try await RunningLarder.start()
      let mine = ("Device-Token", try await DeviceTests.register(larder).token)
      let other = ("Device-Token", try await DeviceTests.register(larder).token)
      _ = try await larder.get("/api/films/f1")
      var ended: [EventClient] = []
      for target in [Self.changes, Self.film] {
        ended.append(try await EventClient.open(port: larder.port, target, headers: [mine]))
        let ticket = try await Self.ticket(larder, of: mine)
        ended.append(
          try await EventClient.open(port: larder.port, "\(target)&ticket=\(ticket)"))
      }
      let kept = try await EventClient.open(port: larder.port, Self.changes, headers: [other])
      for stream in ended + [kept] {
        #expect(stream.status == 200)
        // The first event: the bookmark or the response.
        #expect(try await stream.nextEvent() != nil)
      }
      // A device gets events about its queue too; the streams wait from here on.
      for stream in [ended[0], ended[1], kept] {
        #expect(try await stream.nextEvent()?.event == "queue")
      }
      let unused = try await Self.ticket(larder, of: mine)
      let start = ContinuousClock.now
      let (method, target) = ending.request
      #expect(try await larder.request(method, target, headers: [mine]).status < 300)
      for stream in ended {
        let more = try await stream.nextEvent()
        #expect(more == nil)
      }
      // Before the next heartbeat, by which a stream could notice.
      #expect(ContinuousClock.now - start < .seconds(5))
      let late = try await larder.get("\(Self.changes)&ticket=\(unused)")
      #expect(late.status == 401)
      let renamed = try await larder.post(
        "/v1/operations/UpdateFilm", #"{"id":"f1","patch":{"title":"Later"}}"#)
      #expect(renamed.status == 200)
      #expect(try await kept.nextEvent()?.data.contains("Later") == true)
      await larder.stop()
    }

    @Test(
      "A long-polling request is refused when its device token ends", arguments: Ending.allCases)
    func heldRequestsAreRefused(ending: Ending) async throws {
      let larder = try await RunningLarder.start()
      let token = try await DeviceTests.register(larder).token
      let port = larder.port
      let start = ContinuousClock.now
      let answer = try await onOwnThread {
        let held = try RawClient(port: port)
        try held.send(
          "GET /v1/changes?since=now&wait=9 HTTP/1.1\r\nHost: localhost\r\n"
            + "Device-Token: \(token)\r\n\r\n")
        let device = ("Device-Token", token)
        let other = try RawClient(port: port)
        // It was sent before all these requests, so it is held by the time they have their responses.
        for _ in 0..<50 {
          #expect(try other.request("GET", "/v1/devices/me", headers: [device]).status == 200)
        }
        let (method, target) = ending.request
        #expect(try other.request(method, target, headers: [device]).status < 300)
        return try held.response()
      }
      #expect(answer.status == 401, "\(answer.text)")
      #expect(ContinuousClock.now - start < .seconds(8))
      await larder.stop()
    }

    /// A user's token lives for minutes, and what was opened with it no longer than that.
    @Test("A user's open streams and waits end when the user's token expires")
    func userStreamsEndWithTheToken() async throws {
      let larder = try await AccountTests.start(accounts: "accessLifetime: 5s")
      _ = try await larder.get("/api/films/f1")
      let session = try await AccountTests.signUp(larder)
      let port = larder.port
      async let held = onOwnThread {
        try RawClient(port: port, timeoutSeconds: 20).request(
          "GET", "/v1/changes?since=now&wait=15", headers: [session.bearer])
      }
      var streams: [EventClient] = []
      for target in [Self.changes, Self.film] {
        let ticket = try await Self.ticket(larder, of: session.bearer)
        streams.append(try await EventClient.open(port: port, target, headers: [session.bearer]))
        streams.append(try await EventClient.open(port: port, "\(target)&ticket=\(ticket)"))
      }
      let unused = try await Self.ticket(larder, of: session.bearer)
      for stream in streams {
        #expect(stream.status == 200)
        #expect(try await stream.nextEvent() != nil)
      }
      for stream in streams {
        let more = try await stream.nextEvent()
        #expect(more == nil)
      }
      #expect(try await held.status == 401)
      #expect(try await larder.get("\(Self.changes)&ticket=\(unused)").status == 401)
      await larder.stop()
    }

    private static func ticket(
      _ larder: RunningLarder, of device: (String, String)
    ) async throws -> String {
      let answer = try await larder.request("POST", "/v1/stream-tickets", headers: [device])
      return try #require(try JSONValue(parsing: answer.body)["ticket"]?.string)
    }
  }
}
