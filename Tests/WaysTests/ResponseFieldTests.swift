import DemoUpstream
import Logging
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Response fields that generic clients and caches rely on.
  struct ResponseFieldTests {
    @Test("A query by POST names the GET with the same response and tag")
    func contentLocationNamesTheGet() async throws {
      let larder = try await RunningLarder.start()
      let posted = try await larder.post("/v1/operations/Film", #"{"id":"f1"}"#)
      #expect(posted.status == 200)
      let target = try #require(posted["content-location"])
      let got = try await larder.get(target)
      #expect(got.status == 200 && got.body == posted.body && got["etag"] == posted["etag"])
      #expect(got["content-location"] == nil)
      let unchanged = try await larder.get(target, ("If-None-Match", try #require(posted["etag"])))
      #expect(unchanged.status == 304)
      await larder.stop()
    }

    @Test("A created resource is named in Location")
    func createdResourcesHaveALocation() async throws {
      let world = try await SyncWorld.start()
      let device = try await world.larder.post("/v1/devices", #"{"platform":"ios"}"#)
      #expect(device.status == 201 && device["location"] == "/v1/devices/me")
      let taken = try await world.larder.post(
        "/v1/mutations", SyncWorld.renaming("f1"), world.device, ("Idempotency-Key", "\"k1\""),
        SyncWorld.ada)
      #expect(taken.status == 202, "\(taken.text)")
      let place = try #require(taken["location"])
      let shown = try await world.larder.get(place, world.device)
      #expect(shown.status == 200)
      #expect(
        try JSONValue(parsing: shown.body)["id"] == JSONValue(parsing: taken.body)["id"])
      await world.larder.stop()
    }

    @Test("Allow lists exactly the methods of a path, also beside a public folder")
    func allowListsEveryMethod() async throws {
      let larder = try await RunningLarder.start(settings: "public: \(OperatingTests.publicFolder)")
      for (method, path) in [
        ("TRACE", "/healthz"), ("TRACE", "/v1/entities/Film/f1"), ("GET", "/v1/auth/sign-in"),
        ("DELETE", "/v1/operations/Film"), ("PUT", "/v1/devices"),
        ("GET", "/v1/operations/RateFilm"), ("DELETE", "/v1/operations/RateFilm"),
      ] {
        let refused = try await larder.request(method, path)
        #expect(refused.status == 405, "\(method) \(path)")
        let allow = try #require(refused["allow"])
        let told = try await larder.request("OPTIONS", path)
        #expect(told.status == 204 && told["allow"] == allow, "\(path)")
        #expect(!allow.contains(method) && !allow.contains("TRACE"), "\(method) \(path): \(allow)")
      }
      let mutation = try await larder.request("OPTIONS", "/v1/operations/RateFilm")
      #expect(mutation["allow"] == "POST, OPTIONS")
      for path in ["/v1/nothing", "/nothing.html"] {
        #expect(try await larder.request("POST", path, body: "{}").status == 404)
      }
      let options = try await larder.request("OPTIONS", "/v1/devices/me")
      let types = "application/json, application/merge-patch+json"
      #expect(options["accept-patch"] == types)
      let refused = try await larder.request(
        "PATCH", "/v1/entities/Film/f1", headers: [("Content-Type", "text/plain")], body: "x")
      #expect(refused.status == 415 && refused["accept-patch"] == types)
      await larder.stop()
    }

    @Test("An upstream outage is logged once, and so is its end")
    func outageIsLoggedOnce() async throws {
      let larder = try await RunningLarder.start()
      func lines() -> [RecordedLog.Line] {
        larder.log.lines.filter { $0.level >= .warning && $0.message.hasPrefix("upstream ") }
      }
      try await larder.demo.change { $0.fail = .status(503) }
      for number in 1...5 {
        #expect(try await larder.get("/api/films/f\(number)").status == 503)
      }
      #expect(lines().map(\.message) == ["upstream calls fail"])
      #expect(lines().first?.metadata["cause"]?.description.contains("503") == true)
      try await larder.demo.change { $0.fail = .off }
      let told = try await eventually {
        _ = try await larder.get("/api/films/f1", ("Cache-Control", "no-cache"))
        return lines()
      } until: {
        $0.count == 2
      }
      #expect(told.map(\.message) == ["upstream calls fail", "upstream responds again"])
      await larder.stop()
    }
  }
}
