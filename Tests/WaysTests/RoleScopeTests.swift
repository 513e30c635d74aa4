import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Data fetched by an operation with a role: every kind of read shows it to callers with that role only.
  struct RoleScopeTests {
    private static let operations = [
      "boss": """
      query Boss @route(path: "/boss") @access(role: ADMIN) @cache(maxAge: 600) {
        people(limit: 3) { id name }
      }
      """,
      "member": """
      query Member @route(path: "/member") @access(role: USER)
      @cache(maxAge: 600, scope: PUBLIC) { studios { id name } }
      """,
      "device": """
      query Phone @route(path: "/phone") @access(role: DEVICE)
      @cache(maxAge: 600, scope: PUBLIC) { serverTime }
      """,
      "open": """
      query Open @route(path: "/open") @cache(maxAge: 600, scope: PUBLIC) {
        topFilms(limit: 2) { id title }
      }
      """,
    ]

    private static let settings = """
      accounts: {passwordCost: 10, signUp: open}
      devices: {register: open}
      types:
        Person: {search: [name]}
        Studio: {search: [name]}
      """

    /// Every kind of read of a type's stored entities.
    private static func reads(of type: String, id: String, word: String) -> [String] {
      [
        "/v1/entities/\(type)?limit=100&total=true", "/v1/entities/\(type)/\(id)",
        "/v1/entities/\(type)?order=name&section=name",
        "/v1/entities/\(type)?filter=name%20%3E%20%3F&arg=%20", "/v1/search?q=\(word)",
        "/v1/changes?types=\(type)", "/v1/entities/\(type)/diff", "/v1/entities",
      ]
    }

    @Test("A role's entities are in no read of a caller without the role")
    func rolesHoldEverywhere() async throws {
      let larder = try await RunningLarder.start(
        settings: Self.settings, operations: Self.operations, service: "x-service-key: s3cret")
      let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")
      let user = try await AccountTests.signUp(larder).bearer
      let phone = ("Device-Token", try await DeviceTests.register(larder).token)
      #expect(try await larder.get("/api/open").status == 200)
      let boss = try await larder.get("/api/boss", admin)
      #expect(boss.status == 200 && boss["cache-control"]?.hasPrefix("private") == true)
      let member = try await larder.get("/api/member", user)
      #expect(member.status == 200, "\(member.text)")
      for (target, headers) in [
        ("/api/boss", [user]), ("/api/boss", []), ("/api/boss", [phone]), ("/api/member", []),
        ("/api/member", [phone]), ("/api/member", [("Authorization", "Bearer opaque")]),
        ("/api/member", [admin]),
      ] {
        let refused = try await larder.request("GET", target, headers: headers)
        #expect(refused.status == 401, "\(target) \(headers)")
      }
      let person = try #require(try JSONValue(parsing: boss.body)["data"]?["people"]?[0])
      let studio = try #require(try JSONValue(parsing: member.body)["data"]?["studios"]?[0])
      try await check(
        larder, "Person", person, allowed: [[admin]], refused: [[user], [user, phone]])
      try await check(
        larder, "Studio", studio, allowed: [[user], [user, phone]], refused: [[admin]])
      await larder.stop()
    }

    private func check(
      _ larder: RunningLarder, _ type: String, _ entity: JSONValue,
      allowed: [[(String, String)]], refused: [[(String, String)]]
    ) async throws {
      let id = try #require(entity["id"]?.string)
      let name = try #require(entity["name"]?.string)
      let word = try #require(
        name.split(separator: " ").first.map(String.init)?
          .addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed))
      for headers in refused {
        for target in Self.reads(of: type, id: id, word: word) {
          let response = try await larder.request("GET", target, headers: headers)
          #expect(!response.text.contains(name), "\(target): \(response.text)")
          #expect(!response.text.contains("\"id\":\"\(id)\""), "\(target): \(response.text)")
        }
        let list = try await larder.request(
          "GET", "/v1/entities/\(type)?total=true", headers: headers)
        #expect(try JSONValue(parsing: list.body)["total"]?.int64 == 0)
        let one = try await larder.request("GET", "/v1/entities/\(type)/\(id)", headers: headers)
        #expect(one.status == 404)
      }
      for headers in allowed {
        let list = try await larder.request(
          "GET", "/v1/entities/\(type)?total=true", headers: headers)
        #expect(list.text.contains(name), "\(headers): \(list.text)")
        let changes = try await larder.request(
          "GET", "/v1/changes?types=\(type)", headers: headers)
        #expect(changes.text.contains(name))
        let search = try await larder.request("GET", "/v1/search?q=\(word)", headers: headers)
        #expect(search.text.contains(name))
      }
    }

    @Test("A role's cached response is served to callers with the role alone")
    func cachedResponses() async throws {
      let larder = try await RunningLarder.start(
        settings: Self.settings, operations: Self.operations, service: "x-service-key: s3cret")
      let phone = ("Device-Token", try await DeviceTests.register(larder).token)
      for _ in 0..<3 {
        #expect(try await larder.get("/api/phone", phone).status == 200)
        #expect(try await larder.get("/api/phone").status == 401)
      }
      await larder.stop()
    }

    @Test(
      "With service credentials only the operator opens accounts, unless settings allow it")
    func guardedDefaults() async throws {
      let larder = try await RunningLarder.start(
        settings: "accounts: {passwordCost: 10}", service: "x-service-key: s3cret")
      let credentials = AccountTests.credentials("ada")
      #expect(try await larder.post("/v1/auth/sign-up", credentials).status != 201)
      let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")
      let made = try await larder.post("/v1/auth/sign-up", credentials, admin)
      #expect(made.status == 201, "\(made.text)")
      let device = #"{"platform":"ios"}"#
      #expect(try await larder.post("/v1/devices", device).status == 401)
      let session = try AccountTests.Session(made)
      #expect(try await larder.post("/v1/devices", device, session.bearer).status == 201)
      await larder.stop()
    }
  }
}
