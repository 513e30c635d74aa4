import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

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
