import Cryptography
import DemoUpstream
import Foundation
import LosslessJSON
import Model
import TestSupport
import Testing

extension Ways {
  /// Data folders that earlier builds wrote, each by `Scripts/data-fixture`: this build goes on with them.
  struct DataFolderTests {
    /// By the commit that wrote it; a new one for each change of the database's form.
    static let folders = ["1506e86", "93a429e", "46099db"]
    /// Those with messages of webhooks, and with a queue that waits for a credential.
    static let foldersWithHooks = ["93a429e", "46099db"]
    /// Those with tokens that only read, with idempotency keys of local writes, and with a queued write.
    static let foldersWithWriteKeys = ["46099db"]
    // As in the script.
    private static let hookKey = Array("a key of thirty-two bytes exactly".utf8.prefix(32))
    private static let hookSecret = "0123456789abcdef"

    struct Written {
      let larder: RunningLarder
      let facts: JSONValue
      let device: (String, String)
      let user = ("Authorization", "Bearer user-fixture")

      func text(_ name: String) throws -> String { try #require(facts[name]?.string) }

      /// How long ago it was written: some things are kept for a year at most.
      var age: Duration {
        let written = facts["written"]?.number?.double ?? 0
        return .seconds(Date().timeIntervalSince1970 - written)
      }
    }

