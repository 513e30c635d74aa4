import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// The change log over HTTP: pages, waits, streams, and cursors that cannot be continued.
  struct ChangesTests {
    private static func page(
      _ larder: RunningLarder, _ query: String = "", _ headers: (String, String)...
    ) async throws -> JSONValue {
      let answer = try await larder.request("GET", "/v1/changes?\(query)", headers: headers)
      #expect(answer.status == 200, "\(answer.text)")
      return try JSONValue(parsing: answer.body)
    }

    private static func rename(
      _ larder: RunningLarder, _ film: String, to title: String
    ) async throws {
      let answer = try await larder.post(
        "/v1/operations/UpdateFilm", #"{"id":"\#(film)","patch":{"title":"\#(title)"}}"#)
      #expect(answer.status == 200, "\(answer.text)")
    }

    @Test(
      "A film that changed and was purged between two reads leaves a filter on related entities",
      arguments: ["director.name > ' '", "ANY cast.name > ' '"])
    func purgesLeaveRelatedFilters(filter: String) async throws {
      let larder = try await RunningLarder.start()
      let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")
      _ = try await larder.get("/api/films/f9")
      let query = "types=Film&filter=\(try Self.encoded(filter))"
      let listed = try await larder.get("/v1/entities/Film?filter=\(try Self.encoded(filter))")
      #expect(listed.text.contains("\"f9\""), "\(listed.text)")
      let cursor = try #require(try await Self.page(larder, "\(query)&since=now")["cursor"]?.string)
      let change = try await larder.request(
        "PATCH", "/v1/entities/Film/f9", headers: [admin], body: #"{"tagline":"another"}"#)
      #expect(change.status == 200, "\(change.text)")
      let purge = try await larder.post("/v1/admin/purge", #"{"type":"Film","id":"f9"}"#, admin)
      #expect(purge.status == 200, "\(purge.text)")
      let delta = try await Self.page(larder, "\(query)&since=\(cursor)")
      #expect(delta["changes"]?.array?.map { $0["op"] } == ["del"], "\(delta)")
      #expect(delta["changes"]?[0]?["id"] == "f9")
      await larder.stop()
    }

    private static func encoded(_ text: String) throws -> String {
      try #require(text.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    }

    @Test("A paged snapshot continues as a delta")
    func snapshotContinuesAsADelta() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      var query = "limit=2"
      var known: [String: JSONValue] = [:]
      var pages = 0
      var isComplete = false
      var cursor = ""
      while !isComplete {
        let page = try await Self.page(larder, query)
        cursor = try #require(page["cursor"]?.string)
        isComplete = page["complete"] == true
        query = "limit=2&since=\(cursor)"
        pages += 1
        for change in page["changes"]?.array ?? [] {
          #expect(change["op"] == "put")
          #expect(change["new"] == true)
          known["\(change["type"]?.string ?? "")/\(change["id"]?.string ?? "")"] = change["data"]
        }
      }
      #expect(pages > 1)
      let film = try #require(known["Film/f1"])
      #expect(film["__typename"] == "Film")
      #expect(film["_rev"] != nil)

      try await Self.rename(larder, "f1", to: "Another")
      let delta = try await Self.page(larder, "since=\(cursor)")
      let changes = try #require(delta["changes"]?.array)
      #expect(changes.map { $0["id"] } == ["f1"])
      #expect(changes.first?["new"] == false)
      #expect(changes.first?["data"]?["title"] == "Another")
      #expect(changes.first?["rev"] == changes.first?["data"]?["_rev"])
      #expect(changes.first?["rev"] != film["_rev"])
      #expect(delta["complete"] == true)
      await larder.stop()
    }

    @Test("The sync-cursor of a read continues from that read")
    func cursorOfAReadContinuesFromThere() async throws {
      let larder = try await RunningLarder.start()
      let read = try await larder.get("/api/films/f1")
      #expect(read.status == 200)
      let own = try #require(try await larder.get("/api/films/f1")["sync-cursor"])
      let nothing = try await Self.page(larder, "since=\(own)")
      #expect(nothing["changes"]?.array?.isEmpty == true)
      try await Self.rename(larder, "f1", to: "Another")
      let films = try await Self.page(larder, "since=\(own)&types=Film")
      #expect(films["changes"]?.array?.count == 1)
      await larder.stop()
    }

    @Test("A deletion is reported with its reason")
    func deletionsAreReported() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f2")
      let head = try await Self.page(larder, "since=now&types=Film")
      #expect(head["changes"]?.array?.isEmpty == true)
      #expect(head["complete"] == true)
      let cursor = try #require(head["cursor"]?.string)
      let deletion = try await larder.post("/v1/operations/DeleteFilm", #"{"id":"f2"}"#)
      #expect(deletion.status == 200, "\(deletion.text)")
      let page = try await Self.page(larder, "since=\(cursor)&types=Film")
      let change = page["changes"]?.array?.first
      #expect(change?["op"] == "del")
      #expect(change?["id"] == "f2")
      #expect(change?["reason"] == "deleted")
      await larder.stop()
    }

    @Test("The on parameter selects inserts or updates")
    func onSelectsKindsOfChange() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      func head(_ on: String) async throws -> String {
        try #require(try await Self.page(larder, "since=now&types=Film&on=\(on)")["cursor"]?.string)
      }
      let (inserts, updates) = (try await head("insert"), try await head("update"))
      try await Self.rename(larder, "f1", to: "Another")
      _ = try await larder.get("/api/films/f7")
      func ids(_ on: String, _ cursor: String) async throws -> [JSONValue?] {
        try await Self.page(larder, "since=\(cursor)&types=Film&on=\(on)")["changes"]?.array?
          .map { $0["id"] } ?? []
      }
      #expect(try await ids("update", updates).contains("f1"))
      #expect(try await !ids("update", updates).contains("f7"))
      #expect(try await ids("insert", inserts).contains("f7"))
      #expect(try await !ids("insert", inserts).contains("f1"))
      await larder.stop()
    }

    // MARK: Cursors

    @Test("A cursor that cannot be continued is refused with its reason")
    func unusableCursorsAreRefused() async throws {
      let larder = try await RunningLarder.start()
      let ada = ("Authorization", "Bearer user-ada")
      _ = try await larder.get("/api/me", ada)
      let open = try #require(try await Self.page(larder, "since=now")["cursor"]?.string)
      let hers = try #require(try await Self.page(larder, "since=now", ada)["cursor"]?.string)
      let bob = ("Authorization", "Bearer user-bob")
      #expect(try await larder.get("/v1/changes?since=\(hers)", bob).status == 403)
      #expect(try await larder.get("/v1/changes?since=\(hers)").status == 403)
      #expect(try await larder.get("/v1/changes?since=\(open)x").status == 400)
      #expect(try await larder.get("/v1/changes?since=\(open)&types=Film").status == 400)
      #expect(try await larder.get("/v1/changes?limit=0&on=x&nope=1").status == 400)
      let scope = try await larder.get("/v1/changes?since=\(open)", ada)
      #expect(scope.status == 410)
      #expect(scope["cache-control"] == "no-store")
      let problem = try JSONValue(parsing: scope.body)
      #expect(problem["code"] == "cursor_gone")
      #expect(problem["reason"] == "scope")
      #expect(problem["restart"] == "/v1/changes")
      await larder.stop()
    }

    /// A restored backup has none of the changes made after it.
    @Test("A cursor from before a restored backup is 410")
    func restoredBackupExpiresNewerCursors() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")
      let backup = try await larder.post("/v1/admin/backup", #"{"name":"early"}"#, admin)
      #expect(backup.status == 201)
      await larder.stopService()
      try await larder.startService()
      _ = try await larder.get("/api/films/f2")
      let cursor = try #require(try await Self.page(larder, "since=now")["cursor"]?.string)
      await larder.stopService()
      let data = "\(larder.folder)/data"
      for ending in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: "\(data)/larder.sqlite\(ending)")
      }
      try FileManager.default.copyItem(
        atPath: "\(data)/backups/early.sqlite", toPath: "\(data)/larder.sqlite")
      try await larder.startService()
      let gone = try await larder.get("/v1/changes?since=\(cursor)")
      #expect(gone.status == 410)
      let problem = try JSONValue(parsing: gone.body)
      #expect(problem["code"] == "cursor_gone")
      #expect(problem["reason"] == "segment")
      #expect(problem["restart"] == "/v1/changes")
      let events = try await EventClient.open(
        port: larder.port, "/v1/changes/stream?since=\(cursor)")
      #expect(events.status == 200)
      let reset = try #require(try await events.nextEvent())
      #expect(reset.event == "reset")
      #expect(try JSONValue(parsing: Array(reset.data.utf8))["reason"] == "segment")
      let first = try #require(try await events.nextEvent())
      #expect(first.event == "change")
      await larder.stop()
    }

    @Test("Cursors survive a restart")
    func cursorsSurviveARestart() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      let cursor = try #require(try await Self.page(larder, "since=now")["cursor"]?.string)
      await larder.stopService()
      try await larder.startService()
      #expect(try await Self.page(larder, "since=\(cursor)")["changes"]?.array?.isEmpty == true)
      try await Self.rename(larder, "f1", to: "Another")
      let page = try await Self.page(larder, "since=\(cursor)&limit=1")
      #expect(page["changes"]?.array?.first?["data"]?["title"] == "Another")
      await larder.stop()
    }

    @Test("A user's own changes are visible to that user alone")
    func changesArePrivateToTheirUser() async throws {
      let larder = try await RunningLarder.start()
      let ada = ("Authorization", "Bearer user-ada")
      let hers = try #require(try await Self.page(larder, "since=now", ada)["cursor"]?.string)
      let open = try #require(try await Self.page(larder, "since=now")["cursor"]?.string)
      _ = try await larder.get("/api/me", ada)
      let mine = try await Self.page(larder, "since=\(hers)", ada)
      #expect(mine["changes"]?.array?.isEmpty == false)
      let others = try await Self.page(larder, "since=\(open)")
      #expect(others["changes"]?.array?.isEmpty == true)
      await larder.stop()
    }

    // MARK: Waiting

    /// The waiting request was read before: others sent after it already have their responses.
    @Test("A commit wakes a waiting request for changes")
    func commitWakesAWaitingPage() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      let cursor = try #require(
        try await Self.page(larder, "since=now&types=Film")["cursor"]?.string)
      let waiting = WaitingRequest(try RawClient(port: larder.port, timeoutSeconds: 50))
      try waiting.send("/v1/changes?since=\(cursor)&types=Film&wait=40")
      for _ in 0..<20 { #expect(try await larder.get("/healthz").status == 200) }
      #expect(waiting.isHeld)
      let start = ContinuousClock.now
      try await Self.rename(larder, "f1", to: "Another")
      let answer = try await onOwnThread { try waiting.answer() }
      #expect(
        ContinuousClock.now - start < .seconds(20), "a commit woke it, not the end of its wait")
      let page = try JSONValue(parsing: answer.body)
      #expect(page["changes"]?.array?.first?["data"]?["title"] == "Another")
      await larder.stop()
    }

    @Test("A wait without changes ends with an empty page")
    func waitEndsEmpty() async throws {
      let larder = try await RunningLarder.start()
      let cursor = try #require(try await Self.page(larder, "since=now")["cursor"]?.string)
      let start = ContinuousClock.now
      let page = try await Self.page(larder, "since=\(cursor)&wait=0.3")
      #expect(page["changes"]?.array?.isEmpty == true)
      #expect(page["complete"] == true)
      #expect(ContinuousClock.now - start >= .milliseconds(300))
      await larder.stop()
    }
  }
}

/// A request whose response comes later.
// SAFETY: its methods run one after the other, each awaited by the one task that holds it.
private final class WaitingRequest: @unchecked Sendable {
  private let client: RawClient

  init(_ client: RawClient) { self.client = client }

  func send(_ target: String) throws {
    try client.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
  }

  var isHeld: Bool { client.isQuiet() }

  func answer() throws -> RawResponse { try client.response() }
}
