import Cryptography
import DemoUpstream
import Foundation
import LosslessJSON
import Model
import TestSupport
import Testing

extension Ways {
  /// Webhooks of upstream over sockets.
  struct HookTests {
    private static let secret = "0123456789abcdef"
    private static let key = Array("a key of thirty-two bytes exactly".utf8.prefix(32))
    private static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")
    private static let settings = """
      hooks:
        in:
          films:
            format: hasura
            secret: \(secret)
            tables:
              film:
                type: Film
                columns: {film_id: id, director_id: director, my_stars: myStars}
                invalidates: [Films]
          cms:
            format: plain
            secret: whsec_\(Base64.encode(key))
      """

    private static func start() async throws -> RunningLarder {
      let larder = try await RunningLarder.start(settings: settings)
      #expect(try await larder.get("/api/films/f1").status == 200)
      #expect(try await larder.get("/api/films?limit=5").status == 200)
      return larder
    }

    private static func json(_ response: RawResponse) throws -> JSONValue {
      try JSONValue(parsing: response.body)
    }

    private static func plain(
      _ larder: RunningLarder, _ body: String, id: String = UUID().uuidString,
      ago seconds: Int64 = 0, key: [UInt8] = key
    ) async throws -> RawResponse {
      let timestamp = "\(Int64(Date().timeIntervalSince1970) - seconds)"
      let code = HMAC<SHA256>.authenticationCode(
        for: Array("\(id).\(timestamp).\(body)".utf8), using: SymmetricKey(data: key))
      return try await larder.post(
        "/v1/hooks/cms", body, ("webhook-id", id), ("webhook-timestamp", timestamp),
        ("webhook-signature", "v1,\(Base64.encode(Array(code)))"))
    }

    private static func event(
      _ operation: String, _ row: String, id: String = UUID().uuidString, isOld: Bool = false,
      at moment: Date = Date().addingTimeInterval(1)
    ) -> String {
      let data = isOld ? #""old":\#(row),"new":null"# : #""old":null,"new":\#(row)"#
      let created = moment.ISO8601Format(.iso8601(timeZone: .gmt, includingFractionalSeconds: true))
      return #"{"id":"\#(id)","created_at":"\#(created)","trigger":{"name":"films"},"#
        + #""table":{"schema":"public","name":"film"},"#
        + #""event":{"op":"\#(operation)","session_variables":null,"data":{\#(data)}}}"#
    }

    private static func hasura(
      _ larder: RunningLarder, _ body: String, secret: String = secret
    ) async throws -> RawResponse {
      try await larder.post("/v1/hooks/films", body, ("webhook-secret", secret))
    }

