import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Live queries: the response is sent again whenever it changes.
  struct LiveQueryTests {
    private static func title(_ event: EventClient.Event?) throws -> JSONValue? {
      try event.flatMap { try JSONValue(parsing: Array($0.data.utf8))["data"]?["film"]?["title"] }
    }

    private static func rename(
      _ larder: RunningLarder, _ film: String, to title: String
    ) async throws {
      let answer = try await larder.post(
        "/v1/operations/UpdateFilm", #"{"id":"\#(film)","patch":{"title":"\#(title)"}}"#)
      #expect(answer.status == 200, "\(answer.text)")
    }

    @Test("A live query sends the response again when it changes")
    func sendsChangedResponses() async throws {
      let larder = try await RunningLarder.start()
      let events = try await EventClient.open(
        port: larder.port, "/v1/operations/Film/stream?id=f1")
      #expect(events.status == 200)
      let first = try #require(try await events.nextEvent())
      #expect(first.beginsWithID)
      let plain = try await larder.get("/api/films/f1")
      #expect(first.data == plain.text)
      // A change of another film sends nothing.
      try await Self.rename(larder, "f2", to: "Elsewhere")
      try await Self.rename(larder, "f1", to: "Renamed")
      #expect(try Self.title(try await events.nextEvent()) == "Renamed")
      await larder.stop()
    }

    @Test("A live query resumes without a frame if the client has the current response")
    func resumesFromTheClientsResponse() async throws {
      let larder = try await RunningLarder.start()
      let target = "/v1/operations/Film/stream?id=f1"
      let events = try await EventClient.open(port: larder.port, target)
      let id = try #require(try await events.nextEvent()?.id)
      let again = try await EventClient.open(
        port: larder.port, target, headers: [("Last-Event-ID", id)])
      try await Self.rename(larder, "f1", to: "Renamed")
      #expect(try Self.title(try await again.nextEvent()) == "Renamed")
      await larder.stop()
    }

    @Test("A live query begins with the current response if the client's is outdated")
    func sendsMissedChangeAtOnce() async throws {
      let larder = try await RunningLarder.start()
      let target = "/v1/operations/Film/stream?id=f1"
      let id = try #require(
        try await EventClient.open(port: larder.port, target).nextEvent()?.id)
      try await Self.rename(larder, "f1", to: "While away")
      let again = try await EventClient.open(
        port: larder.port, target, headers: [("Last-Event-ID", id)])
      let first = try #require(try await again.nextEvent())
      #expect(try Self.title(first) == "While away")
      #expect(first.id != id)
      try await Self.rename(larder, "f1", to: "Later")
      #expect(try Self.title(try await again.nextEvent()) == "Later")
      await larder.stop()
    }

    /// Frames are not queued for a client that does not read.
    @Test("A client that does not read gets the latest response, not every one")
    func slowClientGetsTheLastResponse() async throws {
      let larder = try await RunningLarder.start(settings: "limits: {streamStall: 5m}")
      let target = "/v1/operations/Film/stream?id=f1"
      let silent = try await EventClient.open(port: larder.port, target)
      let reader = try await EventClient.open(port: larder.port, target)
      _ = try await reader.nextEvent()
      let count = 40
      let text = String(repeating: "x", count: 400_000)
      for number in 0..<count {
        let answer = try await larder.post(
          "/v1/operations/UpdateFilm",
          #"{"id":"f1","patch":{"title":"\#(number)","synopsis":"\#(text)"}}"#)
        #expect(answer.status == 200)
        // Other clients get each frame in the meantime.
        #expect(try Self.title(try await reader.nextEvent()) == .string("\(number)"))
      }
      var heard = 0
      var last: JSONValue?
      repeat {
        last = try Self.title(try await silent.nextEvent())
        heard += 1
      } while last != .string("\(count - 1)") && heard <= count
      #expect(last == .string("\(count - 1)"))
      #expect(heard < count, "\(heard) answers were kept")
      await larder.stop()
    }

    @Test("A list is sent again when one of its members changes")
    func aListIsSentAgainWhenAMemberChanges() async throws {
      let larder = try await RunningLarder.start()
      let events = try await EventClient.open(
        port: larder.port, "/v1/operations/Films/stream?limit=3")
      let first = try #require(try await events.nextEvent())
      let films = try JSONValue(parsing: Array(first.data.utf8))["data"]?["films"]?.array
      let film = try #require(films?.last?["id"]?.string)
      try await Self.rename(larder, film, to: "Renamed in the list")
      #expect(try await events.nextEvent()?.data.contains("Renamed in the list") == true)
      await larder.stop()
    }

    @Test("Operations that cannot be streamed are refused")
    func unstreamableOperationsAreRefused() async throws {
      let larder = try await RunningLarder.start()
      #expect(try await larder.get("/v1/operations/Nothing/stream").status == 404)
      #expect(try await larder.get("/v1/operations/UpdateFilm/stream").status == 400)
      #expect(try await larder.get("/v1/operations/Film/stream").status == 400)
      await larder.stop()
    }
  }
}
