import Composition
import DemoUpstream
import Gateway
import LosslessJSON
import Model
import TestSupport
import Testing

extension Ways {
  /// What a replica answers itself, and what it passes on.
  struct ForwardingTests {
    private static let operations = [
      "films": """
      query Film($id: ID!) @route(path: "/films/{id}") @cache(maxAge: 600, staleIfError: 600, scope: PUBLIC) {
        film(id: $id) { id title year }
      }
      query Brief($id: ID!) @cache(maxAge: 1, staleWhileRevalidate: 600, scope: PUBLIC) {
        film(id: $id) { id title }
      }
      mutation Rename($id: ID!, $patch: FilmPatch!) @effects(updates: ["Film:$id"]) {
        updateFilm(id: $id, patch: $patch) { id title year }
      }
      """
    ]
    private static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")

    /// A cluster whose replica has one film.
    private static func start(
      settings: String = "", appliesAll: Bool = true
    ) async throws -> ClusterWorld {
      let larder = try await RunningLarder.start(settings: settings, operations: operations)
      #expect(try await larder.get("/api/films/f1").status == 200)
      return try await ClusterWorld.start(larder, appliesAll: appliesAll)
    }

    private static func rename(_ larder: RunningLarder, _ id: String, _ title: String) async throws
    {
      let answer = try await larder.post(
        "/v1/operations/Rename", #"{"id":"\#(id)","patch":{"title":"\#(title)"}}"#)
      #expect(answer.status == 200, "\(answer.text)")
    }

    @Test("A replica answers a hit by itself, and has the leader fetch a miss")
    func missesGoToTheLeader() async throws {
      let world = try await Self.start()
      let hit = try await world.replica.get("/api/films/f1")
      #expect(hit.cacheStatus?.hasPrefix("hit") == true)
      #expect(world.log.position == 0)
      let miss = try await world.replica.get("/api/films/f9", ("Request-Id", "my-miss"))
      #expect(miss.status == 200)
      #expect(miss.cacheStatus == "fwd=uri-miss; stored")
      #expect(miss["request-id"] == "my-miss")
      #expect(miss.headers.filter { $0.0.lowercased() == "date" }.count == 1)
      #expect(!miss.headers.contains { $0.0.lowercased().hasPrefix("larder-") })
      let direct = try await world.leader.get("/api/films/f9")
      #expect(miss.text == direct.text && miss["etag"] == direct["etag"])
      let known = try await world.replica.get(
        "/api/films/f9", ("If-None-Match", direct["etag"] ?? ""))
      #expect(known.status == 304)
      #expect(world.leader.demo.report["Film"].requests == 2)
      #expect(world.replicaCalls == 0)
      await world.stop()
    }

    @Test("Without a leader a replica shows stale data, and says of the rest when to retry")
    func showsStaleDataWithoutALeader() async throws {
      let world = try await Self.start()
      try world.noteLeader(epoch: 2, isAway: true)
      let noCache = ("Cache-Control", "no-cache")
      let stale = try await world.replica.get("/api/films/f1", noCache)
      #expect(stale.status == 200)
      #expect(stale.cacheStatus?.hasSuffix("detail=stale-if-error") == true)
      let miss = try await world.replica.get("/api/films/f9")
      #expect(miss.status == 503 && miss.problem == "leader_unavailable")
      #expect(miss["retry-after"] == "1")
      let onlyCached = try await world.replica.get(
        "/api/films/f9", ("Cache-Control", "only-if-cached"))
      #expect(onlyCached.status == 504 && onlyCached.problem == "nothing_cached")
      // There is none at all.
      world.link.note(leader: nil)
      #expect(try await world.replica.get("/api/films/f1", noCache).status == 200)
      #expect(try await world.replica.get("/api/films/f9").problem == "leader_unavailable")
      #expect(try await world.replica.get("/readyz").status == 200)
      try world.noteLeader(epoch: 3)
      #expect(try await world.replica.get("/api/films/f9").status == 200)
      await world.stop()
    }

    @Test("While the lease passes on, a miss waits for the next leader")
    func missesWaitInHandovers() async throws {
      let world = try await Self.start()
      let link = world.link
      let former = try #require(link.leader)
      link.note(leader: nil)
      link.noteHandover()
      let noting = Task {
        #expect(await eventuallyHolds { link.waitingCount == 1 })
        link.note(leader: .init(node: former.node, url: former.url, epoch: 2))
      }
      let response = try await world.replica.get("/api/films/f9")
      await noting.value
      #expect(response.status == 200, "\(response.text)")
      #expect(world.replicaCalls == 0)
      await world.stop()
    }

    @Test(
      "A leader that answers nothing is given up: soon for reads, later for what it may carry out")
    func silentLeader() async throws {
      let world = try await Self.start()
      let silent = try SilentPeer()
      try world.noteLeader(atPort: silent.port, epoch: 2)
      let start = ContinuousClock.now
      let stale = try await world.replica.get("/api/films/f1", ("Cache-Control", "no-cache"))
      #expect(stale.status == 200)
      #expect(stale.cacheStatus?.hasSuffix("detail=stale-if-error") == true)
      let miss = try await world.replica.get("/api/films/f9")
      #expect(miss.status == 503 && miss.problem == "leader_unavailable")
      #expect(ContinuousClock.now - start < .seconds(9))
      // Asked again after its rest.
      try world.noteLeader(atPort: silent.port, epoch: 3)
      let port = world.replica.port
      let write = try await onOwnThread {
        let client = try RawClient(port: port, timeoutSeconds: 60)
        let body = #"{"id":"f1","patch":{"title":"Perhaps"}}"#
        try client.send(
          "POST /v1/operations/Rename HTTP/1.1\r\nHost: localhost\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        return try client.response(to: "POST")
      }
      #expect(write.status == 504 && write.problem == "outcome_unknown")
      #expect(world.leader.demo.report["Rename"].requests == 0)
      try world.noteLeader(epoch: 4)
      #expect(try await world.replica.get("/api/films/f9").status == 200)
      await world.stop()
    }

    @Test("A replica is ready once it has looked for the leader, and misses wait for that")
    func firstLook() async throws {
      let world = try await Self.start()
      let link = world.link
      let leader = try #require(link.leader)
      link.forgetLeader()
      let notReady = try await world.replica.get("/readyz")
      #expect(notReady.status == 503 && notReady["retry-after"] == "1")
      #expect(try JSONValue(parsing: notReady.body)["leader"] == "not looked for yet")
      #expect(try await world.replica.get("/healthz").status == 200)
      // Nothing is found within the wait.
      #expect(try await world.replica.get("/api/films/f9").problem == "leader_unavailable")
      #expect(try await world.replica.get("/api/films/f1").status == 200)
      let noting = Task { link.note(leader: leader) }
      #expect(try await world.replica.get("/api/films/f9").status == 200)
      await noting.value
      let ready = try await world.replica.get("/readyz")
      #expect(ready.status == 200)
      #expect(try JSONValue(parsing: ready.body)["leader"] == nil)
      // One that cannot look serves what it has.
      link.forgetLeader()
      link.note(isCutOff: true)
      #expect(try await world.replica.get("/readyz").status == 200)
      await world.stop()
    }

    @Test(
      "A replica that has not applied what it passed on has the leader answer the device's reads")
    func ownWritesShow() async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      let own = ("Device-Token", try await DeviceTests.register(larder).token)
      #expect(try await larder.get("/api/films/f1").status == 200)
      let world = try await ClusterWorld.start(larder, appliesAll: false)
      // So that it does not wait for what it never applies.
      world.link.note(isCutOff: true)
      let written = try await world.replica.post(
        "/v1/operations/Rename", #"{"id":"f1","patch":{"title":"Mine"}}"#, own)
      #expect(written.status == 200, "\(written.text)")
      #expect(world.link.owesWrites)
      for target in ["/api/films/f1", "/v1/entities/Film/f1"] {
        #expect(try await world.replica.get(target, own).text.contains("Mine"), "\(target)")
        // Others have not written it.
        #expect(try await !world.replica.get(target).text.contains("Mine"), "\(target)")
      }
      // Without the leader, the response says what it is.
      world.link.note(leader: nil)
      let old = try await world.replica.get("/api/films/f1", own)
      #expect(old.status == 200 && !old.text.contains("Mine"))
      #expect(old.cacheStatus?.hasSuffix("; detail=cut-off") == true)
      world.link.note(isCutOff: false)
      let marked = try await world.replica.get("/api/films/f1", own)
      #expect(marked.cacheStatus?.hasSuffix("; detail=cut-off") == true)
      world.link.note(position: world.log.position)
      #expect(!world.link.owesWrites)
      let applied = try await world.replica.get("/api/films/f1", own)
      #expect(applied.cacheStatus?.contains("cut-off") == false)
      await world.stop()
    }

    @Test("While a replica shows stale data, the leader refreshes it")
    func leaderRefreshes() async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      #expect(try await larder.get("/v1/operations/Brief?id=f1").status == 200)
      let world = try await ClusterWorld.start(larder)
      let before = world.leader.demo.report["Brief"].requests
      let isStale = try await eventuallyHolds {
        try await world.replica.get("/v1/operations/Brief?id=f1").cacheStatus?
          .hasSuffix("detail=refreshing") == true
      }
      #expect(isStale)
      #expect(await eventuallyHolds { world.leader.demo.report["Brief"].requests > before })
      #expect(world.replicaCalls == 0)
      await world.stop()
    }

    @Test("The leader carries out the writes, and says which nodes have applied those of tokens")
    func leaderWrites() async throws {
      let world = try await Self.start()
      try await Self.rename(world.replica, "f1", "Renamed")
      #expect(world.leader.demo.report["Rename"].requests == 1)
      #expect(world.log.waits == [])
      let made = try await world.replica.post("/v1/devices", #"{"platform":"ios"}"#)
      #expect(made.status == 201)
      #expect(made["cluster-applied"] == "\"n_2\"" && made["cluster-pending"] == nil)
      world.log.answer(applied: ["n_2"], pending: ["n_4", "n_3"])
      let token = try #require(try JSONValue(parsing: made.body)["deviceToken"]?.string)
      let rotated = try await world.replica.request(
        "POST", "/v1/devices/me/rotate", headers: [("Device-Token", token)])
      #expect(rotated.status == 200)
      #expect(rotated["cluster-pending"] == "\"n_3\", \"n_4\"")
      let refused = try await world.replica.request(
        "POST", "/v1/devices/me/rotate", headers: [("Device-Token", token)])
      #expect(refused.status == 401 && refused["cluster-applied"] == nil)
      #expect(world.log.waits.count == 2)
      await world.stop()
    }

    @Test("Uploads and downloads pass through, also of unknown length", arguments: [false, true])
    func filesPassThrough(isChunked: Bool) async throws {
      let world = try await Self.start(settings: "files: {buckets: {pics: {access: admin}}}")
      let content = String(repeating: "0123456789abcdef", count: 200_000)
      let port = world.replica.port
      let stored = try await onOwnThread {
        let client = try RawClient(port: port)
        let framing =
          isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(content.utf8.count)"
        try client.send(
          "PUT /v1/files/pics/a.txt HTTP/1.1\r\nHost: localhost\r\n"
            + "\(Self.admin.0): \(Self.admin.1)\r\nContent-Type: text/plain\r\n\(framing)\r\n\r\n")
        if isChunked {
          let half = content.utf8.count / 2
          for part in [content.prefix(half), content.dropFirst(half)] {
            try client.send("\(String(part.utf8.count, radix: 16))\r\n\(part)\r\n")
          }
          try client.send("0\r\n\r\n")
        } else {
          try client.send(content)
        }
        return try client.response(to: "PUT")
      }
      #expect([200, 201].contains(stored.status), "\(stored.text)")
      let read = try await world.leader.get("/v1/files/pics/a.txt", Self.admin)
      #expect(read.text == content)
      await world.stop()
    }

    @Test("Streams of operations and WebSockets are the leader's")
    func streamsPassThrough() async throws {
      let world = try await Self.start()
      let events = try await EventClient.open(
        port: world.replica.port, "/v1/operations/Film/stream?id=f1")
      #expect(events.status == 200 && events.contentType == "text/event-stream")
      #expect(try await events.nextEvent()?.data.contains("f1") == true)
      let socket = try await SocketClient.open(world.replica)
      try await socket.send(#"{"type":"connection_init"}"#)
      #expect(try await socket.next() == ["type": "connection_ack"])
      let rename =
        #"{"operationName":"Rename","variables":{"id":"f2","patch":{"title":"Seen as well"}}}"#
      try await Self.rename(world.leader, "f1", "Seen")
      #expect(try await events.nextEvent()?.data.contains("Seen") == true)
      try await socket.send(#"{"id":"m","type":"subscribe","payload":\#(rename)}"#)
      #expect(try await socket.next()["id"] == "m")
      #expect(world.replicaCalls == 0)
      world.link.note(leader: nil)
      let away = try await EventClient.open(
        port: world.replica.port, "/v1/operations/Film/stream?id=f1")
      #expect(away.status == 503)
      await world.stop()
    }

    @Test("A replica behind a cursor waits, passes the request on, or refuses it if it is cut off")
    func cursorsAreKept() async throws {
      let world = try await Self.start()
      try await Self.rename(world.leader, "f1", "Newer")
      let read = try await world.leader.get("/api/films/f1")
      let cursor = ("Sync-Cursor", try #require(read["sync-cursor"]))
      #expect(try await world.replica.get("/v1/entities/Film/f1").text.contains("Newer") == false)
      let before = world.log.position
      let passed = try await world.replica.get("/v1/entities/Film/f1", cursor)
      #expect(passed.status == 200 && passed.text.contains("Newer"))
      #expect(world.log.position > before)
      let changes = try await world.replica.get("/v1/changes?since=\(cursor.1)")
      #expect(changes.status == 200)
      // A cursor that this node has.
      let old = try await world.replica.get("/v1/entities/Film/f1")
      let mine = ("Sync-Cursor", try #require(old["sync-cursor"]))
      world.link.note(isCutOff: true)
      let position = world.log.position
      #expect(try await world.replica.get("/v1/entities/Film/f1", mine).status == 200)
      let refused = try await world.replica.get("/v1/entities/Film/f1", cursor)
      #expect(refused.status == 503 && refused.problem == "node_behind")
      #expect(refused["retry-after"] != nil)
      #expect(world.log.position == position)
      await world.stop()
    }

    @Test("A device's reads from a replica without PostgreSQL say so")
    func cutOffIsShown() async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      let own = ("Device-Token", try await DeviceTests.register(larder).token)
      #expect(try await larder.get("/api/films/f1").status == 200)
      let world = try await ClusterWorld.start(larder)
      #expect(
        try await world.replica.get("/api/films/f1", own).cacheStatus?.contains("cut-off") == false)
      world.link.note(isCutOff: true)
      for target in ["/api/films/f1", "/v1/entities/Film/f1"] {
        let answer = try await world.replica.get(target, own)
        #expect(answer.status == 200)
        #expect(answer.cacheStatus?.hasSuffix("; detail=cut-off") == true, "\(target)")
        #expect(try await world.replica.get(target)["cache-status"]?.contains("cut-off") != true)
      }
      await world.stop()
    }

    @Test("A response is passed on when this node has applied what it is based on")
    func waitsForPositions() async throws {
      let world = try await Self.start(appliesAll: false)
      let (log, link) = (world.log, world.link)
      let noting = Task {
        #expect(await eventuallyHolds { log.position > 0 })
        link.note(position: log.position)
      }
      #expect(try await world.replica.get("/api/films/f9").status == 200)
      await noting.value
      await world.stop()
    }
  }
}