    @Test("What a webhook brings shows in reads, deltas and live queries at once")
    func messagesShowEverywhere() async throws {
      let larder = try await Self.start()
      let cursor = try #require(
        Self.json(try await larder.get("/v1/changes?since=now"))["cursor"]?.string)
      let requests = larder.demo.report.recent.count
      let changed = try await Self.plain(
        larder,
        #"{"updates":[{"__typename":"Film","id":"f1","title":"Pushed"}]}"#)
      #expect(changed.status == 200, "\(changed.text)")
      #expect(try Self.json(changed)["status"] == "applied")
      let film = try Self.json(try await larder.get("/api/films/f1"))
      #expect(film["data"]?["film"]?["title"] == "Pushed")
      #expect(larder.demo.report.recent.count == requests)
      let page = try Self.json(try await larder.get("/v1/changes?since=\(cursor)"))
      #expect(page["changes"]?.array?.count == 1, "\(page.text)")
      #expect(page["changes"]?[0]?["data"]?["title"] == "Pushed")
      let deleted = try await Self.plain(larder, #"{"deletes":["Film:f1"]}"#)
      #expect(deleted.status == 200, "\(deleted.text)")
      #expect(try await larder.get("/v1/entities/Film/f1").status == 404)
      await larder.stop()
    }

    @Test("Rows of Hasura's event triggers are stored, and lists are fetched again")
    func rowsAreStored() async throws {
      let larder = try await Self.start()
      let row = #"{"film_id":"f1","title":"Triggered","year":1999,"my_stars":5,"other":1}"#
      let updated = try await Self.hasura(larder, Self.event("UPDATE", row))
      #expect(try Self.json(updated)["written"] == 1, "\(updated.text)")
      let film = try Self.json(try await larder.get("/v1/entities/Film/f1"))
      #expect(film["title"] == "Triggered" && film["year"] == 1999, "\(film.text)")
      // The caller's own stars are of no concern to other callers.
      #expect(film["myStars"] == nil, "\(film.text)")
      let requests = larder.demo.report.recent.count
      #expect(try await larder.get("/api/films?limit=5").cacheStatus?.hasPrefix("hit") == true)
      let inserted = try await Self.hasura(
        larder, Self.event("INSERT", #"{"film_id":"x1","title":"New"}"#))
      #expect(inserted.status == 200, "\(inserted.text)")
      let list = try await larder.get("/api/films?limit=5")
      #expect(list.cacheStatus?.hasPrefix("hit; ttl=") != true, "\(list.cacheStatus ?? "")")
      #expect(larder.demo.report.recent.count > requests)
      let gone = try await Self.hasura(
        larder, Self.event("DELETE", #"{"film_id":"x1"}"#, isOld: true))
      #expect(try Self.json(gone)["deleted"] == 1, "\(gone.text)")
      #expect(try await larder.get("/v1/entities/Film/x1").status == 404)
      await larder.stop()
    }

    @Test("Replays are ignored across a restart; forged, stale and late messages change nothing")
    func replaysAreIgnored() async throws {
      let larder = try await Self.start()
      let body = #"{"updates":[{"__typename":"Film","id":"f1","title":"First"}]}"#
      let other = #"{"updates":[{"__typename":"Film","id":"f1","title":"Forged"}]}"#
      #expect(try await Self.plain(larder, body, id: "m1").status == 200)
      let replay = try await Self.plain(larder, other, id: "m1")
      #expect(try Self.json(replay)["status"] == "repeated", "\(replay.text)")
      let forged = try await Self.plain(larder, other, key: Array(repeating: 1, count: 32))
      #expect(forged.status == 401)
      #expect(try Self.json(forged)["code"] == "webhook_unauthenticated")
      for seconds in [310, -310] as [Int64] {
        let stale = try await Self.plain(larder, other, ago: seconds)
        #expect(stale.status == 401)
        #expect(try Self.json(stale)["code"] == "webhook_expired")
      }
      let newer = Self.event("UPDATE", #"{"film_id":"f1","title":"Second"}"#, id: "e2")
      #expect(try await Self.hasura(larder, newer).status == 200)
      await larder.stopService()
      try await larder.startService()
      #expect(try Self.json(try await Self.plain(larder, other, id: "m1"))["status"] == "repeated")
      #expect(try Self.json(try await Self.hasura(larder, newer))["status"] == "repeated")
      let late = try await Self.hasura(
        larder,
        Self.event(
          "UPDATE", #"{"film_id":"f1","title":"Older"}"#, at: Date().addingTimeInterval(-60)))
      #expect(try Self.json(late)["outdated"] == 1, "\(late.text)")
      let film = try Self.json(try await larder.get("/v1/entities/Film/f1"))
      #expect(film["title"] == "Second")
      await larder.stop()
    }

    @Test("A signed-in caller's copy is fetched again")
    func ownCopiesAreFetchedAgain() async throws {
      let larder = try await Self.start()
      let user = ("Authorization", "Bearer user-ada")
      #expect(try await larder.get("/api/films/f1/mine", user).status == 200)
      #expect(
        try await larder.get("/api/films/f1/mine", user).cacheStatus?.hasPrefix("hit; ttl=")
          == true)
      let requests = larder.demo.report.recent.count
      #expect(
        try await Self.plain(
          larder, #"{"updates":[{"__typename":"Film","id":"f1","myStars":4}]}"#
        ).status == 200)
      _ = try await eventually {
        _ = try await larder.get("/api/films/f1/mine", user)
        return larder.demo.report.recent.count
      } until: {
        $0 > requests
      }
      #expect(larder.demo.report.recent.count > requests)
      await larder.stop()
    }

    @Test("Whatever is wrong with a request is answered with a problem document")
    func faultsAreProblems() async throws {
      let larder = try await Self.start()
      let good = Self.event("INSERT", #"{"film_id":"x1","title":"New"}"#)
      let json = ("Content-Type", "application/json")
      let secret = ("webhook-secret", Self.secret)
      for (method, path, headers, body, status, code) in [
        ("POST", "/v1/hooks/none", [json, secret], good, 404, "not_found"),
        ("POST", "/v1/hooks/films", [json], good, 401, "webhook_unauthenticated"),
        (
          "POST", "/v1/hooks/films", [json, ("webhook-secret", "x")], good, 401,
          "webhook_unauthenticated"
        ),
        ("POST", "/v1/hooks/films", [json, secret, secret], good, 401, "webhook_unauthenticated"),
        ("POST", "/v1/hooks/cms", [json, secret], good, 401, "webhook_unauthenticated"),
        ("GET", "/v1/hooks/films", [secret], nil, 405, "method_not_allowed"),
        ("PUT", "/v1/hooks/films", [json, secret], good, 405, "method_not_allowed"),
        (
          "POST", "/v1/hooks/films", [("Content-Type", "text/plain"), secret], good, 415,
          "unsupported_media_type"
        ),
        ("POST", "/v1/hooks/films", [json, secret], "{", 400, "malformed_request"),
        ("POST", "/v1/hooks/films", [json, secret], "[]", 400, "malformed_request"),
        ("POST", "/v1/hooks/films", [json, secret], "{}", 422, "invalid_webhook"),
        (
          "POST", "/v1/hooks/films", [json, secret],
          "{\"x\":\"" + String(repeating: "x", count: 1 << 20) + "\"}", 413, "body_too_large"
        ),
        ("GET", "/v1/admin/hooks", [], nil, 401, "unauthenticated"),
      ] as [(String, String, [(String, String)], String?, Int, String)] {
        let answer = try await larder.request(method, path, headers: headers, body: body)
        #expect(answer.status == status, "\(method) \(path): \(answer.text)")
        #expect(try Self.json(answer)["code"]?.string == code, "\(method) \(path): \(answer.text)")
      }
      let refused = try await larder.request(
        "POST", "/v1/hooks/films", headers: [json], body: good)
      #expect(refused["www-authenticate"] == #"Webhook realm="larder""#)
      let faults = try await Self.hasura(
        larder, Self.event("INSERT", #"{"film_id":"x1","title":7,"year":"x"}"#))
      #expect(
        try Self.json(faults)["errors"]?.array?.compactMap { $0["pointer"]?.string }
          == ["/event/data/new/title", "/event/data/new/year"], "\(faults.text)")
      #expect(try await larder.get("/v1/entities/Film/x1").status == 404)
      let list = try Self.json(try await larder.get("/v1/admin/hooks", Self.admin))
      #expect(list["items"]?.array?.compactMap { $0["name"]?.string } == ["cms", "films"])
      let messages = list["items"]?[1]?["messages"]
      #expect(messages?["refused"] == 4 && messages?["applied"] == 0, "\(list.text)")
      #expect(!list.text.contains(Self.secret))
      await larder.stop()
    }

    @Test("Thousands of messages on several connections are each stored once")
    func manyMessagesAreStored() async throws {
      let larder = try await Self.start()
      let port = larder.port
      let perConnection = 300
      let statuses = try await withThrowingTaskGroup(of: [String].self) { group in
        for connection in 0..<6 {
          group.addTask {
            try await onOwnThread {
              let client = try RawClient(port: port)
              // Every message is sent by two connections.
              return try (0..<perConnection).map { number in
                let name = "\(connection / 2)-\(number)"
                let row = #"{"film_id":"m\#(name)","title":"T\#(name)"}"#
                let answer = try client.request(
                  "POST", "/v1/hooks/films",
                  headers: [
                    ("Content-Type", "application/json"), ("webhook-secret", Self.secret),
                  ], body: Self.event("INSERT", row, id: "e\(name)"))
                return try JSONValue(parsing: answer.body)["status"]?.string ?? "\(answer.status)"
              }
            }
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      #expect(statuses.filter { $0 == "applied" }.count == 3 * perConnection)
      #expect(statuses.filter { $0 == "repeated" }.count == 3 * perConnection)
      let count = try await larder.request("HEAD", "/v1/entities/Film?filter=id%20LIKE%20'm%25'")
      #expect(count["total-count"] == "\(3 * perConnection)")
      for name in ["0-0", "1-150", "2-299"] {
        #expect(try await larder.get("/v1/entities/Film/m\(name)").status == 200)
      }
      await larder.stop()
    }
  }
}
