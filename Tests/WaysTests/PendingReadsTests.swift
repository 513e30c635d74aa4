import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// A device's optimistic updates in every kind of read, and in no other caller's reads.
  struct PendingReadsTests {
    // MARK: Operations

    @Test("An operation shows an optimistic update to its device alone")
    func operationShowsOverlayToItsDeviceAlone() async throws {
      let world = try await PendingWorld.start()
      let before = try await world.get("/api/films/f1", as: .mine)
      let id = try await world.enqueueTitle("Mine", of: "f1")
      let mine = try await world.get("/api/films/f1", as: .mine)
      let film = try JSONValue(parsing: mine.body)["data"]?["film"]
      #expect(film?["title"] == "Mine")
      #expect(film?["_pending"] == [.string(id)])
      #expect(film?["director"]?["_pending"] == nil)
      #expect(mine["cache-control"] == "private, no-cache")
      #expect(mine.cacheStatus?.hasPrefix("hit") == true)
      for reader in [PendingWorld.Reader.other, .anonymous] {
        let others = try await world.get("/api/films/f1", as: reader)
        #expect(others.body == before.body)
        #expect(others["etag"] == before["etag"])
      }
      try await world.takeBack(id)
      let after = try await world.get("/api/films/f1", as: .mine)
      #expect(after.body == before.body)
      #expect(after["etag"] == before["etag"])
      await world.stop()
    }

    @Test("A response with an optimistic update has its own entity tag")
    func overlayHasItsOwnTag() async throws {
      let world = try await PendingWorld.start()
      let before = try #require(try await world.get("/api/films/f1", as: .mine)["etag"])
      let id = try await world.enqueueTitle("Mine", of: "f1")
      func status(_ tag: String, as reader: PendingWorld.Reader) async throws -> Int {
        try await world.get("/api/films/f1", as: reader, ("If-None-Match", tag)).status
      }
      #expect(try await status(before, as: .mine) == 200)
      #expect(try await status(before, as: .other) == 304)
      let pending = try #require(try await world.get("/api/films/f1", as: .mine)["etag"])
      #expect(try await status(pending, as: .mine) == 304)
      #expect(try await status(pending, as: .anonymous) == 200)
      let asked = world.larder.demo.report["Film"].requests
      #expect(try await status(pending, as: .mine) == 304)
      #expect(world.larder.demo.report["Film"].requests == asked)
      try await world.takeBack(id)
      #expect(try await status(pending, as: .mine) == 200)
      #expect(try await status(before, as: .mine) == 304)
      await world.stop()
    }

    /// The overlay must survive a read that asks upstream again or stores nothing.
    @Test(
      "A response that comes straight from upstream shows the optimistic update",
      arguments: ["no-cache", "no-store"])
    func upstreamResponseShowsTheOverlay(directive: String) async throws {
      let world = try await PendingWorld.start()
      let id = try await world.enqueueTitle("Mine", of: "f1")
      for target in ["/api/films/f1", "/api/films/f1/mine"] {
        let mine = try await world.get(target, as: .mine, ("Cache-Control", directive))
        #expect(mine.cacheStatus?.hasPrefix("fwd=request") == true, "\(mine.cacheStatus ?? "")")
        let film = try JSONValue(parsing: mine.body)["data"]?["film"]
        #expect(film?["title"] == "Mine", "\(mine.text)")
        #expect(film?["_pending"] == [.string(id)])
        let others = try await world.get(target, as: .other, ("Cache-Control", directive))
        #expect(!others.text.contains("Mine"))
      }
      await world.stop()
    }

    @Test("A pending deletion leaves lists, which keep their order")
    func pendingDeletionLeavesLists() async throws {
      let world = try await PendingWorld.start()
      let target = "/api/films?limit=5"
      let before = try await world.films(target, as: .mine)
      let gone = try #require(before.dropFirst().first?["id"]?.string)
      let renamed = try #require(before.last?["id"]?.string)
      let deletion = try await world.enqueueDeletion(of: gone)
      let change = try await world.enqueueTitle("Mine", of: renamed)
      let mine = try await world.films(target, as: .mine)
      #expect(mine.map { $0["id"] } == before.filter { $0["id"]?.string != gone }.map { $0["id"] })
      #expect(mine.last?["title"] == "Mine")
      #expect(mine.first?["_pending"] == nil)
      #expect(try await world.films(target, as: .other) == before)
      let single = try await world.get("/api/films/\(gone)", as: .mine)
      #expect(try JSONValue(parsing: single.body)["data"]?["film"] == .null)
      try await world.takeBack(deletion)
      try await world.takeBack(change)
      #expect(try await world.films(target, as: .mine) == before)
      await world.stop()
    }

    @Test("An optimistic update survives a restart")
    func overlaySurvivesARestart() async throws {
      let world = try await PendingWorld.start()
      let id = try await world.enqueueTitle("Mine", of: "f1")
      await world.larder.stopService()
      try await world.larder.startService()
      let mine = try await world.get("/api/films/f1", as: .mine)
      #expect(
        try JSONValue(parsing: mine.body)["data"]?["film"]?["_pending"] == [.string(id)],
        "\(mine.text)")
      #expect(try await !world.get("/api/films/f1", as: .other).text.contains("Mine"))
      await world.stop()
    }

    /// A union has members of several types.
    @Test("A list of a union type shows the optimistic update")
    func unionListShowsTheOverlay() async throws {
      let world = try await PendingWorld.start()
      let film = try await world.json("/v1/entities/Film/f1", as: .mine)
      let word = try #require(film["title"]?.string?.split(separator: " ").last).utf8
        .map { "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
      let target = "/api/search?text=\(word)&limit=50"
      let before = try await world.json(target, as: .mine)["data"]?["search"]?.array ?? []
      #expect(before.contains { $0["id"] == "f1" })
      let id = try await world.enqueueTitle("Mine", of: "f1")
      let after = try await world.json(target, as: .mine)["data"]?["search"]?.array ?? []
      #expect(after.map { $0["id"] } == before.map { $0["id"] })
      #expect(after.first { $0["id"] == "f1" }?["_pending"] == [.string(id)])
      #expect(try await !world.get(target, as: .other).text.contains("_pending"))
      await world.stop()
    }

    /// A list belongs to upstream: an entity that exists only on the device is in none.
    @Test("A pending creation is in no operation's list")
    func pendingCreationIsInNoOperationList() async throws {
      let world = try await PendingWorld.start()
      let before = try await world.get("/api/films?limit=20", as: .mine)
      _ = try await world.enqueueCreation(PendingWorld.temporary, titled: "Draft")
      #expect(try await world.get("/api/films?limit=20", as: .mine).body == before.body)
      let read = try await world.get("/v1/entities/Film/\(PendingWorld.temporary)", as: .mine)
      #expect(try JSONValue(parsing: read.body)["title"] == "Draft")
      #expect(
        try await world.get("/v1/entities/Film/\(PendingWorld.temporary)", as: .other).status == 404
      )
      await world.stop()
    }

    @Test("An optimistic reference shows the stored fields of its target")
    func optimisticReferenceShowsKnownFields() async throws {
      let world = try await PendingWorld.start()
      #expect(try await world.get("/api/films/f2", as: .mine).status == 200)
      func director(_ film: String) async throws -> JSONValue? {
        let answer = try await world.get("/api/films/\(film)", as: .mine)
        return try JSONValue(parsing: answer.body)["data"]?["film"]?["director"]
      }
      let (one, two) = (try await director("f1"), try await director("f2"))
      #expect(one != two)
      let person = try #require(two?["id"]?.string)
      let known = try await world.enqueueUpdate(
        "f1", #"{"director":"\#(person)"}"#, patch: #"{"directorId":"\#(person)"}"#)
      #expect(try await director("f1") == two)
      try await world.takeBack(known)
      // A person that was never fetched cannot be shown in the operation's shape.
      _ = try await world.enqueueUpdate(
        "f1", #"{"director":"nobody","title":"Mine"}"#, patch: #"{"directorId":"nobody"}"#)
      #expect(try await director("f1") == one)
      let film = try await world.get("/api/films/f1", as: .mine)
      #expect(try JSONValue(parsing: film.body)["data"]?["film"]?["title"] == "Mine")
      await world.stop()
    }

    @Test("A mutation that upstream refuses is rolled back")
    func refusedMutationIsRolledBack() async throws {
      let world = try await PendingWorld.start()
      let before = try await world.get("/api/films/f1", as: .mine)
      let id = try await world.enqueueTitle("Mine", of: "f1")
      #expect(try await world.get("/api/films/f1", as: .mine).body != before.body)
      try await world.larder.demo.change { $0.fail = .graphQLErrors }
      #expect(try await world.settled(id) == "rejected")
      let after = try await world.get("/api/films/f1", as: .mine, ("Cache-Control", "max-stale"))
      #expect(after.body == before.body)
      await world.stop()
    }

    @Test("Upstream's response replaces the optimistic value")
    func upstreamResponseReplacesTheOverlay() async throws {
      let world = try await PendingWorld.start()
      _ = try await world.get("/api/films/f1", as: .mine)
      let id = try await world.enqueueUpdate(
        "f1", #"{"title":"Guess"}"#, patch: #"{"title":"Upstream's"}"#)
      #expect(try await world.settled(id) == "applied")
      for reader in [PendingWorld.Reader.mine, .other] {
        let answer = try await world.get("/api/films/f1", as: reader)
        let film = try JSONValue(parsing: answer.body)["data"]?["film"]
        #expect(film?["title"] == "Upstream's", "\(answer.text)")
        #expect(film?["_pending"] == nil)
      }
      await world.stop()
    }

    @Test("A temporary id resolves to the real entity once it is known")
    func temporaryIDResolvesToTheRealEntity() async throws {
      let world = try await PendingWorld.start()
      let temporary = PendingWorld.temporary
      let id = try await world.enqueueCreation(temporary, titled: "Draft")
      #expect(try await world.settled(id) == "applied")
      let entity = try JSONValue(
        parsing: try await world.get("/v1/entities/Film/\(temporary)", as: .mine).body)
      let real = try #require(entity["id"]?.string)
      #expect(real != temporary)
      let answer = try await world.get("/api/films/\(temporary)", as: .mine)
      let film = try JSONValue(parsing: answer.body)["data"]?["film"]
      #expect(film?["id"]?.string == real, "\(answer.text)")
      #expect(film?["title"] == "Draft")
      await world.stop()
    }
  }
}

extension Ways {
  /// Streams send a device its own optimistic updates, and no other caller's.
  struct PendingStreamsTests {
    private static func film(_ event: EventClient.Event?) throws -> JSONValue? {
      try event.flatMap { try JSONValue(parsing: Array($0.data.utf8))["data"]?["film"] }
    }

    @Test(
      "A live query sends an optimistic update to its device alone", arguments: ["Film", "MyFilm"])
    func liveQuerySendsOverlayToItsDevice(operation: String) async throws {
      let world = try await PendingWorld.start()
      let target = "/v1/operations/\(operation)/stream?id=f1"
      let mine = try await world.events(target, as: .mine)
      let other = try await world.events(target, as: .other)
      let before = try #require(try await mine.nextEvent())
      #expect(try await other.nextEvent()?.data == before.data)
      let id = try await world.enqueueTitle("Mine", of: "f1")
      let shown = try #require(try await mine.nextEvent())
      #expect(try Self.film(shown)?["title"] == "Mine")
      #expect(try Self.film(shown)?["_pending"] == [.string(id)])
      #expect(shown.id != before.id)
      // A second update over the first: both must be sent.
      let second = try await world.enqueueTitle("Mine too", of: "f1")
      #expect(try Self.film(try await mine.nextEvent())?["title"] == "Mine too")
      try await world.takeBack(second)
      #expect(try await mine.nextEvent()?.data == shown.data)
      try await world.takeBack(id)
      let after = try #require(try await mine.nextEvent())
      #expect(after.data == before.data)
      #expect(after.id == before.id)
      let renamed = try await world.larder.post(
        "/v1/operations/UpdateFilm", #"{"id":"f1","patch":{"title":"Everybody's"}}"#)
      #expect(renamed.status == 200, "\(renamed.text)")
      guard operation == "Film" else { return await world.stop() }
      // The next event of the other caller.
      #expect(try Self.film(try await other.nextEvent())?["title"] == "Everybody's")
      #expect(try Self.film(try await mine.nextEvent())?["title"] == "Everybody's")
      await world.stop()
    }

    @Test("A stream sends the roll-back of a refused mutation")
    func streamSendsTheRollBack() async throws {
      let world = try await PendingWorld.start()
      let mine = try await world.events("/v1/operations/Film/stream?id=f1", as: .mine)
      let before = try #require(try await mine.nextEvent())
      let id = try await world.enqueueTitle("Mine", of: "f1")
      #expect(try Self.film(try await mine.nextEvent())?["title"] == "Mine")
      try await world.larder.demo.change { $0.fail = .graphQLErrors }
      #expect(try await world.settled(id) == "rejected")
      #expect(try await mine.nextEvent()?.data == before.data)
      await world.stop()
    }

    @Test("The change log reports an optimistic update and its end to its device")
    func changesReportOverlayAndItsEnd() async throws {
      let world = try await PendingWorld.start()
      let cursor = try #require(
        try await world.json("/v1/changes?since=now&types=Film", as: .mine)["cursor"]?.string)
      let others = try #require(
        try await world.json("/v1/changes?since=now&types=Film", as: .other)["cursor"]?.string)
      let deletion = try await world.enqueueDeletion(of: "f1")
      let first = try await world.json("/v1/changes?since=\(cursor)&types=Film", as: .mine)
      #expect(first["changes"]?.array?.count == 1)
      #expect(first["changes"]?[0]?["op"] == "del")
      #expect(first["changes"]?[0]?["id"] == "f1")
      let next = try #require(first["cursor"]?.string)
      try await world.takeBack(deletion)
      let second = try await world.json("/v1/changes?since=\(next)&types=Film", as: .mine)
      #expect(second["changes"]?[0]?["op"] == "put")
      #expect(second["changes"]?[0]?["new"] == true)
      #expect(second["changes"]?[0]?["data"]?["_pending"] == nil)
      let quiet = try await world.json("/v1/changes?since=\(others)&types=Film", as: .other)
      #expect(quiet["changes"] == [])
      await world.stop()
    }
  }
}