    /// The example's operations, whose responses can be used for as long as the folders exist.
    private static func operations() throws -> [String: String] {
      let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Examples/films/operations").standardizedFileURL
      var texts: [String: String] = [:]
      let files = try FileManager.default.contentsOfDirectory(
        at: folder, includingPropertiesForKeys: nil)
      for file in files where file.pathExtension == "graphql" {
        texts[file.lastPathComponent] = try String(contentsOf: file, encoding: .utf8)
          .replacing(#/staleIfError: \d+/#, with: "staleIfError: \(365 * 86_400)")
      }
      return texts
    }

    static func start(_ name: String, upstreamIsUp: Bool) async throws -> Written {
      let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Fixtures/data/\(name)").path
      let facts = try JSONValue(
        parsing: Array(try Data(contentsOf: URL(filePath: "\(folder)/facts.json"))))
      let larder = try await RunningLarder.start(
        settings: """
          local: \(folder)/local.graphql
          accounts: {passwordCost: 10, signUp: open, refreshLifetime: 365d}
          devices: {expiry: 3650d, register: open}
          cache: {staleIfError: 365d}
          queue: {probe: 1s}
          files: {buckets: {pics: {access: public-read}}}
          hooks:
            in:
              cms: {format: plain, secret: whsec_\(Base64.encode(hookKey))}
              films: {format: hasura, secret: \(hookSecret), \
          tables: {film: {type: Film, columns: {film_id: id}}}}
          """,
        operations: operations(), upstreamTimeout: "2s",
        upstream: upstreamIsUp ? nil : "http://127.0.0.1:9/graphql",
        data: "\(folder)/data")
      return Written(
        larder: larder, facts: facts,
        device: ("Device-Token", try #require(facts["deviceToken"]?.string)))
    }

    static func json(_ response: RawResponse) throws -> JSONValue {
      try JSONValue(parsing: response.body)
    }

    @Test("A device keeps its rows, their revisions and its place", arguments: folders)
    func rowsGoOn(name: String) async throws {
      let written = try await Self.start(name, upstreamIsUp: true)
      let (larder, device) = (written.larder, written.device)
      let row = try await larder.get("/v1/entities/Note/n1", device)
      #expect(row.status == 200, "\(row.text)")
      #expect(row.text == (try written.text("note")))
      #expect(try await larder.get("/v1/entities/Note/n2", device).status == 404)
      #expect(try await larder.get("/v1/entities/Note/n1").status != 200)
      let notes = try await larder.get("/v1/entities/Book/b1/notes?order=stars", device)
      #expect(try Self.json(notes)["items"]?.array?.count == 2, "\(notes.text)")
      let changed = try await larder.request(
        "PATCH", "/v1/entities/Note/n1",
        headers: [device, ("Content-Type", "application/merge-patch+json")],
        body: #"{"stars":5}"#)
      #expect(changed.status == 200, "\(changed.text)")
      await larder.stop()
    }

    @Test("A cursor is continued with what came after it", arguments: folders)
    func cursorsGoOn(name: String) async throws {
      let written = try await Self.start(name, upstreamIsUp: true)
      let cursor = try written.text("cursor")
      let page = try await written.larder.get("/v1/changes?since=\(cursor)", written.device)
      // Deletions are kept for 30 days; a cursor from before is answered with 410.
      guard written.age < .seconds(29 * 86_400) || page.status != 410 else {
        return await written.larder.stop()
      }
      #expect(page.status == 200, "\(page.text)")
      let kinds = try Self.json(page)["changes"]?.array?.compactMap { $0["type"]?.string } ?? []
      #expect(kinds.contains("$mutation"), "\(page.text)")
      await written.larder.stop()
    }

    @Test("A settled mutation keeps its outcome, and a queued one is sent", arguments: folders)
    func mutationsGoOn(name: String) async throws {
      let written = try await Self.start(name, upstreamIsUp: true)
      let (larder, device) = (written.larder, written.device)
      let settled = try await larder.get(
        "/v1/mutations/\(try written.text("settled"))", device, written.user)
      #expect(try Self.json(settled)["state"] == "applied", "\(settled.text)")
      let queued = try await eventually {
        try await larder.get(
          "/v1/mutations/\(try written.text("queued"))?wait=10", device, written.user)
      } until: {
        $0.text.contains("applied")
      }
      #expect(try Self.json(queued)["state"] == "applied", "\(queued.text)")
      #expect(larder.demo.report["RateFilm"].executed == 1)
      // The same key is still the same mutation.
      let again = try await larder.post(
        "/v1/mutations",
        #"{"operation":"RateFilm","mode":"steady","variables":{"id":"f2","stars":5}}"#, device,
        written.user, ("Idempotency-Key", "\"fixture-2\""))
      #expect(try Self.json(again)["id"]?.string == written.facts["queued"]?.string)
      #expect(larder.demo.report["RateFilm"].executed == 1)
      await larder.stop()
    }

    // The first message after seven days removes the ids of older ones, so each test sends the one that
    // depends on them first.

    @Test(
      "A message that was received before the restart is recognised", arguments: foldersWithHooks)
    func messagesAreRecognised(name: String) async throws {
      let written = try await Self.start(name, upstreamIsUp: false)
      let larder = written.larder
      let id = try written.text("hookMessage")
      let now = "\(Int(Date().timeIntervalSince1970))"
      let body = #"{"updates":[{"__typename":"Film","id":"f5","title":"Replayed"}]}"#
      let code = HMAC<SHA256>.authenticationCode(
        for: Array("\(id).\(now).\(body)".utf8), using: SymmetricKey(data: Self.hookKey))
      let replay = try await larder.post(
        "/v1/hooks/cms", body, ("webhook-id", id), ("webhook-timestamp", now),
        ("webhook-signature", "v1,\(Base64.encode(Array(code)))"))
      #expect(replay.status == 200, "\(replay.text)")
      #expect(try Self.json(replay)["status"] == "repeated", "\(replay.text)")
      let film = try await larder.get("/v1/entities/Film/f5")
      #expect(film.text == (try written.text("reported")))
      await larder.stop()
    }

    @Test("An event that is older than the last one received is late", arguments: foldersWithHooks)
    func eventsKeepTheirOrder(name: String) async throws {
      let written = try await Self.start(name, upstreamIsUp: false)
      let larder = written.larder
      func send(_ id: String, at seconds: Double, title: String) async throws -> RawResponse {
        let moment = Date(timeIntervalSince1970: seconds)
          .ISO8601Format(.iso8601(timeZone: .gmt, includingFractionalSeconds: true))
        return try await larder.post(
          "/v1/hooks/films",
          #"{"id":"\#(id)","created_at":"\#(moment)","table":{"schema":"public","name":"film"},"#
            + #""event":{"op":"UPDATE","data":{"old":null,"new":{"film_id":"x1","#
            + #""title":"\#(title)"}}}}"#, ("webhook-secret", Self.hookSecret))
      }
      let last = try #require(written.facts["written"]?.number?.double)
      let late = try await send("later-1", at: last - 60, title: "Late")
      #expect(try Self.json(late)["outdated"] == 1, "\(late.text)")
      let film = try await larder.get("/v1/entities/Film/x1")
      #expect(film.text == (try written.text("triggered")))
      let next = try await send("later-2", at: last + 60, title: "Next")
      #expect(try Self.json(next)["written"] == 1, "\(next.text)")
      #expect(try Self.json(try await larder.get("/v1/entities/Film/x1"))["title"] == "Next")
      await larder.stop()
    }

    @Test(
      "A queue whose credential upstream refused waits on, and is sent with another one",
      arguments: foldersWithHooks)
    func refusedCredentialsStayRefused(name: String) async throws {
      let written = try await Self.start(name, upstreamIsUp: true)
      let larder = written.larder
      let device = ("Device-Token", try written.text("refusedDeviceToken"))
      let path = "/v1/mutations/\(try written.text("refused"))"
      // A start does not know which credential was refused: any that is presented is tried.
      #expect(
        try Self.json(try await larder.get("/v1/queue", device))
          == ["pending": 1, "parked": 0, "state": "auth_required"])
      #expect(try Self.json(try await larder.get(path, device))["state"] == "queued")
      #expect(larder.demo.report["UpdateFilm"].requests == 0)
      _ = try await larder.get("/v1/queue", device, written.user)
      let sent = try await eventually {
        try await larder.get("\(path)?wait=10", device, written.user)
      } until: {
        $0.text.contains("applied")
      }
      #expect(try Self.json(sent)["state"] == "applied", "\(sent.text)")
      #expect(larder.demo.report["UpdateFilm"].executed == 1)
      await larder.stop()
    }

    @Test("An account signs in, and its session goes on", arguments: folders)
    func accountsGoOn(name: String) async throws {
      let written = try await Self.start(name, upstreamIsUp: true)
      let larder = written.larder
      let signedIn = try await larder.post(
        "/v1/auth/sign-in",
        #"{"email":"ada@example.com","password":"correct horse battery"}"#)
      #expect(signedIn.status == 200, "\(signedIn.text)")
      #expect(try Self.json(signedIn)["userId"] == written.facts["userId"])
      let wrong = try await larder.post(
        "/v1/auth/sign-in", #"{"email":"ada@example.com","password":"correct horse"}"#)
      #expect(wrong.status == 401)
      let refreshed = try await larder.post(
        "/v1/auth/refresh", #"{"refreshToken":"\#(try written.text("refreshToken"))"}"#)
      #expect(refreshed.status == (written.age < .seconds(364 * 86_400) ? 200 : 401))
      await larder.stop()
    }

    @Test("Files, entities and cached responses are served without upstream", arguments: folders)
    func responsesGoOn(name: String) async throws {
      let written = try await Self.start(name, upstreamIsUp: false)
      let larder = written.larder
      let file = try await larder.get("/v1/files/pics/a/one.txt")
      #expect(file.status == 200 && file.text == "one file")
      #expect(file["etag"] == (try written.text("fileTag")))
      let entity = try await larder.get("/v1/entities/Film/f1")
      #expect(entity.status == 200, "\(entity.text)")
      #expect(entity.text == (try written.text("entity")))
      if written.age < .seconds(364 * 86_400) {
        let film = try await larder.get("/api/films/f1")
        #expect(film.status == 200, "\(film.text)")
        #expect(film.text == (try written.text("film")))
        let own = try await larder.get("/api/me", written.user)
        #expect(own.text == (try written.text("me")))
        #expect(try await larder.get("/api/me").text != own.text)
      }
      await larder.stop()
    }
  }
}
