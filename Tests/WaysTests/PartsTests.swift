import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Parts of the service that settings switch off, over the whole route table.
  struct PartsTests {
    /// A way to switch parts off, and the beginnings of the paths that are no longer served.
    struct Switch: CustomTestStringConvertible, Sendable {
      let settings: String
      let gone: [String]

      var testDescription: String { settings }
    }

    private static let accounts = [
      "/v1/auth/", "/.well-known/", "/v1/admin/users", "/v1/admin/signing-keys/",
    ]
    private static let devices = [
      "/v1/devices", "/v1/mutations", "/v1/queue", "/v1/admin/queues", "/v1/admin/devices",
    ]
    private static let push = ["/v1/push/", "/v1/admin/push/"]
    private static let s3 = ["/s3", "/v1/admin/s3/"]

    static let switches = [
      // Notifications are for users and their devices, so push goes with either.
      Switch(settings: "accounts: off", gone: accounts + push),
      Switch(settings: "devices: off", gone: devices + push),
      Switch(settings: "files: off", gone: ["/v1/files"] + s3),
      Switch(settings: "push: off", gone: push),
      Switch(settings: "s3: off", gone: s3),
      Switch(
        settings: "accounts: off\ndevices: off\nfiles: off",
        gone: accounts + devices + push + s3 + ["/v1/files"]),
      Switch(
        settings: """
          accounts:
            enabled: false
            issuers: {other: {url: "http://127.0.0.1:9", audience: a}}
          """, gone: accounts),
    ]

    private struct Ask {
      let method: String
      let target: String

      /// A request for a line of the table: names are `x`, and a stream is not opened.
      init(line: String) {
        let words = line.split(separator: " ").map(String.init)
        method = words[0]
        let path = words[1].replacing(/\{[^}]*\}/, with: "x")
        target = path.hasSuffix("/stream") ? path + "?ticket=x" : path
      }
    }

    /// The statuses of all routes of a service, for an anonymous caller and for the operator.
    private static func statuses(
      _ lines: [String], of larder: RunningLarder
    ) async throws -> [String: [Int]] {
      var statuses: [String: [Int]] = [:]
      for line in lines {
        let ask = Ask(line: line)
        for headers in [[], [OperatingTests.admin]] {
          let answer = try await larder.request(
            ask.method, ask.target, headers: headers, body: ask.method == "GET" ? nil : "{}")
          statuses[line, default: []].append(answer.status)
        }
      }
      return statuses
    }

    @Test(
      "Exactly the routes of a part that is off are gone; all others answer as before",
      arguments: switches)
    func removesExactlyItsRoutes(_ parts: Switch) async throws {
      let whole = try await RunningLarder.start()
      let lines = whole.routes
      let before = try await Self.statuses(lines, of: whole)
      await whole.stop()
      let gone = lines.filter { line in
        let path = line.split(separator: " ")[1]
        return parts.gone.contains { path.hasPrefix($0) }
      }
      #expect(gone.count >= 4)

      let larder = try await RunningLarder.start(settings: parts.settings)
      #expect(larder.routes == lines.filter { !gone.contains($0) })
      let after = try await Self.statuses(lines, of: larder)
      for line in lines {
        #expect(after[line] == (gone.contains(line) ? [404, 404] : before[line]), "\(line)")
      }
      let document = try JSONValue(parsing: try await larder.get("/openapi.json").body)
      let documented = try #require(document["paths"]?.members).map(\.name)
      #expect(documented.contains("/api/films/{id}"))
      #expect(documented.filter { path in parts.gone.contains { path.hasPrefix($0) } } == [])
      await larder.stop()
    }

    @Test("The path of a part that is off is answered as an unknown path, for every method")
    func answersAsForUnknownPaths() async throws {
      let larder = try await RunningLarder.start(
        settings: "accounts: off\ndevices: off\nfiles: off")
      for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        let unknown = try await larder.request(method, "/v1/nothing")
        for path in [
          "/v1/auth/sign-in", "/v1/devices/me", "/v1/files/x/y", "/s3/x", "/v1/push/registration",
        ] {
          let answer = try await larder.request(method, path)
          #expect(answer.status == unknown.status, "\(method) \(path)")
          #expect(answer["content-type"] == unknown["content-type"], "\(method) \(path)")
          #expect(answer["allow"] == unknown["allow"], "\(method) \(path)")
        }
      }
      await larder.stop()
    }

    @Test("Without files no folder is made for them, and those stored before are kept")
    func keepsStoredFiles() async throws {
      let larder = try await RunningLarder.start(settings: "files: off")
      #expect(!FileManager.default.fileExists(atPath: "\(larder.folder)/data/files"))
      await larder.stopService()
      larder.extraSettings = ""
      try await larder.startService()
      let put = try await larder.request("PUT", "/v1/files/abc", headers: [OperatingTests.admin])
      #expect(put.status == 201, "\(put.text)")
      await larder.stopService()
      larder.extraSettings = "files: off"
      try await larder.startService()
      #expect(try await larder.get("/v1/files/abc", OperatingTests.admin).status == 404)
      await larder.stopService()
      larder.extraSettings = ""
      try await larder.startService()
      #expect(try await larder.get("/v1/files/abc", OperatingTests.admin).status == 200)
      await larder.stop()
    }

    @Test("A device token is refused while devices are off, and good again afterwards")
    func refusesDeviceTokens() async throws {
      let larder = try await RunningLarder.start()
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      #expect(try await larder.get("/api/films/f1", device).status == 200)
      await larder.stopService()
      larder.extraSettings = "devices: off"
      try await larder.startService()
      let refused = try await larder.get("/api/films/f1", device)
      #expect(refused.status == 401, "\(refused.text)")
      #expect(refused.text.contains("devices.enabled"))
      #expect(try await larder.get("/api/films/f1").status == 200)
      await larder.stopService()
      larder.extraSettings = ""
      try await larder.startService()
      #expect(try await larder.get("/v1/devices/me", device).status == 200)
      await larder.stop()
    }

    @Test("A token of an account is no longer verified while accounts are off")
    func verifiesNoOwnTokens() async throws {
      let larder = try await RunningLarder.start()
      let signUp = try await larder.post(
        "/v1/auth/sign-up", #"{"email":"ada@example.com","password":"correct horse battery"}"#)
      #expect(signUp.status == 201, "\(signUp.text)")
      let token = try #require(try JSONValue(parsing: signUp.body)["accessToken"]?.string)
      let user = ("Authorization", "Bearer \(token)")
      #expect(try await larder.get("/v1/auth/me", user).status == 200)
      await larder.stopService()
      larder.extraSettings = "accounts: off\ndevices: {register: open}"
      try await larder.startService()
      // To this service it is a token of upstream now.
      #expect(try await larder.get("/v1/auth/me", user).status == 404)
      let device = try await larder.post("/v1/devices", #"{"platform":"ios"}"#, user)
      #expect(device.status == 201, "\(device.text)")
      #expect(try JSONValue(parsing: device.body)["userId"]?.string == nil)
      await larder.stop()
    }
  }
}
