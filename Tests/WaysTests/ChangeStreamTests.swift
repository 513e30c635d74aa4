import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// The change log as server-sent events.
  struct ChangeStreamTests {
    private static func rename(
      _ larder: RunningLarder, _ film: String, to title: String
    ) async throws {
      let answer = try await larder.post(
        "/v1/operations/UpdateFilm", #"{"id":"\#(film)","patch":{"title":"\#(title)"}}"#)
      #expect(answer.status == 200, "\(answer.text)")
    }

    @Test("The stream sends each commit as an event with its cursor")
    func sendsEachCommitWithItsCursor() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      let events = try await EventClient.open(
        port: larder.port, "/v1/changes/stream?since=now&types=Film")
      #expect(events.status == 200)
      #expect(events.contentType == "text/event-stream")
      let mark = try #require(try await events.nextEvent())
      #expect(mark.event == "bookmark")
      #expect(mark.beginsWithID)
      try await Self.rename(larder, "f1", to: "First")
      let first = try #require(try await events.nextEvent())
      #expect(first.event == "change")
      #expect(first.beginsWithID)
      let change = try JSONValue(parsing: Array(first.data.utf8))
      #expect(change["op"] == "put")
      #expect(change["data"]?["title"] == "First")

      // A frame's cursor continues after it, on either path; it takes precedence over `since`.
      try await Self.rename(larder, "f1", to: "Second")
      let id = try #require(first.id)
      let again = try await EventClient.open(
        port: larder.port, "/v1/changes/stream?since=now&types=Film",
        headers: [("Last-Event-ID", id)])
      let second = try #require(try await again.nextEvent())
      #expect(try JSONValue(parsing: Array(second.data.utf8))["data"]?["title"] == "Second")
      let page = try await larder.get("/v1/changes?types=Film&since=\(id)")
      #expect(page.text.contains("Second"))
      await larder.stop()
    }

    @Test("A stream without a cursor begins with a snapshot")
    func beginsWithASnapshot() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      let page = try JSONValue(parsing: try await larder.get("/v1/changes?limit=1000").body)
      let count = try #require(page["changes"]?.array?.count)
      let events = try await EventClient.open(port: larder.port, "/v1/changes/stream")
      var seen: [JSONValue] = []
      while seen.count < count, let event = try await events.nextEvent() {
        seen.append(try JSONValue(parsing: Array(event.data.utf8)))
      }
      #expect(
        Set(seen.map(\.canonicalText)) == Set(page["changes"]?.array?.map(\.canonicalText) ?? []))
      await larder.stop()
    }

    @Test("A cursor that cannot be continued resets the stream")
    func unusableCursorResetsTheStream() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      let head = try JSONValue(parsing: try await larder.get("/v1/changes?since=now").body)
      let cursor = try #require(head["cursor"]?.string)
      let ada = ("Authorization", "Bearer user-ada")
      let events = try await EventClient.open(
        port: larder.port, "/v1/changes/stream?since=\(cursor)", headers: [ada])
      #expect(events.status == 200)
      let reset = try #require(try await events.nextEvent())
      #expect(reset.event == "reset")
      #expect(reset.id == "")
      #expect(try JSONValue(parsing: Array(reset.data.utf8))["reason"] == "scope")
      #expect(try await events.nextEvent()?.event == "change")
      let refused = try await EventClient.open(
        port: larder.port, "/v1/changes/stream?since=nonsense")
      #expect(refused.status == 400)
      await larder.stop()
    }

    @Test("A refresh with unchanged content sends no event")
    func unchangedContentSendsNothing() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      let events = try await EventClient.open(
        port: larder.port, "/v1/changes/stream?since=now&types=Film")
      #expect(try await events.nextEvent()?.event == "bookmark")
      for _ in 0..<3 { _ = try await larder.get("/api/films/f1", ("Cache-Control", "no-cache")) }
      try await Self.rename(larder, "f1", to: "Changed")
      let next = try #require(try await events.nextEvent())
      #expect(next.data.contains("Changed"))
      await larder.stop()
    }

    @Test("One commit reaches every open stream")
    func oneCommitReachesEveryStream() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      var streams: [EventClient] = []
      for _ in 0..<200 {
        let events = try await EventClient.open(
          port: larder.port, "/v1/changes/stream?since=now&types=Film")
        #expect(try await events.nextEvent()?.event == "bookmark")
        streams.append(events)
      }
      try await Self.rename(larder, "f1", to: "For all")
      for events in streams {
        #expect(try await events.nextEvent()?.data.contains("For all") == true)
      }
      await larder.stop()
    }
  }
}

extension Ways {
  /// A client that opens a stream and does not read from it.
  struct SilentClientTests {
    /// More than the kernel buffers for a connection.
    private static let synopsisBytes = 400_000
    private static let writes = 60

    @Test("A stream whose client reads nothing is cut off once too much waits for it")
    func slowStreamIsCutOff() async throws {
      let larder = try await RunningLarder.start(settings: "limits:\n  streamStall: 1s")
      _ = try await larder.get("/api/films/f1")
      let port = larder.port
      // Its head is read, and nothing after it.
      let silent = try await EventClient.open(port: port, "/v1/changes/stream?since=now")
      let reader = try await EventClient.open(port: port, "/v1/changes/stream?since=now")
      #expect(try await reader.nextEvent()?.event == "bookmark")
      var last = ""
      for number in 0..<Self.writes {
        last = "\(number) " + String(repeating: "x", count: Self.synopsisBytes)
        let answer = try await larder.post(
          "/v1/operations/UpdateFilm", #"{"id":"f1","patch":{"synopsis":"\#(last)"}}"#)
        #expect(answer.status == 200, "\(answer.text.prefix(200))")
        // A client that reads gets each event, whatever the other one does.
        #expect(try await reader.nextEvent()?.data.contains("\(number) xxx") == true)
      }
      // Data in flight still arrives; then the connection is cut without a proper end.
      var taken = 0
      var place: String?
      await #expect(throws: (any Error).self) {
        while let event = try await silent.next() {
          taken += event.data.utf8.count
          place = event.id ?? place
        }
      }
      #expect(taken < Self.writes * Self.synopsisBytes / 2)
      // The client returns with its last cursor and misses nothing.
      let page = try await larder.get("/v1/changes?since=\(try #require(place))")
      #expect(page.status == 200)
      #expect(page.text.contains(last.prefix(20)))
      await larder.stop()
    }
  }
}
