import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// One stream of many subjects, over sockets.
  struct LiveTests {
    private static let subjects = """
      {"queries":[
        {"id":"film","operation":"Film","variables":{"id":"f1"}},
        {"id":"log","changes":{"types":["Film"],"since":"now"}},
        {"id":"table","collection":"/v1/entities/Film?order=title&limit=100"}]}
      """

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
      _ larder: RunningLarder, _ body: String, lastEventID: String? = nil,
      headers: [(String, String)] = []
    ) async throws -> EventClient {
      let last = lastEventID.map { [("Last-Event-ID", $0)] } ?? []
      return try await EventClient.open(
        port: larder.port, "/v1/live", headers: headers + last, body: body)
    }

    /// Reads one event of each subject.
    private static func events(
      _ ids: Set<String>, of client: EventClient
    ) async throws -> (events: [String: EventClient.Event], lastID: String?) {
      var found: [String: EventClient.Event] = [:]
      var lastID: String?
      while Set(found.keys) != ids {
        let event = try #require(try await client.nextEvent(), "only \(found.keys)")
        lastID = event.id ?? lastID
        guard let id = try data(event)["id"]?.string else { continue }
        found[id] = event
      }
      return (found, lastID)
    }

    private static func data(_ event: EventClient.Event?) throws -> JSONValue {
      try JSONValue(parsing: Array(try #require(event).data.utf8))
    }

    @Test("Lists beyond the memory are faults of their subjects, and the others go on")
    func listsBeyondTheMemoryAreFaults() async throws {
      let larder = try await Self.filled(settings: "limits: {listMemory: 1MiB}")
      func path(_ number: Int) -> String {
        "/v1/entities/Film?limit=100&filter=year%20%3E%20\(number)"
      }
      let subjects = (0..<100).map { #"{"id":"s\#($0)","collection":"\#(path($0))"}"# }
      let client = try await Self.open(
        larder, #"{"queries":[\#(subjects.joined(separator: ","))]}"#)
      let found = try await Self.events(Set((0..<100).map { "s\($0)" }), of: client).events
      let refused = found.filter { $0.value.event == "error" }
      for (_, event) in refused {
        #expect(try Self.data(event)["data"]?["code"] == "overloaded")
      }
      let followed = found.filter { $0.value.event == "list" }
      #expect(refused.count > 0 && followed.count > 0 && refused.count + followed.count == 100)
      // What the subjects had waiting was read since, so some lists more can have room.
      var streams: [EventClient] = []
      while streams.count < 100, streams.last?.status ?? 200 == 200 {
        streams.append(
          try await EventClient.open(
            port: larder.port,
            "/v1/entities/Film/stream?limit=100&filter=year%20%3E%20\(500 + streams.count)"))
      }
      #expect(streams.last?.status == 503)
      try await Self.rename(larder, "f1", to: "Renamed")
      let ids = Set(followed.keys)
      try #require(!ids.isEmpty)
      let diffs = try await Self.events(ids, of: client).events
      #expect(Set(diffs.keys) == ids)
      #expect(diffs.values.allSatisfy { $0.data.contains("Renamed") })
      await larder.stop()
    }

    @Test("Several subjects share one stream and are resumed together")
    func subjectsShareOneStream() async throws {
      let larder = try await Self.filled()
      let client = try await Self.open(larder, Self.subjects)
      #expect(client.status == 200)
      let open = try #require(try await client.nextEvent())
      #expect(open.event == "open")
      #expect(try Self.data(open)["streamId"]?.string == client.fields["live-stream-id"])
      let first = try await Self.events(["film", "log", "table"], of: client).events
      #expect(first["film"]?.event == nil)
      #expect(try Self.data(first["film"])["data"]?["data"]?["film"]?["id"] == "f1")
      #expect(first["log"]?.event == "bookmark")
      #expect(first["table"]?.event == "list")
      var copy = ListCopy()
      try copy.apply(try #require(try Self.data(first["table"])["data"]))
      try await Self.rename(larder, "f1", to: "First")
      let next = try await Self.events(["film", "log", "table"], of: client)
      #expect(next.events["log"]?.event == "change")
      #expect(try Self.data(next.events["log"])["data"]?["data"]?["title"] == "First")
      #expect(next.events["table"]?.event == "diff")
      try copy.apply(try #require(try Self.data(next.events["table"])["data"]))
      #expect(try Self.data(next.events["film"])["lastEventId"]?.string != nil)

      // Everything that happens until the client comes back arrives then, and nothing else does.
      let lastID = try #require(next.lastID)
      try await Self.rename(larder, "f1", to: "Second")
      let again = try await Self.open(larder, Self.subjects, lastEventID: lastID)
      let resumed = try Self.data(try await again.nextEvent())["resumed"]?.array
      #expect(resumed == ["film", "log", "table"])
      let missed = try await Self.events(["film", "log", "table"], of: again).events
      #expect(try Self.data(missed["log"])["data"]?["data"]?["title"] == "Second")
      #expect(missed["table"]?.event == "diff")
      try copy.apply(try #require(try Self.data(missed["table"])["data"]))

      // Another caller's id continues nothing.
      let other = try await Self.open(
        larder, Self.subjects, lastEventID: lastID,
        headers: [("Authorization", "Bearer user-ada")])
      #expect(try Self.data(try await other.nextEvent())["resumed"] == [])
      await larder.stop()
    }

    @Test("Subjects are added and removed without reopening the stream")
    func subjectsChange() async throws {
      let larder = try await Self.filled()
      let client = try await Self.open(
        larder, #"{"queries":[{"id":"a","collection":"/v1/entities/Film/f1"}]}"#)
      _ = try await Self.events(["a"], of: client)
      let id = try #require(client.fields["live-stream-id"])
      func change(_ body: String, _ headers: (String, String)...) async throws -> RawResponse {
        try await larder.request("PATCH", "/v1/live/\(id)", headers: headers, body: body)
      }
      let answer = try await change(
        #"{"add":[{"id":"b","collection":"/v1/entities/Film/f2"}],"remove":["a","x"]}"#)
      #expect(answer.status == 200, "\(answer.text)")
      #expect(try JSONValue(parsing: answer.body)["subjects"] == ["b"])
      _ = try await Self.events(["b"], of: client)
      try await Self.rename(larder, "f1", to: "Unseen")
      try await Self.rename(larder, "f2", to: "Seen")
      let event = try #require(try await client.nextEvent())
      #expect(event.data.contains("Seen") && !event.data.contains("Unseen"), "\(event.data)")
      // Another caller, and a stream that does not exist.
      let ada = ("Authorization", "Bearer user-ada")
      #expect(try await change("{}", ada).status == 404)
      let unknown = try await larder.request("PATCH", "/v1/live/s_none", body: "{}")
      #expect(unknown.status == 404)
      #expect(try await change(#"{"add":[{"id":"b","operation":"Film"}]}"#).status == 400)
      await larder.stop()
    }

    @Test("All faults of a body are reported at once, and those of a subject on the stream")
    func faultsAreReported() async throws {
      let larder = try await Self.filled()
      let answer = try await larder.post(
        "/v1/live",
        """
        {"queries":[{"id":"","operation":"Film"},{"id":"b","variables":[]},7,
          {"id":"c","collection":"/v1/operations"},{"id":"d","changes":{"types":"Film","more":1}},
          {"id":"e","operation":"Film","variables":[1],"from":2,"what":3},
          {"id":"f","operation":"Film"}],"more":1}
        """)
      #expect(answer.status == 400)
      let pointers = try JSONValue(parsing: answer.body)["errors"]?.array?.compactMap {
        $0["pointer"]?.string
      }
      #expect(
        pointers == [
          "/more", "/queries/0/id", "/queries/1", "/queries/2", "/queries/3/collection",
          "/queries/4/changes/types", "/queries/4/changes/more", "/queries/5/what",
          "/queries/5/from", "/queries/5/variables",
        ])
      let twice = try await larder.post(
        "/v1/live", #"{"queries":[{"id":"a","operation":"Film"},{"id":"a","operation":"Film"}]}"#)
      #expect(twice.status == 400)
      #expect(twice.text.contains("/queries/1/id"))
      #expect(try await larder.post("/v1/live", "{}").status == 400)
      #expect(try await larder.post("/v1/live", "[").status == 400)
      let many = (0...100).map { #"{"id":"\#($0)","operation":"Film"}"# }.joined(separator: ",")
      #expect(try await larder.post("/v1/live", #"{"queries":[\#(many)]}"#).status == 400)

      let client = try await Self.open(
        larder,
        """
        {"queries":[{"id":"none","operation":"Nothing"},{"id":"vars","operation":"Film"},
          {"id":"type","collection":"/v1/entities/Nothing"},
          {"id":"mutation","operation":"UpdateFilm"},
          {"id":"cursor","changes":{"since":"nonsense"}},
          {"id":"good","collection":"/v1/entities/Film?limit=1"}]}
        """)
      let events = try await Self.events(
        ["none", "vars", "type", "mutation", "cursor", "good"], of: client
      ).events
      for (id, code) in [
        ("none", "unknown_operation"), ("vars", "invalid_variables"), ("type", "not_found"),
        ("mutation", "malformed_request"), ("cursor", "malformed_request"),
      ] {
        #expect(events[id]?.event == "error", "\(id)")
        #expect(try Self.data(events[id])["data"]?["code"]?.string == code, "\(id)")
      }
      #expect(events["good"]?.event == "list")
      try await Self.rename(larder, "f1", to: "  Still there")
      await larder.stop()
    }

    @Test("A client that reads slowly delays no other, and gets the present state when it reads")
    func slowReaderBesideAFastOne() async throws {
      let larder = try await Self.filled()
      let slow = try await Self.open(larder, Self.subjects)
      let fast = try await Self.open(larder, Self.subjects)
      _ = try await Self.events(["film", "log", "table"], of: fast)
      for number in 0..<60 {
        try await Self.rename(larder, "f1", to: "Title \(number)")
        while true {
          let event = try #require(try await fast.nextEvent())
          if event.event == "change", event.data.contains("Title \(number)\"") { break }
        }
      }
      var titles: Set<String> = []
      while true {
        let event = try #require(try await slow.nextEvent())
        if event.data.contains("Title 59") {
          titles.insert(try Self.data(event)["id"]?.string ?? "")
        }
        if titles == ["film", "log", "table"] { break }
      }
      await larder.stop()
    }

    @Test("Many clients that disconnect at once leave nothing open")
    func manyDisconnectAtOnce() async throws {
      let larder = try await Self.filled()
      /// Whether a stream is still open: one that has ended is unknown.
      func isOpen(_ id: String) async throws -> Bool {
        try await larder.request("PATCH", "/v1/live/\(id)", body: "{}").status == 200
      }
      var clients: [EventClient] = []
      var ids: [String] = []
      for _ in 0..<150 {
        let client = try await Self.open(larder, Self.subjects)
        #expect(try await client.nextEvent()?.event == "open")
        ids.append(try #require(client.fields["live-stream-id"]))
        clients.append(client)
      }
      #expect(try await isOpen(ids[0]))
      clients = []
      let clock = ContinuousClock()
      let end = clock.now + .seconds(30)
      for id in ids {
        while try await isOpen(id) {
          try #require(clock.now < end, "live streams are still open")
          // Writing makes the service notice those that sent no end.
          try await Self.rename(larder, "f1", to: "Now \(clock.now)")
        }
      }
      let client = try await Self.open(larder, Self.subjects)
      _ = try await Self.events(["film", "log", "table"], of: client)
      await larder.stop()
    }
  }
}
