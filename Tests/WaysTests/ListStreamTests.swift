import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Streams of lists, of single entities and of relationships.
  struct ListStreamTests {
    private static let query = "order=title&limit=6"

    private static func filled(settings: String = "") async throws -> RunningLarder {
      let larder = try await RunningLarder.start(settings: settings)
      #expect(try await larder.get("/api/films?limit=20").status == 200)
      #expect(try await larder.get("/api/films/f1").status == 200)
      return larder
    }

    private static func rename(
      _ larder: RunningLarder, _ film: String, to title: String
    ) async throws {
      let answer = try await larder.post(
        "/v1/operations/UpdateFilm", #"{"id":"\#(film)","patch":{"title":"\#(title)"}}"#)
      #expect(answer.status == 200, "\(answer.text)")
    }

    private static func open(
      _ larder: RunningLarder, _ target: String, _ headers: (String, String)...
    ) async throws -> EventClient {
      try await EventClient.open(port: larder.port, target, headers: headers)
    }

    private static func data(_ event: EventClient.Event?) throws -> JSONValue {
      try JSONValue(parsing: Array(try #require(event).data.utf8))
    }

    @Test("A list is sent whole, then by diffs with the tags of plain reads")
    func sendsTheListThenDiffs() async throws {
      let larder = try await Self.filled()
      let events = try await Self.open(larder, "/v1/entities/Film/stream?\(Self.query)")
      #expect(events.status == 200)
      #expect(events.contentType == "text/event-stream")
      var copy = ListCopy()
      let first = try #require(try await events.nextEvent())
      #expect(first.event == "list")
      try copy.apply(try Self.data(first))
      let plain = try await larder.get("/v1/entities/Film?\(Self.query)")
      #expect(plain["etag"] == first.id)
      #expect(copy.items == (try JSONValue(parsing: plain.body))["items"]?.array)
      let last = try #require(copy.items.last?["id"]?.string)
      for title in ["  First of all", " Second"] {
        try await Self.rename(larder, last, to: title)
        let event = try #require(try await events.nextEvent())
        #expect(event.event == "diff")
        try copy.apply(try Self.data(event))
        let present = try await larder.get("/v1/entities/Film?\(Self.query)")
        #expect(present["etag"] == event.id)
        #expect(copy.items == (try JSONValue(parsing: present.body))["items"]?.array)
      }
      // A client that comes back with its last event's id gets what it missed.
      let known = try #require(copy.tag)
      try await Self.rename(larder, last, to: "Third")
      let again = try await Self.open(
        larder, "/v1/entities/Film/stream?\(Self.query)", ("Last-Event-ID", known))
      let missed = try #require(try await again.nextEvent())
      #expect(missed.event == "diff")
      try copy.apply(try Self.data(missed))
      let tag = known.dropFirst().dropLast()
      let from = try await Self.open(
        larder, "/v1/entities/Film/stream?\(Self.query)&from=%22\(tag)%22")
      #expect(try await from.nextEvent()?.event == "diff")
      await larder.stop()
    }

    @Test("Entities and relationships have streams; what cannot be read is no stream")
    func entitiesAndRelationships() async throws {
      let larder = try await Self.filled()
      let film = try await Self.open(larder, "/v1/entities/Film/f1/stream")
      #expect(try Self.data(try await film.nextEvent())["count"] == 1)
      let cast = try await Self.open(larder, "/v1/entities/Film/f1/cast/stream?limit=2")
      #expect(try Self.data(try await cast.nextEvent())["items"]?.array?.count == 2)
      let director = try await Self.open(larder, "/v1/entities/Film/f1/director/stream")
      #expect(try Self.data(try await director.nextEvent())["count"] == 1)
      try await Self.rename(larder, "f1", to: "Renamed")
      let event = try await film.nextEvent()
      #expect(try Self.data(event)["items"]?[0]?["title"] == "Renamed")
      #expect(cast.isQuiet && director.isQuiet)
      for (target, status) in [
        ("/v1/entities/Film/none/stream", 404), ("/v1/entities/Nothing/stream", 404),
        ("/v1/entities/Film/stream?order=size&limit=5000", 400),
        ("/v1/entities/Film/f1/stream?order=title", 400),
        ("/v1/entities/Film/f1/none/stream", 404),
      ] {
        let answer = try await larder.get(target)
        #expect(answer.status == status, "\(target): \(answer.text)")
      }
      let faults = try await larder.get("/v1/entities/Film/stream?order=size&limit=5000")
      #expect(try JSONValue(parsing: faults.body)["errors"]?.array?.count == 2)
      await larder.stop()
    }

    /// A local type whose relationship, and entities whose ids, are called `stream`.
    private static let localTypes = """
      type Broadcast @local { id: ID! title: String! }
      type Channel @local { id: ID! stream: Broadcast }
      """

    @Test("Ids and relationships called stream stay reachable")
    func namesStreamStayReachable() async throws {
      let larder = try await RunningLarder.start(localTypes: Self.localTypes)
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      for (target, body) in [
        ("Broadcast/stream", #"{"title":"Live"}"#), ("Channel/c1", #"{"stream":"stream"}"#),
      ] {
        let answer = try await larder.request(
          "PUT", "/v1/entities/\(target)", headers: [device], body: body)
        #expect(answer.status == 201, "\(answer.text)")
      }
      // The id, below which the literal segment is the type's stream.
      let list = try await Self.open(larder, "/v1/entities/Broadcast/stream", device)
      #expect(try Self.data(try await list.nextEvent())["count"] == 1)
      let found = try await larder.get(
        "/v1/entities/Broadcast?filter=id%20%3D%20%27stream%27", device)
      #expect(try JSONValue(parsing: found.body)["items"]?[0]?["title"] == "Live")
      let entity = try await Self.open(larder, "/v1/entities/Broadcast/stream/stream", device)
      #expect(try Self.data(try await entity.nextEvent())["items"]?[0]?["title"] == "Live")
      // The relationship, unless the request accepts events.
      let related = try await larder.get("/v1/entities/Channel/c1/stream", device)
      #expect(try JSONValue(parsing: related.body)["title"] == "Live", "\(related.text)")
      let accept = ("Accept", "text/event-stream")
      let channel = try await Self.open(larder, "/v1/entities/Channel/c1/stream", device, accept)
      #expect(try Self.data(try await channel.nextEvent())["items"]?[0]?["stream"] == "stream")
      let below = try await Self.open(larder, "/v1/entities/Channel/c1/stream/stream", device)
      #expect(try Self.data(try await below.nextEvent())["items"]?[0]?["title"] == "Live")
      let patched = try await larder.request(
        "PATCH", "/v1/entities/Broadcast/stream", headers: [device], body: #"{"title":"Over"}"#)
      #expect(patched.status == 200)
      for events in [list, entity, below] {
        #expect(try Self.data(try await events.nextEvent())["items"]?[0]?["title"] == "Over")
      }
      await larder.stop()
    }

    @Test("A renewable ticket opens the stream of its path again and again")
    func renewableTicketsReconnect() async throws {
      let larder = try await Self.filled()
      let ada = ("Authorization", "Bearer user-ada")
      let issued = try await larder.post(
        "/v1/stream-tickets", #"{"renewable":true,"path":"/v1/entities/Film/stream"}"#, ada)
      #expect(issued.status == 201)
      let ticket = try #require(try JSONValue(parsing: issued.body)["ticket"]?.string)
      let target = "/v1/entities/Film/stream?\(Self.query)&ticket=\(ticket)"
      var lastID: String?
      for _ in 0..<3 {
        let events = try await Self.open(
          larder, target, ("Last-Event-ID", lastID ?? ""))
        #expect(events.status == 200)
        if lastID == nil { lastID = try await events.nextEvent()?.id }
      }
      let other = try await larder.get("/v1/changes/stream?ticket=\(ticket)")
      #expect(other.status == 403)
      let faults = try await larder.post(
        "/v1/stream-tickets", #"{"renewable":"yes","path":"/v1/live","more":1}"#, ada)
      #expect(faults.status == 400)
      #expect(try JSONValue(parsing: faults.body)["errors"]?.array?.count == 3)
      let missing = try await larder.post("/v1/stream-tickets", #"{"renewable":true}"#, ada)
      #expect(missing.status == 400)
      await larder.stop()
    }

    @Test("A revoked device ends its streams, and no other")
    func revocationEndsStreams() async throws {
      let larder = try await Self.filled()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      let mine = try await Self.open(larder, "/v1/entities/Film/stream?\(Self.query)", device)
      let live = try await EventClient.open(
        port: larder.port, "/v1/live", headers: [device],
        body: #"{"queries":[{"id":"a","collection":"/v1/entities/Film"}]}"#)
      let open = try await Self.open(larder, "/v1/entities/Film/stream?\(Self.query)")
      for events in [mine, live, open] { #expect(try await events.nextEvent() != nil) }
      #expect(try await larder.request("DELETE", "/v1/devices/me", headers: [device]).status == 204)
      while try await mine.nextEvent() != nil {}
      while try await live.nextEvent() != nil {}
      #expect(open.isQuiet)
      await larder.stop()
    }
  }
}
