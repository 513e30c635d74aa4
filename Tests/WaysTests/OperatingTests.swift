import DemoUpstream
import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  struct OperatingTests {
    static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")

    @Test("Health and readiness report the state of the service")
    func healthAndReadiness() async throws {
      let larder = try await RunningLarder.start()
      #expect(try await larder.get("/healthz").status == 200)
      let ready = try await larder.get("/readyz")
      #expect(ready.status == 200)
      #expect(try JSONValue(parsing: ready.body)["upstream"]?.string == "not asked yet")
      try await larder.demo.change { $0.fail = .refuse }
      _ = try await larder.get("/api/films/f1")
      let without = try await larder.get("/readyz")
      #expect(without.status == 200)
      #expect(try JSONValue(parsing: without.body)["upstream"]?.string == "failing")
      await larder.stop()
    }

    @Test("The operations are listed")
    func operationsAreListed() async throws {
      let larder = try await RunningLarder.start()
      let list = try JSONValue(parsing: try await larder.get("/v1/operations").body)
      let film = try #require(list["operations"]?.array?.first { $0["name"] == "Film" })
      #expect(film["paths"] == ["/v1/operations/Film", "/api/films/{id}"])
      #expect(film["method"] == "GET")
      #expect(film["variables"]?[0]?["type"] == "ID!")
      #expect(film["cacheable"] == true)
      #expect(film["policy"]?["maxAge"]?.int64 == 60)
      let document = try JSONValue(parsing: try await larder.get("/openapi.json").body)
      #expect(document["openapi"] == "3.1.0")
      #expect(document["paths"]?["/api/films/{id}"]?["get"]?["operationId"] != nil)
      await larder.stop()
    }

    @Test("The OpenAPI document and the full one have tags of their own, and are not sent again")
    func openAPIHasTags() async throws {
      let larder = try await RunningLarder.start()
      var tags: [String] = []
      for target in ["/openapi.json", "/openapi.json?full"] {
        let answer = try await larder.get(target)
        let tag = try #require(answer["etag"])
        #expect(answer["cache-control"] == "no-cache")
        tags.append(tag)
        #expect(try await larder.get(target, ("If-None-Match", tag)).status == 304)
        #expect(try await larder.get(target, ("If-None-Match", "\"other\"")).status == 200)
      }
      #expect(Set(tags).count == 2)
      let same = try await larder.get("/openapi.json?full=false", ("If-None-Match", tags[0]))
      #expect(same.status == 304)
      #expect(try await larder.get("/openapi.json?full=yes").status == 400)
      await larder.stop()
    }

    @Test("The OpenAPI document has the types of the operations' responses, and one path for each")
    func openAPIHasTypes() async throws {
      let larder = try await RunningLarder.start()
      let document = try JSONValue(parsing: try await larder.get("/openapi.json").body)
      let film = document["paths"]?["/api/films/{id}"]?["get"]
      let schema = film?["responses"]?["200"]?["content"]?["application/json"]?["schema"]
      #expect(schema == ["$ref": "#/components/schemas/FilmResponse"])
      #expect(film?["responses"]?["404"] == nil)
      #expect(
        film?["responses"]?["503"]?["description"]?.string?.contains("upstream_unreachable") == true
      )
      #expect(document["paths"]?["/v1/operations/Film"] == nil)
      #expect(document["components"]?["schemas"]?["FilmCard"]?["properties"]?["title"] != nil)
      let full = try JSONValue(parsing: try await larder.get("/openapi.json?full").body)
      for path in ["/v1/operations/Film", "/api/films/{id}/stream", "/api/films/{id}/diff"] {
        #expect(full["paths"]?[path] != nil, "\(path)")
      }
      await larder.stop()
    }

    @Test("Admin routes accept the admin token only")
    func adminNeedsItsToken() async throws {
      let larder = try await RunningLarder.start()
      #expect(try await larder.post("/v1/admin/purge", #"{"type":"Film"}"#).status == 401)
      let wrong = ("Authorization", "Bearer \(String(repeating: "b", count: 40))")
      #expect(try await larder.post("/v1/admin/purge", #"{"type":"Film"}"#, wrong).status == 401)
      let empty = try await larder.post("/v1/admin/purge", "{}", Self.admin)
      #expect(empty.status == 400)
      let faults = try await larder.post("/v1/admin/purge", #"{"id":1,"colour":"red"}"#, Self.admin)
      #expect(try JSONValue(parsing: faults.body)["errors"]?.array?.count == 2)
      await larder.stop()
    }

    @Test("A purge of types that nothing is stored of names each of them")
    func purgeOfUnknownTypes() async throws {
      let larder = try await RunningLarder.start()
      let unknown = try await larder.post(
        "/v1/admin/purge", #"{"type":["Film","Nope","Nix"]}"#, Self.admin)
      #expect(unknown.status == 400, "\(unknown.text)")
      let details = try JSONValue(parsing: unknown.body)["errors"]?.array?
        .compactMap { $0["detail"]?.string?.split(separator: " ").first }
      #expect(details == ["Nix", "Nope"])
      await larder.stop()
    }

    @Test("A purge names the operations and tags that do not exist, and purges the rest")
    func purgeOfUnknownNames() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      let purge = try await larder.post(
        "/v1/admin/purge", #"{"operation":["Film","Flims"],"tag":["films","flims"]}"#, Self.admin)
      #expect(purge.status == 200, "\(purge.text)")
      let unknown = try JSONValue(parsing: purge.body)["unknown"]?.array ?? []
      #expect(unknown.map { $0["pointer"]?.string } == ["/operation", "/tag"])
      #expect(unknown.first?["detail"]?.string?.contains("Did you mean \"Films\"") == true)
      #expect(unknown.last?["detail"]?.string?.hasSuffix("Did you mean \"films\"?") == true)
      #expect(try await larder.get("/api/films/f1").cacheStatus?.hasPrefix("fwd=") == true)
      let many = (0..<300).map { "\"none\($0)\"" }.joined(separator: ",")
      let bounded = try await larder.post(
        "/v1/admin/purge", "{\"tag\":[\(many)]}", Self.admin)
      #expect(try JSONValue(parsing: bounded.body)["unknown"]?.array?.count == 100)
      await larder.stop()
    }

    @Test(
      "A purged response is fetched again",
      arguments: [
        #"{"type":"Film","id":"f1"}"#, #"{"type":"Film"}"#, #"{"operation":"Film"}"#,
        #"{"tag":"films"}"#,
      ])
    func purgedResponseIsFetchedAgain(body: String) async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      #expect(try await larder.get("/api/films/f1").cacheStatus?.hasPrefix("hit") == true)
      let purge = try await larder.post("/v1/admin/purge", body, Self.admin)
      #expect(purge.status == 200, "\(purge.text)")
      #expect(try await larder.get("/api/films/f1").cacheStatus?.hasPrefix("fwd=") == true)
      #expect(larder.demo.report["Film"].requests == 2)
      await larder.stop()
    }

    @Test("explain reports why a read would ask upstream")
    func explainReportsWhyAReadAsksUpstream() async throws {
      let larder = try await RunningLarder.start()
      let question = #"{"operation":"Film","variables":{"id":"f1"}}"#
      let before = try JSONValue(
        parsing: try await larder.post("/v1/admin/explain", question, Self.admin).body)
      #expect(before["decision"] == "fetch")
      #expect(before["stored"] == .null)
      _ = try await larder.get("/api/films/f1")
      let after = try JSONValue(
        parsing: try await larder.post("/v1/admin/explain", question, Self.admin).body)
      #expect(after["decision"] == "serve")
      #expect(after["stored"]?["window"] == "fresh")
      #expect(after["stored"]?["dependencies"]?.array?.contains("Film/f1") == true)
      await larder.stop()
    }

    /// Covers each reason to ask upstream or not, with the age of the response and how long it is served.
    @Test("explain reports ages and reasons for each cache decision")
    func explainReportsAgesAndReasons() async throws {
      let larder = try await RunningLarder.start(
        operations: [
          "explained": """
          query Kept($id: ID!) @cache(maxAge: 60, staleWhileRevalidate: 600, scope: PUBLIC) {
            film(id: $id) { id title }
          }
          query Quick($id: ID!) @cache(maxAge: 0, staleWhileRevalidate: 600, scope: PUBLIC) {
            film(id: $id) { id title }
          }
          query Failing($id: ID!) @cache(maxAge: 0, staleIfError: 600, scope: PUBLIC) {
            film(id: $id) { id title }
          }
          """
        ])
      func explain(_ name: String) async throws -> JSONValue {
        let question = #"{"operation":"\#(name)","variables":{"id":"f1"}}"#
        let answer = try await larder.post("/v1/admin/explain", question, Self.admin)
        #expect(answer.status == 200, "\(answer.text)")
        return try JSONValue(parsing: answer.body)
      }
      let before = try await explain("Kept")
      #expect(before["reason"] == "No result is stored for these variables in this scope.")
      #expect(before["scope"] == "public")
      for name in ["Kept", "Quick", "Failing"] {
        #expect(try await larder.get("/v1/operations/\(name)?id=f1").status == 200)
      }
      let kept = try await explain("Kept")
      #expect(kept["reason"] == "Stored and fresh.")
      let stored = try #require(kept["stored"])
      let received = try #require(stored["receivedAt"]?.int64)
      #expect(stored["servedUntil"]?.int64 == received + 660_000)
      let age = try #require(stored["ageSeconds"]?.int64)
      #expect((0..<60).contains(age))
      #expect(abs(Int64(Date().timeIntervalSince1970 * 1000) - received) < 60_000)
      #expect(stored["due"] == false)
      #expect(stored["misses"] == [])

      let quick = try await eventually {
        try await explain("Quick")
      } until: {
        $0["decision"] == "serve-and-refresh"
      }
      #expect(quick["reason"] == "Stored and stale: served while it is refreshed.")
      #expect(quick["stored"]?["window"] == "stale-while-revalidate")
      let failing = try await eventually {
        try await explain("Failing")
      } until: {
        $0["decision"] == "fetch"
      }
      #expect(failing["reason"] == "Expired; kept as a fallback.")
      #expect(failing["stored"]?["window"] == "stale-if-error")
      let purge = try await larder.post("/v1/admin/purge", #"{"operation":"Kept"}"#, Self.admin)
      #expect(purge.status == 200)
      #expect(try await explain("Kept")["decision"] == "fetch")
      // None of these requests asked upstream.
      #expect(larder.demo.report["Kept"].requests == 1)
      #expect(larder.demo.report["Quick"].requests == 1)
      await larder.stop()
    }

    @Test("Pages of allowed origins can call the service")
    func allowedOriginsCanCall() async throws {
      let larder = try await RunningLarder.start(
        settings: "cors:\n  origins: [\"https://app.example.com\"]")
      let preflight = try await larder.request(
        "OPTIONS", "/v1/operations/RateFilm",
        headers: [
          ("Origin", "https://app.example.com"), ("Access-Control-Request-Method", "POST"),
          ("Access-Control-Request-Headers", "authorization, content-type"),
        ])
      #expect(preflight.status == 204)
      #expect(preflight["access-control-allow-origin"] == "https://app.example.com")
      #expect(preflight["access-control-allow-headers"]?.contains("Authorization") == true)
      for _ in 0..<2 {
        let read = try await larder.get("/api/films/f1", ("Origin", "https://app.example.com"))
        #expect(read["access-control-allow-origin"] == "https://app.example.com")
        #expect(read["access-control-expose-headers"]?.contains("Sync-Cursor") == true)
        #expect(read["vary"]?.contains("Origin") == true)
        let other = try await larder.get("/api/films/f1", ("Origin", "https://evil.example.com"))
        #expect(other["access-control-allow-origin"] == nil)
        let failure = try await larder.get("/nothing", ("Origin", "https://app.example.com"))
        #expect(failure.status == 404)
        #expect(failure["access-control-allow-origin"] != nil)
      }
      await larder.stop()
    }

    @Test("The console is served")
    func consoleIsServed() async throws {
      let larder = try await RunningLarder.start(settings: "public: \(Self.publicFolder)")
      let page = try await larder.get("/")
      #expect(page.status == 200)
      #expect(page["content-type"]?.hasPrefix("text/html") == true)
      let missing = try await larder.get("/nothing.html")
      for answer in [page, missing] {
        #expect(answer["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
        #expect(answer["x-frame-options"] == "DENY")
        #expect(answer["referrer-policy"] == "no-referrer")
      }
      await larder.stop()
    }

    static var publicFolder: String {
      var parts = #filePath.split(separator: "/")
      parts.removeLast(3)
      return "/" + parts.joined(separator: "/") + "/Public"
    }
  }
}

