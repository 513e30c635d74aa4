import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Open streams and waits while another caller gets data: they get no event, and are not woken.
  struct MatrixStreamTests {
    private static let strangers = MatrixCaller.all.filter { $0.word != owner.word }
    private static let owner = MatrixCaller(kind: .deviceWithToken, word: "zgbothab")

    @Test("Open streams get no events about other callers' data")
    func openStreamsGetNoForeignEvents() async throws {
      let world = try await MatrixWorld.start()
      var deaf: [(name: String, events: EventClient)] = []
      var hearing: [(name: String, events: EventClient)] = []
      for caller in Self.strangers {
        for target in [
          "/v1/changes/stream?since=now&types=User,Note,FilmList", "/v1/operations/Me/stream",
          "/v1/operations/MyFilm/stream?id=f1", "/v1/entities/User/stream",
          "/v1/entities/FilmList/stream?total=true",
        ] + (caller.kind.hasDevice ? ["/v1/entities/Note/stream"] : []) {
          deaf.append(("\(caller) \(target)", try await Self.open(target, by: caller, in: world)))
        }
        deaf.append(
          (
            "\(caller) live",
            try await Self.open(
              "/v1/live", by: caller, in: world,
              body: """
                {"queries":[{"id":"me","operation":"Me"},
                 {"id":"log","changes":{"since":"now","types":["User","Note","FilmList"]}},
                 {"id":"lists","collection":"/v1/entities/FilmList?total=true"},
                 {"id":"notes","collection":"/v1/entities/Note"}]}
                """)
          ))
        for target in [
          "/v1/changes/stream?since=now", "/v1/operations/Film/stream?id=f30",
          "/v1/entities/Film/f30/stream",
        ] {
          hearing.append(
            ("\(caller) \(target)", try await Self.open(target, by: caller, in: world)))
        }
      }
      _ = try await world.plant(Self.owner)
      // The next event is one that every caller gets, on streams that have such events.
      let renamed = try await world.larder.post(
        "/v1/operations/Rename", #"{"id":"f30","patch":{"title":"Heard by all"}}"#)
      #expect(renamed.status == 200, "\(renamed.text)")
      for (name, events) in hearing {
        let next = try #require(try await events.nextEvent(), "\(name)")
        #expect(next.data.contains("Heard by all"), "\(name): \(next.data)")
      }
      // By now any earlier event would have arrived.
      for (name, events) in deaf { #expect(events.isQuiet, "\(name)") }
      await world.stop()
    }

    private static func open(
      _ target: String, by caller: MatrixCaller, in world: MatrixWorld, body: String? = nil
    ) async throws -> EventClient {
      let events = try await EventClient.open(
        port: world.larder.port, target, headers: world.headers(of: caller), body: body)
      #expect(events.status == 200, "\(caller): \(target)")
      // The first event: the bookmark, or the current response.
      #expect(try await events.nextEvent() != nil, "\(caller): \(target)")
      if body != nil {
        // The first event of each of the four subjects, and a device's queue.
        for _ in 0..<(caller.kind.hasDevice ? 5 : 4) {
          #expect(try await events.nextEvent() != nil, "\(caller): \(target)")
        }
      }
      if caller.kind.hasDevice, target.hasPrefix("/v1/changes/") {
        #expect(try await events.nextEvent()?.event == "queue", "\(caller): \(target)")
      }
      return events
    }

    @Test("Other callers' data does not wake a waiting request")
    func waitingRequestsAreNotWoken() async throws {
      let world = try await MatrixWorld.start()
      let port = world.larder.port
      let callers = Self.strangers.map { (caller: $0, headers: world.headers(of: $0)) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (caller, headers) in callers {
          group.addTask {
            let start = ContinuousClock.now
            let answer = try await onOwnThread {
              try RawClient(port: port).request(
                "GET", "/v1/changes?since=now&wait=3", headers: headers)
            }
            let page = try JSONValue(parsing: answer.body)
            #expect(page["changes"] == [], "\(caller): \(answer.text)")
            #expect(ContinuousClock.now - start >= .milliseconds(2_900), "\(caller)")
          }
        }
        _ = try await world.plant(Self.owner)
        try await group.waitForAll()
      }
      await world.stop()
    }

    @Test("Two callers with private data each make their own upstream request")
    func callersDoNotShareAFlight() async throws {
      let world = try await MatrixWorld.start()
      let asked = world.larder.demo.report["Me"].requests
      try await world.larder.demo.change { $0.latency = .milliseconds(300) }
      let port = world.larder.port
      let callers = MatrixCaller.all.filter(\.kind.hasToken)
      let calls = callers.map { (caller: $0, headers: world.headers(of: $0)) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (caller, headers) in calls {
          group.addTask {
            let answer = try await onOwnThread {
              try RawClient(port: port).request(
                "GET", "/api/me", headers: headers + [("Cache-Control", "no-cache")])
            }
            #expect(answer.text.lowercased().contains(caller.word))
            #expect(answer["cache-status"]?.contains("collapsed") == false)
          }
        }
        try await group.waitForAll()
      }
      #expect(world.larder.demo.report["Me"].requests - asked == callers.count)
      await world.stop()
    }
  }
}
