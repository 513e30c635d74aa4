import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Empty pages, which are served from cached bytes: they must equal an uncached page, and end when the log
  /// moves.
  struct EmptyDeltaTests {
    private static func cursor(
      _ larder: RunningLarder, _ headers: (String, String)...
    ) async throws -> String {
      let head = try await larder.request("GET", "/v1/changes?since=now", headers: headers)
      return try #require(try JSONValue(parsing: head.body)["cursor"]?.string)
    }

    private static func lasting(_ response: RawResponse) -> [String] {
      response.headers.filter { $0.0 != "date" && $0.0 != "request-id" }
        .map { "\($0.0): \($0.1)" }.sorted()
    }

    @Test("A cached empty page equals the first one, until the log moves")
    func cachedEmptyPageEqualsTheFirst() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      let target = "/v1/changes?types=Film&since=\(try await Self.filmCursor(larder))"
      let first = try await larder.get(target)
      #expect(first.status == 200, "\(first.text)")
      for _ in 0..<3 {
        let again = try await larder.get(target)
        #expect(again.status == 200)
        #expect(again.body == first.body)
        #expect(Self.lasting(again) == Self.lasting(first))
        #expect(again["request-id"] != first["request-id"])
      }
      let named = try await larder.get(target, ("Request-Id", "mine"))
      #expect(named["request-id"] == "mine")
      let renamed = try await larder.post(
        "/v1/operations/UpdateFilm", #"{"id":"f1","patch":{"title":"Moved on"}}"#)
      #expect(renamed.status == 200)
      #expect(try await larder.get(target).text.contains("Moved on"))
      await larder.stop()
    }

    private static func filmCursor(_ larder: RunningLarder) async throws -> String {
      let head = try await larder.get("/v1/changes?since=now&types=Film")
      return try #require(try JSONValue(parsing: head.body)["cursor"]?.string)
    }

    @Test("A cached empty page is not served to other callers")
    func cachedEmptyPageIsPrivate() async throws {
      let larder = try await RunningLarder.start()
      let ada = ("Authorization", "Bearer user-ada")
      let target = "/v1/changes?since=\(try await Self.cursor(larder, ada))"
      for _ in 0..<2 {
        #expect(try await larder.get(target, ada).status == 200)
        #expect(try await larder.get(target).status == 403)
        #expect(try await larder.get(target, ("Authorization", "Bearer user-bob")).status == 403)
      }
      await larder.stop()
    }

    /// A device can be revoked, so it is verified at each request.
    @Test("A revoked device gets 401, not the cached empty page")
    func revokedDeviceIsRefused() async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      let target = "/v1/changes?since=\(try await Self.cursor(larder, device))"
      for _ in 0..<2 { #expect(try await larder.get(target, device).status == 200) }
      #expect(
        try await larder.request("DELETE", "/v1/devices/me", headers: [device]).status == 204)
      #expect(try await larder.get(target, device).status == 401)
      await larder.stop()
    }

    @Test("A request with wait is held although an empty page is cached")
    func cachedEmptyPageDoesNotShortenAWait() async throws {
      let larder = try await RunningLarder.start()
      let target = "/v1/changes?since=\(try await Self.cursor(larder))"
      for _ in 0..<2 {
        #expect(try await larder.get(target).status == 200)
        let start = ContinuousClock.now
        #expect(try await larder.get("\(target)&wait=0.2").status == 200)
        #expect(ContinuousClock.now - start >= .milliseconds(200))
      }
      await larder.stop()
    }
  }
}