extension Ways {
  struct MetricsTests {
    @Test("Metrics are open to every caller unless settings restrict them to the operator")
    func accessIsASetting() async throws {
      for (settings, status) in [("", 200), ("metrics: {access: admin}", 401)] {
        let larder = try await RunningLarder.start(settings: settings)
        #expect(try await larder.get("/metrics").status == status)
        let user = ("Authorization", "Bearer user-ada")
        #expect(try await larder.get("/metrics", user).status == status)
        let operators = try await larder.get("/metrics", OperatingTests.admin)
        #expect(operators.status == 200)
        #expect(operators["content-type"]?.hasPrefix("text/plain; version=0.0.4") == true)
        await larder.stop()
      }
    }

    @Test("Metrics with their own address are served there and nowhere else")
    func metricsAddress() async throws {
      let larder = try await RunningLarder.start(settings: "metrics: {listen: [127.0.0.1:0]}")
      #expect(try await larder.get("/metrics").status == 404)
      #expect(!larder.routes.contains("GET /metrics"))
      let told = larder.log.lines.first { $0.message == "started" }
      let address = try #require(told?.metadata["metrics"].flatMap { URL(string: "\($0)") })
      let port = try #require(address.port)
      let (metrics, other) = try await onOwnThread {
        let client = try RawClient(port: port)
        return (try client.request("GET", "/metrics"), try client.request("GET", "/healthz"))
      }
      #expect(metrics.status == 200 && other.status == 404)
      await larder.stop()
    }
  }
}
