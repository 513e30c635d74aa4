import Composition
import DemoUpstream
import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  struct AdminTests {
    static let admin = OperatingTests.admin

    static func sql(
      _ larder: RunningLarder, _ body: String
    ) async throws -> (status: Int, body: JSONValue) {
      let answer = try await larder.post("/v1/admin/sql", body, admin)
      return (answer.status, try JSONValue(parsing: answer.body))
    }

    @Test(
      "Admin routes need the admin token",
      arguments: [
        ("POST", "/v1/admin/sql"), ("GET", "/v1/admin/log-level"), ("PUT", "/v1/admin/log-level"),
        ("POST", "/v1/admin/backup"), ("POST", "/v1/admin/signing-keys/replace"),
        ("GET", "/v1/admin/tables"),
        ("POST", "/v1/admin/tables/clean-up"), ("DELETE", "/v1/admin/tables/Film"),
        ("DELETE", "/v1/admin/devices/d_1"), ("DELETE", "/v1/admin/users/u_1"),
      ])
    func adminRoutesNeedTheAdminToken(method: String, target: String) async throws {
      let larder = try await RunningLarder.start()
      let body = method == "GET" || method == "DELETE" ? nil : "{}"
      #expect(try await larder.request(method, target, body: body).status == 401)
      let ada = ("Authorization", "Bearer user-ada")
      #expect(
        try await larder.request(method, target, headers: [ada], body: body).status == 401)
      await larder.stop()
    }

    @Test("The operator removes a device, whose token ends at once")
    func removesDevices() async throws {
      let larder = try await RunningLarder.start()
      let (id, token) = try await DeviceTests.register(larder)
      let gone = try await larder.request(
        "DELETE", "/v1/admin/devices/\(id)", headers: [Self.admin])
      #expect(gone.status == 204, "\(gone.text)")
      #expect(try await larder.get("/v1/devices/me", ("Device-Token", token)).status == 401)
      let again = try await larder.request(
        "DELETE", "/v1/admin/devices/\(id)", headers: [Self.admin])
      #expect(again.status == 404)
      await larder.stop()
    }

    @Test("The operator deletes an account, whose session ends at once, and whose address is free")
    func deletesAccounts() async throws {
      let larder = try await RunningLarder.start()
      let credentials = #"{"email":"ada@example.com","password":"correct horse battery"}"#
      let signUp = try await larder.post("/v1/auth/sign-up", credentials)
      #expect(signUp.status == 201, "\(signUp.text)")
      let session = try JSONValue(parsing: signUp.body)
      let access = ("Authorization", "Bearer \(try #require(session["accessToken"]?.string))")
      let me = try JSONValue(parsing: try await larder.get("/v1/auth/me", access).body)
      let id = try #require(me["userId"]?.string ?? me["id"]?.string, "\(me)")
      let path = "/v1/admin/users/\(id)"
      #expect(try await larder.request("DELETE", path, headers: [access]).status == 401)
      #expect(try await larder.request("DELETE", path, headers: [Self.admin]).status == 204)
      let refresh = try #require(session["refreshToken"]?.string)
      let refreshed = try await larder.post(
        "/v1/auth/refresh", #"{"refreshToken":"\#(refresh)"}"#)
      #expect(refreshed.status == 401, "\(refreshed.text)")
      #expect(try await larder.post("/v1/auth/sign-in", credentials).status == 401)
      #expect(try await larder.request("DELETE", path, headers: [Self.admin]).status == 404)
      #expect(try await larder.post("/v1/auth/sign-up", credentials).status == 201)
      await larder.stop()
    }

    @Test("The admin SQL endpoint reads stored data")
    func sqlReadsStoredData() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      let (status, body) = try await Self.sql(
        larder,
        #"{"sql":"SELECT key, title IS NOT NULL FROM entity_Film WHERE key = ?","args":["f1"]}"#)
      #expect(status == 200)
      #expect(body["columns"]?[0] == "key")
      #expect(body["rows"] == [["f1", 1]])
      #expect(body["truncated"] == false)
      let few = try await Self.sql(
        larder, #"{"sql":"SELECT value FROM json_each('[1,2,3]')","limit":2}"#)
      #expect(few.body["rows"] == [[1], [2]])
      #expect(few.body["truncated"] == true)
      await larder.stop()
    }

    @Test("The admin SQL endpoint only reads, within its limits")
    func sqlOnlyReads() async throws {
      let larder = try await RunningLarder.start(settings: "limits: {queryDeadline: 100ms}")
      _ = try await DeviceTests.register(larder)
      let syntax = try await Self.sql(larder, #"{"sql":"SELEC 1"}"#)
      #expect(syntax.status == 400)
      #expect(syntax.body["detail"]?.string?.contains("syntax error") == true)
      #expect(try await Self.sql(larder, #"{"sql":"SELECT 1; SELECT 2"}"#).status == 400)
      #expect(try await Self.sql(larder, #"{"sql":"DELETE FROM device"}"#).status == 403)
      let secret = try await Self.sql(larder, #"{"sql":"SELECT token_digest FROM device"}"#)
      #expect(secret.status == 403)
      let endless = try await Self.sql(
        larder,
        #"{"sql":"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT max(i) FROM n"}"#
      )
      #expect(endless.status == 503)
      #expect(endless.body["code"] == "too_costly")
      let faults = try await Self.sql(larder, #"{"args":[[1]],"limit":0,"more":true}"#)
      #expect(faults.status == 400)
      #expect(
        Set((faults.body["errors"]?.array ?? []).compactMap { $0["pointer"]?.string })
          == ["/sql", "/args/0", "/limit", "/more"])
      await larder.stop()
    }

    @Test("A backup is a complete database of its own")
    func backupIsACompleteDatabase() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      let answer = try await larder.post("/v1/admin/backup", #"{"name":"nightly"}"#, Self.admin)
      #expect(answer.status == 201, "\(answer.text)")
      #expect(try JSONValue(parsing: answer.body)["file"] == "backups/nightly.sqlite")
      let again = try await larder.post("/v1/admin/backup", #"{"name":"nightly"}"#, Self.admin)
      #expect(again.status == 409)
      for name in ["../up", ".hidden", "a/b", "", "a b"] {
        let bad = try await larder.post(
          "/v1/admin/backup", JSONValue.object([JSONMember("name", .string(name))]).text, Self.admin
        )
        #expect(bad.status == 400, "\(name)")
      }
      #expect(
        try await larder.request("POST", "/v1/admin/backup", headers: [Self.admin]).status == 201)
      // The doctor's report on a folder that holds the copy.
      let folder = "\(larder.folder)/restored"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try FileManager.default.copyItem(
        atPath: "\(larder.folder)/data/backups/nightly.sqlite", toPath: "\(folder)/larder.sqlite")
      let loaded = try Settings.load(
        from: SettingsSources(
          file: .init(
            name: "\(larder.folder)/other.yaml",
            text: "data: \(folder)\nupstream: {url: \(larder.demo.url)}")))
      let report = await DoctorReport.examine(loaded)
      let finding = try #require(report.findings.first { $0.part == "database" })
      #expect(finding.verdict == .good, "\(finding.text)")
      #expect(finding.text.contains(" entities"))
      await larder.stop()
    }

    @Test("The backup command copies the database of a running service")
    func backupCommandCopiesARunningService() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      let loaded = try Settings.load(
        from: SettingsSources(
          file: .init(name: "\(larder.folder)/larder.yaml", text: "data: \(larder.folder)/data")))
      let path = "\(larder.folder)/copy.sqlite"
      #expect(try BackupCommand(loaded.settings, path: path).run() == path)
      #expect(throws: StartFailure.self) { try BackupCommand(loaded.settings, path: path).run() }
      let own = try BackupCommand(loaded.settings, path: nil).run()
      #expect(own.hasPrefix("\(larder.folder)/data/backups/larder-"))
      #expect(FileManager.default.fileExists(atPath: own))
      await larder.stop()
    }

    @Test("Tables are listed, and a table in use cannot be deleted")
    func unusedTablesAreListedAndUsedOnesKept() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      let list = try JSONValue(parsing: try await larder.get("/v1/admin/tables", Self.admin).body)
      let film = try #require(list["tables"]?.array?.first { $0["type"] == "Film" })
      #expect(film["name"] == "entity_Film")
      #expect(film["entities"] == 1)
      #expect(film["named"] == true)
      #expect(film["columns"]?.array?.contains { $0["field"] == "title" } == true)
      let drop = { (type: String) in
        try await larder.request("DELETE", "/v1/admin/tables/\(type)", headers: [Self.admin]).status
      }
      #expect(try await drop("Film") == 409)
      #expect(try await drop("Boat") == 404)
      let cleanUp = try await larder.request(
        "POST", "/v1/admin/tables/clean-up", headers: [Self.admin])
      #expect(try JSONValue(parsing: cleanUp.body) == ["types": [], "columns": []])
      #expect(try await larder.get("/api/films/f1").cacheStatus?.hasPrefix("hit") == true)
      await larder.stop()
    }

    @Test("A table that no operation names any more is deleted on request")
    func unusedTableIsDeletedManually() async throws {
      func film(_ fields: String) -> [String: String] {
        ["film": "query Film($id: ID!) @cache(scope: PUBLIC) { film(id: $id) { \(fields) } }"]
      }
      let larder = try await RunningLarder.start(
        operations: film("id title year director { id name } studio { id name }"))
      func tables() async throws -> [String: JSONValue] {
        let list = try JSONValue(parsing: try await larder.get("/v1/admin/tables", Self.admin).body)
        return Dictionary(
          (list["tables"]?.array ?? []).map { ($0["type"]?.string ?? "", $0) },
          uniquingKeysWith: { first, _ in first })
      }
      #expect(try await larder.get("/v1/operations/Film?id=f1").status == 200)
      let before = try await tables()
      #expect(before["Person"]?["named"] == true)
      #expect(before["Studio"]?["entities"] == 1)
      await larder.stopService()
      larder.operations = film("id title")
      try await larder.startService()
      #expect(try await tables()["Person"]?["named"] == false)

      let dropped = try await larder.request(
        "DELETE", "/v1/admin/tables/Person", headers: [Self.admin])
      #expect(dropped.status == 204)
      #expect(dropped.body.isEmpty)
      #expect(Set(try await tables().keys) == ["Film", "Studio"])
      let again = try await larder.request(
        "DELETE", "/v1/admin/tables/Person", headers: [Self.admin])
      #expect(again.status == 404)
      let cleanUp = try await larder.request(
        "POST", "/v1/admin/tables/clean-up", headers: [Self.admin])
      #expect(cleanUp.status == 200)
      let report = try JSONValue(parsing: cleanUp.body)
      #expect(report["types"] == ["Studio"])
      #expect(report["columns"]?.array?.allSatisfy { $0["type"] == "Film" } == true)
      #expect(
        report["columns"]?.array?.compactMap { $0["field"]?.string }.sorted()
          == ["director", "studio", "year"])
      let after = try await tables()
      #expect(Array(after.keys) == ["Film"])
      #expect(after["Film"]?["entities"] == 1)
      #expect(
        after["Film"]?["columns"]?.array?.compactMap { $0["field"]?.string }.sorted()
          == ["id", "title"])

      // The operation returns, and its tables with it.
      await larder.stopService()
      larder.operations = film("id title director { id name }")
      try await larder.startService()
      #expect(try await larder.get("/v1/operations/Film?id=f1").status == 200)
      #expect(try await tables()["Person"]?["entities"] == 1)
      await larder.stop()
    }

    @Test("The log level can be changed at run time")
    func logLevelIsSetAtRunTime() async throws {
      let larder = try await RunningLarder.start()
      let shown = try await larder.get("/v1/admin/log-level", Self.admin)
      #expect(try JSONValue(parsing: shown.body) == ["level": "info"])
      let set = try await larder.request(
        "PUT", "/v1/admin/log-level", headers: [Self.admin], body: #"{"level":"debug"}"#)
      #expect(try JSONValue(parsing: set.body) == ["level": "debug"])
      let after = try await larder.get("/v1/admin/log-level", Self.admin)
      #expect(try JSONValue(parsing: after.body) == ["level": "debug"])
      let bad = try await larder.request(
        "PUT", "/v1/admin/log-level", headers: [Self.admin], body: #"{"level":"loud"}"#)
      #expect(bad.status == 400)
      await larder.stop()
    }
  }
}
