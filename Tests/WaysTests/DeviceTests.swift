import DemoUpstream
import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  struct DeviceTests {
    static func register(_ larder: RunningLarder) async throws -> (id: String, token: String) {
      let answer = try await larder.post(
        "/v1/devices", #"{"platform":"ios","name":"Ada's phone"}"#)
      #expect(answer.status == 201, "\(answer.text)")
      #expect(answer["cache-control"] == "no-store")
      let body = try JSONValue(parsing: answer.body)
      return (
        try #require(body["id"]?.string), try #require(body["deviceToken"]?.string)
      )
    }

    @Test("A device is registered, changed and deleted")
    func deviceLifecycle() async throws {
      let larder = try await RunningLarder.start()
      let (id, token) = try await Self.register(larder)
      let device = ("Device-Token", token)
      let shown = try JSONValue(parsing: try await larder.get("/v1/devices/me", device).body)
      #expect(shown["id"]?.string == id)
      #expect(shown["name"] == "Ada's phone")
      let change = try await larder.request(
        "PATCH", "/v1/devices/me",
        headers: [device, ("Content-Type", "application/merge-patch+json")],
        body: #"{"name":null,"pushToken":"abc"}"#)
      #expect(change.status == 200, "\(change.text)")
      let changed = try JSONValue(parsing: change.body)
      #expect(changed["name"] == .null)
      #expect(changed["pushToken"] == "abc")
      #expect(changed["platform"] == "ios")
      #expect(
        try await larder.request("DELETE", "/v1/devices/me", headers: [device]).status == 204)
      #expect(try await larder.get("/v1/devices/me", device).status == 401)
      await larder.stop()
    }

    @Test("A rotated token ends at once, and its successor survives a restart")
    func tokenRotation() async throws {
      let larder = try await RunningLarder.start()
      let (id, token) = try await Self.register(larder)
      let rotated = try await larder.request(
        "POST", "/v1/devices/me/rotate", headers: [("Device-Token", token)])
      #expect(rotated.status == 200)
      let fresh = try #require(
        try JSONValue(parsing: rotated.body)["deviceToken"]?.string)
      #expect(try await larder.get("/v1/devices/me", ("Device-Token", token)).status == 401)
      await larder.stopService()
      try await larder.startService()
      let shown = try await larder.get("/v1/devices/me", ("Device-Token", fresh))
      #expect(try JSONValue(parsing: shown.body)["id"]?.string == id)
      #expect(try await larder.get("/v1/devices/me", ("Device-Token", token)).status == 401)
      await larder.stop()
    }

    /// Only a digest of the token is stored.
    @Test("A device token is in no file of the data folder and in no backup")
    func tokenIsNotOnDisk() async throws {
      let larder = try await RunningLarder.start()
      let admin = OperatingTests.admin
      let (id, token) = try await Self.register(larder)
      _ = try await larder.get("/v1/devices/me", ("Device-Token", token))
      let rotated = try await larder.request(
        "POST", "/v1/devices/me/rotate", headers: [("Device-Token", token)])
      let fresh = try #require(try JSONValue(parsing: rotated.body)["deviceToken"]?.string)
      #expect(try await larder.get("/v1/devices/me", ("Device-Token", fresh)).status == 200)
      let backup = try await larder.post("/v1/admin/backup", #"{"name":"copy"}"#, admin)
      #expect(backup.status == 201)
      // While the service runs, its write-ahead log included, and after it has stopped.
      for isRunning in [true, false] {
        if !isRunning { await larder.stopService() }
        let files = try Self.files(below: "\(larder.folder)/data")
        #expect(files.contains { $0.path.hasSuffix("copy.sqlite") })
        for (path, content) in files {
          for secret in [token, fresh] {
            for form in Self.forms(of: secret) {
              #expect(content.range(of: form) == nil, "\(path) holds a token")
            }
          }
        }
        // A check of the search itself: it finds the device's id.
        #expect(files.contains { $0.content.range(of: Data(id.utf8)) != nil })
      }
      await larder.stop()
    }

    private static func files(below folder: String) throws -> [(path: String, content: Data)] {
      let paths = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String }
      return (paths ?? []).compactMap { path in
        FileManager.default.contents(atPath: "\(folder)/\(path)").map { (path, $0) }
      }
    }

    /// The token as text, and the bytes that it encodes.
    private static func forms(of token: String) -> [Data] {
      let standard = token.replacing("-", with: "+").replacing("_", with: "/")
      let padded = standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)
      return [Data(token.utf8)] + [Data(base64Encoded: padded)].compactMap(\.self)
    }

    /// This includes a response that was cached for another caller.
    @Test("An unknown device token is refused on every route, cached responses included")
    func unknownTokenIsRefusedEverywhere() async throws {
      let larder = try await RunningLarder.start()
      for _ in 0..<2 { #expect(try await larder.get("/api/films/f1").status == 200) }
      let unknown = ("Device-Token", String(repeating: "A", count: 43))
      for target in ["/api/films/f1", "/v1/operations/Film?id=f1", "/v1/devices/me"] {
        let answer = try await larder.get(target, unknown)
        #expect(answer.status == 401, "\(target)")
        #expect(try JSONValue(parsing: answer.body)["code"] == "unauthenticated")
      }
      #expect(
        try await larder.post("/v1/devices", #"{"platform":"ios"}"#, unknown).status == 401)
      await larder.stop()
    }

    @Test("Responses for a device are private to it")
    func deviceResponsesArePrivate() async throws {
      let larder = try await RunningLarder.start()
      let one = ("Device-Token", try await Self.register(larder).token)
      let other = ("Device-Token", try await Self.register(larder).token)
      // Whichever device reads first: the cached response must not be served to the other.
      let first = try await larder.get("/api/films/f1", one)
      let anonymous = try await larder.get("/api/films/f1")
      let second = try await larder.get("/api/films/f1", other)
      let again = try await larder.get("/api/films/f1", one)
      #expect(first["cache-control"]?.hasPrefix("private") == true)
      #expect(second["cache-control"]?.hasPrefix("private") == true)
      #expect(anonymous["cache-control"]?.hasPrefix("public") == true)
      #expect(again["sync-cursor"] != second["sync-cursor"])
      #expect(again["sync-cursor"] != anonymous["sync-cursor"])
      #expect(second.cacheStatus?.hasPrefix("hit") == true)
      #expect(larder.demo.report["Film"].requests == 1)
      #expect(larder.demo.report.recent.allSatisfy { $0["device-token"] == nil })
      await larder.stop()
    }

    @Test("All faults of a device registration are reported in one response")
    func reportsAllFaultsAtOnce() async throws {
      let larder = try await RunningLarder.start()
      let answer = try await larder.post(
        "/v1/devices",
        """
        {"platform":"","name":7,"pushToken":"\(String(repeating: "x", count: 4097))","a/b":1}
        """)
      #expect(answer.status == 400)
      let faults = try JSONValue(parsing: answer.body)["errors"]?.array ?? []
      #expect(
        Set(faults.compactMap { $0["pointer"]?.string })
          == ["/platform", "/name", "/pushToken", "/a~1b"])
      let plain = try await larder.post(
        "/v1/devices", #"{"platform":"ios"}"#, ("Content-Type", "text/plain"))
      #expect(plain.status == 415)
      await larder.stop()
    }

    @Test("Settings decide who can register devices and how often")
    func registrationFollowsSettings() async throws {
      let larder = try await RunningLarder.start(settings: "devices: {rate: 2}")
      for _ in 0..<2 { _ = try await Self.register(larder) }
      let third = try await larder.post("/v1/devices", #"{"platform":"ios"}"#)
      #expect(third.status == 429)
      #expect(third["retry-after"].flatMap { Int($0) }.map { 1...30 ~= $0 } == true)
      await larder.stop()
      let closed = try await RunningLarder.start(settings: "devices: {register: admin}")
      #expect(try await closed.post("/v1/devices", #"{"platform":"ios"}"#).status == 401)
      #expect(
        try await closed.post("/v1/devices", #"{"platform":"ios"}"#, OperatingTests.admin).status
          == 201)
      await closed.stop()
      let users = try await RunningLarder.start(settings: "devices: {register: user}")
      let refused = try await users.post(
        "/v1/devices", #"{"platform":"ios"}"#, ("Authorization", "Bearer opaque"))
      #expect(refused.status == 401)
      #expect(try JSONValue(parsing: refused.body)["code"] == "sign_in_required")
      await users.stop()
    }

    @Test("An operation can require a device")
    func operationCanRequireADevice() async throws {
      let larder = try await RunningLarder.start(operations: [
        "time": "query Time @access(role: DEVICE) { serverTime }"
      ])
      #expect(try await larder.get("/v1/operations/Time").status == 401)
      let device = ("Device-Token", try await Self.register(larder).token)
      #expect(try await larder.get("/v1/operations/Time", device).status == 200)
      await larder.stop()
    }

    @Test("Every caller can get a stream ticket for its own credentials")
    func everyCallerGetsATicket() async throws {
      let larder = try await RunningLarder.start()
      let ada = ("Authorization", "Bearer user-ada")
      let answer = try await larder.request("POST", "/v1/stream-tickets", headers: [ada])
      #expect(answer.status == 201)
      let body = try JSONValue(parsing: answer.body)
      #expect(body["ticket"]?.string?.utf8.count == 43)
      #expect(body["expiresIn"] == 30)
      await larder.stop()
    }

    @Test("A ticket opens one stream")
    func aTicketOpensOneStream() async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await Self.register(larder).token)
      let answer = try await larder.request("POST", "/v1/stream-tickets", headers: [device])
      let ticket = try #require(try JSONValue(parsing: answer.body)["ticket"]?.string)
      let target = "/v1/changes/stream?ticket=\(ticket)"
      let events = try await EventClient.open(port: larder.port, target)
      #expect(events.status == 200)
      #expect(try await larder.get(target).status == 401)
      #expect(
        try await larder.get("/v1/operations/Film/stream?id=f1&ticket=none").status == 401)
      await larder.stop()
    }
  }
}
