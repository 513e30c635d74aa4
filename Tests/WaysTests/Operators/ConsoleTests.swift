import Composition
import Gateway
import Logging
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// What operators see in the console, over `/v1/admin`.
  struct ConsoleTests {
    private static let viewer = ("Authorization", "Bearer \(RunningLarder.viewerToken)")
    private static let admin = OperatingTests.admin

    private static func json(
      _ larder: RunningLarder, _ target: String
    ) async throws -> JSONValue {
      let answer = try await larder.get(target, viewer)
      #expect(answer.status == 200, "\(target): \(answer.text)")
      #expect(answer["cache-control"] == "no-store")
      return try JSONValue(parsing: answer.body)
    }

    private static func code(_ answer: RawResponse) -> String? {
      (try? JSONValue(parsing: answer.body))?["code"]?.string
    }

    @Test("Devices are listed in pages, by user too, without their push tokens")
    func listsDevices() async throws {
      let larder = try await RunningLarder.start()
      let user = try await AccountTests.signUp(larder)
      var ids: [String] = []
      for number in 0..<3 {
        let headers = number == 0 ? [user.bearer] : []
        let answer = try await larder.request(
          "POST", "/v1/devices", headers: headers,
          body: #"{"platform":"ios","name":"n\#(number)","pushToken":"secret-\#(number)"}"#)
        ids.append(try #require(try JSONValue(parsing: answer.body)["id"]?.string))
      }
      var found: [JSONValue] = []
      var target: String? = "/v1/admin/devices?limit=2"
      while let next = target {
        let page = try await Self.json(larder, next)
        #expect(!page.text.contains("secret-"))
        found += page["items"]?.array ?? []
        target = page["next"]?.string.map { "/v1/admin/devices?limit=2&after=\($0)" }
      }
      #expect(found.compactMap { $0["id"]?.string } == ids.sorted())
      #expect(found.allSatisfy { $0["hasPushToken"] == true && $0["access"] == "full" })
      let own = try await Self.json(larder, "/v1/admin/devices?user=\(user.user)")
      #expect(own["items"]?.array?.count == 1 && own["items"]?[0]?["id"]?.string == ids[0])
      let one = try await Self.json(larder, "/v1/admin/devices/\(ids[1])")
      #expect(one["name"] == "n1" && one["userId"] == nil)
      #expect(try await larder.get("/v1/admin/devices/d_none", Self.viewer).status == 404)
      let bad = try await larder.get("/v1/admin/devices?limit=0&x=1&limit=2", Self.viewer)
      #expect(bad.status == 400)
      #expect(try JSONValue(parsing: bad.body)["errors"]?.array?.count == 3, "\(bad.text)")
      await larder.stop()
    }

    @Test("Users are found by a part of their address, and signed out everywhere")
    func listsUsers() async throws {
      let larder = try await RunningLarder.start(settings: "accounts: {passwordCost: 10}")
      let ada = try await AccountTests.signUp(larder, "ada")
      _ = try await AccountTests.signUp(larder, "eve")
      let all = try await Self.json(larder, "/v1/admin/users")
      #expect(all["items"]?.array?.count == 2)
      #expect(!all.text.contains("scrypt") && !all.text.contains("password"))
      let found = try await Self.json(larder, "/v1/admin/users?email=ADA")
      let item = try #require(found["items"]?.array?.first)
      #expect(found["items"]?.array?.count == 1 && item["id"]?.string == ada.user)
      #expect(item["sessions"] == 1 && item["lastUsedAt"]?.int64 ?? 0 > 0)
      let target = "/v1/admin/users/\(ada.user)/sign-out"
      let refused = try await larder.request("POST", target, headers: [Self.viewer])
      #expect(Self.code(refused) == "read_only")
      let out = try await larder.request("POST", target, headers: [Self.admin])
      #expect(out.status == 200 && out.text == #"{"ended":1}"#)
      let shown = try await Self.json(larder, "/v1/admin/users/\(ada.user)")
      #expect(shown["sessions"] == 0 && shown["lastUsedAt"] == nil)
      let missing = try await larder.request(
        "POST", "/v1/admin/users/none/sign-out", headers: [Self.admin])
      #expect(missing.status == 404)
      await larder.stop()
    }

    @Test("An entity's earlier states are shown from when a client observes its type with a filter")
    func showsHistory() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      func history() async throws -> JSONValue? {
        try await Self.json(larder, "/v1/admin/entities/Film/f1")["history"]
      }
      func correct(_ title: String) async throws {
        let answer = try await larder.request(
          "PATCH", "/v1/entities/Film/f1", headers: [Self.admin], body: #"{"title":"\#(title)"}"#)
        #expect(answer.status == 200, "\(answer.text)")
      }
      try await correct("before")
      #expect(try await history() == ["states": []])
      let observed = try await larder.get("/v1/changes?types=Film&filter=year%20%3E%201800")
      #expect(observed.status == 200, "\(observed.text)")
      try await correct("first")
      try await correct("second")
      let found = try #require(try await history())
      #expect(found["recordedSince"]?.int64 != nil, "\(found)")
      let states = try #require(found["states"]?.array)
      let titles = states.map { state in
        state["fields"]?.array?.first { $0["name"] == "title" }?["value"]
      }
      #expect(titles == ["first", "before"], "\(found)")
      #expect(states.allSatisfy { $0["scope"] == "public" })
      #expect(states[0]["since"] == states[1]["until"])
      await larder.stop()
    }

    @Test("An entity's copies are shown in every scope, with the operation of each field")
    func showsProvenance() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      let whole = try await Self.json(larder, "/v1/admin/entities/Film/f1")
      let copy = try #require(whole["copies"]?.array?.first)
      #expect(copy["scope"] == "public" && copy["deleted"] == false && copy["due"] == false)
      #expect(copy["receivedAt"]?.int64 ?? 0 > 0)
      let fields = try #require(copy["fields"]?.array)
      let title = try #require(fields.first { $0["name"] == "title" })
      #expect(title["value"]?.string != nil && title["operation"] == "Film", "\(title)")
      let purged = try await larder.post("/v1/admin/purge", #"{"type":"Film"}"#, Self.admin)
      #expect(purged.status == 200)
      let gone = try await larder.get("/v1/admin/entities/Film/f1", Self.viewer)
      let isDue = (try? JSONValue(parsing: gone.body))?["copies"]?[0]?["due"] == true
      #expect(gone.status == 404 || isDue, "\(gone.text)")
      for id in ["Film/none", "Nothing/f1"] {
        #expect(try await larder.get("/v1/admin/entities/\(id)", Self.viewer).status == 404)
      }
      await larder.stop()
    }

    @Test("The settings in force are shown with their origins, and no secret among them")
    func showsSettings() async throws {
      let larder = try await RunningLarder.start(settings: "cache: {staleIfError: 2d}")
      let body = try await Self.json(larder, "/v1/admin/settings")
      let items = try #require(body["items"]?.array)
      func setting(_ name: String) -> JSONValue? { items.first { $0["name"]?.string == name } }
      #expect(setting("cache.staleIfError")?["value"] == "2d")
      #expect(setting("cache.staleIfError")?["origin"]?.string?.contains("larder.yaml:") == true)
      #expect(setting("cache.maxAge")?["isDefault"] == true)
      #expect(setting("admin.token")?["isSecret"] == true)
      for secret in [RunningLarder.adminToken, RunningLarder.viewerToken] {
        #expect(!body.text.contains(secret))
      }
      await larder.stop()
    }

    @Test("The log is read by level, request and id")
    func showsTheLog() async throws {
      let larder = try await RunningLarder.start()
      let ring = larder.logRing
      let logger = ProcessLogging.logger(
        "larder", settings: try Settings.load(from: SettingsSources()).settings.log,
        threshold: LogThreshold(.debug)
      ) { ring.take(Array(($0 + "\n").utf8)) }
      logger.warning("the first warning", metadata: ["request_id": "r-console-1"])
      logger.info("a detail", metadata: ["request_id": "r-console-2"])
      let warnings = try await Self.json(larder, "/v1/admin/logs?level=warning")
      #expect(warnings["items"]?.array?.last?["message"] == "the first warning")
      let found = try await Self.json(larder, "/v1/admin/logs?requestId=r-console-2")
      #expect(found["items"]?.array?.count == 1)
      #expect(found["items"]?[0]?["fields"] == ["request_id": "r-console-2"])
      let next = try #require(found["next"]?.int64)
      let later = try await Self.json(larder, "/v1/admin/logs?after=\(next)")
      #expect(later["items"] == [] && later["next"]?.int64 == next)
      let bad = try await larder.get("/v1/admin/logs?after=x&level=loud&limit=1001", Self.viewer)
      #expect(bad.status == 400)
      await larder.stop()
    }

    @Test("Backups are listed with their sizes, newest first")
    func listsBackups() async throws {
      let larder = try await RunningLarder.start()
      #expect(try await Self.json(larder, "/v1/admin/backups")["items"] == [])
      for name in ["one", "two"] {
        let written = try await larder.post(
          "/v1/admin/backup", #"{"name":"\#(name)"}"#, Self.admin)
        #expect(written.status == 201)
      }
      let items = try #require(
        try await Self.json(larder, "/v1/admin/backups")["items"]?.array)
      #expect(Set(items.compactMap { $0["name"]?.string }) == ["one", "two"])
      for item in items {
        #expect(item["bytes"]?.int64 ?? 0 > 4_096 && item["encrypted"] == false)
        #expect(item["writtenAt"]?.int64 ?? 0 > 1_600_000_000_000)
      }
      await larder.stop()
    }

    @Test("An explanation says what would change the response, and why it is due")
    func explainsResponses() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      let question = #"{"operation":"Film","variables":{"id":"f1"}}"#
      func explanation() async throws -> JSONValue {
        let answer = try await larder.post("/v1/admin/explain", question, Self.viewer)
        #expect(answer.status == 200, "\(answer.text)")
        return try JSONValue(parsing: answer.body)
      }
      let fresh = try await explanation()
      let stored = try #require(fresh["stored"])
      let received = try #require(stored["receivedAt"]?.int64)
      let maxAge = try #require(fresh["policy"]?["maxAge"]?.int64)
      #expect(stored["freshUntil"]?.int64 == received + maxAge * 1_000)
      #expect(stored["types"]?.array?.contains("Film") == true && stored["dueBecause"] == [])
      let changes = fresh["changedBy"]?.array ?? []
      #expect(changes.contains { $0["kind"] == "time" && $0["at"] == stored["freshUntil"] })
      #expect(changes.contains(["kind": "type", "name": "Film"]))
      #expect(changes.contains(["kind": "operation", "name": "Film"]))
      let purged = try await larder.post(
        "/v1/admin/purge", #"{"tag":"none","operation":"Film"}"#, Self.admin)
      #expect(purged.status == 200)
      let after = try await explanation()
      #expect(after["stored"] == .null || after["stored"]?["dueBecause"] != [], "\(after.text)")
      #expect(after["stored"] != .null || after["changedBy"] == [])
      await larder.stop()
    }

    @Test("The console's pages cannot be framed, and send no referrer")
    func pagesHaveTheirFields() async throws {
      let larder = try await RunningLarder.start()
      for target in ["/", "/demo/", "/no-such-page"] {
        let page = try await larder.get(target)
        #expect(
          page["content-security-policy"]?.contains("frame-ancestors 'none'") == true, "\(target)")
        #expect(page["referrer-policy"] == "no-referrer" && page["x-frame-options"] == "DENY")
        #expect(page["x-content-type-options"] == "nosniff")
      }
      await larder.stop()
    }
  }
}
