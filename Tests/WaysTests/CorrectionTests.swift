import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// The operator's corrections of entities that upstream sent.
  struct CorrectionTests {
    private static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")

    private static func filled() async throws -> RunningLarder {
      let larder = try await RunningLarder.start()
      #expect(try await larder.get("/api/films?limit=20").status == 200)
      #expect(try await larder.get("/api/films/f1").status == 200)
      return larder
    }

    private static func json(_ response: RawResponse) throws -> JSONValue {
      try JSONValue(parsing: response.body)
    }

    @Test("Only the operator can write entities of upstream's types")
    func onlyTheOperatorWritesUpstreamTypes() async throws {
      let larder = try await Self.filled()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      for (method, target, body) in [
        ("POST", "/v1/entities/Film", #"{"id":"x"}"#),
        ("PATCH", "/v1/entities/Film/f1", #"{"title":"Mine"}"#),
        ("DELETE", "/v1/entities/Film/f1", nil),
        ("PATCH", "/v1/entities/Film?filter=year%20%3E%200", "{}"),
        ("DELETE", "/v1/entities/Film?filter=year%20%3E%200", nil),
        ("POST", "/v1/entities", #"[{"op":"delete","type":"Film","id":"f1"}]"#),
      ] as [(String, String, String?)] {
        let anonymous = try await larder.request(method, target, body: body)
        #expect(anonymous.status == 401, "\(method) \(target)")
        for known in [device, ("Authorization", "Bearer user-ada")] {
          let answer = try await larder.request(method, target, headers: [known], body: body)
          #expect(answer.status == 403, "\(method) \(target): \(answer.text)")
        }
      }
      #expect(try await larder.get("/v1/entities/Film/f1").status == 200)
      await larder.stop()
    }

    @Test("A correction shows in every read until upstream's next response")
    func correctionHoldsUntilTheNextFetch() async throws {
      let larder = try await Self.filled()
      let before = try Self.json(try await larder.get("/v1/entities/Film/f1"))
      let requests = larder.demo.report.recent.count
      let patch = try await larder.request(
        "PATCH", "/v1/entities/Film/f1",
        headers: [Self.admin, ("If-Match", "\"\(before["_rev"]?.string ?? "")\"")],
        body: #"{"title":"Mended"}"#)
      #expect(patch.status == 200, "\(patch.text)")
      #expect(try Self.json(patch)["title"] == "Mended")
      let operation = try Self.json(try await larder.get("/api/films/f1"))
      #expect(operation["data"]?["film"]?["title"] == "Mended")
      #expect(larder.demo.report.recent.count == requests)
      let late = try await larder.request(
        "DELETE", "/v1/entities/Film/f1",
        headers: [Self.admin, ("If-Match", "\"\(before["_rev"]?.string ?? "")\"")])
      #expect(late.status == 412)
      let relation = try await larder.request(
        "PATCH", "/v1/entities/Film/f1", headers: [Self.admin], body: #"{"director":"p1"}"#)
      #expect(try Self.json(relation)["director"] == "p1")
      #expect(try Self.json(relation)["title"] == "Mended")
      #expect(
        try await larder.get("/api/films/f1", ("Cache-Control", "no-cache")).status == 200)
      #expect(
        try Self.json(try await larder.get("/v1/entities/Film/f1"))["title"] == before["title"])
      await larder.stop()
    }

    @Test("Corrections insert and delete entities one by one and by a filter")
    func correctionsInsertAndDelete() async throws {
      let larder = try await Self.filled()
      let made = try await larder.request(
        "POST", "/v1/entities/Film", headers: [Self.admin],
        body: #"{"id":"x1","title":"New","year":1800}"#)
      #expect(made.status == 201, "\(made.text)")
      #expect(made["location"] == "/v1/entities/Film/x1")
      let again = try await larder.request(
        "POST", "/v1/entities/Film", headers: [Self.admin], body: #"{"id":"x1"}"#)
      #expect(again.status == 409)
      let put = try await larder.request(
        "PUT", "/v1/entities/Film/x2", headers: [Self.admin],
        body: #"{"title":"Newer","year":1801}"#)
      let allowed = Set((put["allow"] ?? "").split(separator: ",").map { $0.filter { $0 != " " } })
      #expect(put.status == 405 && allowed == ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH"])
      #expect(try Self.json(put)["code"] == "method_not_allowed")
      let replaced = try await larder.request(
        "POST", "/v1/entities", headers: [Self.admin],
        body: #"[{"op":"replace","type":"Film","id":"x2","data":{"title":"Newer"}}]"#)
      #expect(replaced.status == 422, "\(replaced.text)")
      #expect(try Self.json(replaced)["errors"]?[0]?["pointer"] == "/0/op")
      let merged = try await larder.request(
        "POST", "/v1/entities", headers: [Self.admin],
        body: """
          [{"op":"insertOrUpdate","type":"Film","id":"x2","data":{"title":"Newer","year":1801}}]
          """)
      #expect(merged.status == 200, "\(merged.text)")
      let many = try await larder.request(
        "PATCH", "/v1/entities/Film?filter=year%20%3C%201850", headers: [Self.admin],
        body: #"{"title":"Old"}"#)
      #expect(many.text == #"{"matched":2}"#)
      let gone = try await larder.request(
        "DELETE", "/v1/entities/Film?filter=title%20%3D%20'Old'", headers: [Self.admin])
      #expect(gone.text == #"{"matched":2}"#)
      let one = try await larder.get("/v1/entities/Film/x1")
      #expect(one.status == 404)
      #expect(try Self.json(one)["code"] == "deleted")
      await larder.stop()
    }

    @Test("All faults of a correction are reported in one response")
    func reportsAllFaultsAtOnce() async throws {
      let larder = try await Self.filled()
      let answer = try await larder.request(
        "PATCH", "/v1/entities/Film/f1", headers: [Self.admin],
        body: #"{"year":"1990","cast":[],"size":1,"title":3,"id":"f2","director":{}}"#)
      #expect(answer.status == 422, "\(answer.text)")
      let named = try Self.json(answer)["errors"]?.array?.compactMap { $0["pointer"]?.string } ?? []
      #expect(
        Set(named) == ["/year", "/cast", "/size", "/title", "/id", "/director"], "\(answer.text)")
      let missing = try await larder.request(
        "PATCH", "/v1/entities/Film/none", headers: [Self.admin], body: #"{"title":"X"}"#)
      #expect(missing.status == 404)
      for (method, target, body) in [
        ("PATCH", "/v1/entities/Film/%00", "{}"),
        ("POST", "/v1/entities/Film", #"{"id":"a\u0000","title":"X"}"#),
      ] {
        let answer = try await larder.request(
          method, target, headers: [Self.admin], body: body)
        #expect(answer.status == 422, "\(answer.text)")
      }
      let all = try await larder.request(
        "DELETE", "/v1/entities/Film", headers: [Self.admin])
      #expect(all.status == 400)
      await larder.stop()
    }

    @Test("A correction under an idempotency key is made once and replayed, after a restart too")
    func correctionsAreReplayed() async throws {
      let larder = try await Self.filled()
      let key = ("Idempotency-Key", "c1")
      func correct(
        _ body: String, _ method: String = "PATCH", _ target: String = "/Film/f1"
      ) async throws -> RawResponse {
        try await larder.request(
          method, "/v1/entities\(target)", headers: [Self.admin, key], body: body)
      }
      let first = try await correct(#"{"title":"Mended","year":1801}"#)
      #expect(first.status == 200 && first["idempotency-replayed"] == nil, "\(first.text)")
      let other = try await larder.request(
        "PATCH", "/v1/entities/Film/f1", headers: [Self.admin], body: #"{"title":"Later"}"#)
      #expect(other.status == 200)
      for isRestarted in [false, true] {
        if isRestarted {
          await larder.stopService()
          try await larder.startService()
        }
        let again = try await correct(#"{"year": 1801, "title": "Mended"}"#)
        #expect(again.status == 200 && again["idempotency-replayed"] == "true", "\(again.text)")
        #expect(again.text == first.text && again["etag"] == first["etag"])
      }
      #expect(try Self.json(try await larder.get("/v1/entities/Film/f1"))["title"] == "Later")
      for (body, method, target) in [
        (#"{"title":"Else"}"#, "PATCH", "/Film/f1"),
        (#"{"title":"Mended","year":1801}"#, "PATCH", "/Film/f2"),
        (#"[{"op":"delete","type":"Film","id":"f1"}]"#, "POST", ""),
      ] {
        let refused = try await correct(body, method, target)
        #expect(refused.status == 422, "\(refused.text)")
        #expect(try Self.json(refused)["code"] == "idempotency_key_reused")
      }
      // A refused correction leaves its key unused.
      let unused = ("Idempotency-Key", "c2")
      for (id, status) in [("f1", 409), ("x9", 201)] {
        let answer = try await larder.request(
          "POST", "/v1/entities/Film", headers: [Self.admin, unused], body: #"{"id":"\#(id)"}"#)
        #expect(answer.status == status, "\(answer.text)")
      }
      await larder.stop()
    }

    @Test("Reads report the age and the time of what they show")
    func readsReportTheirAgeAndTime() async throws {
      let larder = try await Self.filled()
      for target in [
        "/v1/entities/Film/f1", "/v1/entities/Film?limit=3", "/v1/entities/Film/f1/cast",
      ] {
        let answer = try await larder.get(target)
        #expect(answer["age"].flatMap { Int($0) } != nil, "\(target)")
        #expect(answer["server-timing"]?.hasPrefix("store;dur=") == true, "\(target)")
        let unchanged = try await larder.get(target, ("If-None-Match", answer["etag"] ?? ""))
        #expect(unchanged.status == 304)
        #expect(unchanged["age"] != nil)
      }
      #expect(try await larder.get("/v1/entities/Film?limit=0")["age"] == nil)
      #expect(try await larder.get("/v1/entities")["server-timing"] != nil)
      await larder.stop()
    }
  }
}
