import DemoUpstream
import Foundation
import Glibc
import LosslessJSON
import Synchronization
import TestSupport
import Testing

extension Crashes {
  /// Reloads of operations and settings in the running process.
  struct ReloadTests {
    private static let studios = "query Studios { studios { id name } }\n"

    /// A query with other fields of the film.
    private static func film(_ fields: String) -> String {
      "query Film($id: ID!) @route(path: \"/films/{id}\") { film(id: $id) { id \(fields) } }\n"
    }

    /// A service with operations of its own, behind the film library.
    private static func start(
      _ operations: String, _ arguments: String..., settings: String = "",
      local: String? = nil, latency: Duration = .zero
    ) async throws -> (folder: ServiceFolder, larder: LarderProcess, demo: DemoServer) {
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      try await demo.change { $0.latency = latency }
      let folder = try ServiceFolder(
        upstream: demo.url, operations: "operations", settings: settings)
      try folder.write(operations, to: "operations/films.graphql")
      if let local { try folder.write(local, to: "local.graphql") }
      let larder = try LarderProcess.spawnService(
        folder, arguments + ["--set", "log.level=notice"])
      try await larder.becomeReady()
      return (folder, larder, demo)
    }

    private static func get(_ target: String, _ larder: LarderProcess) async throws -> RawResponse {
      let port = larder.port
      return try await onOwnThread { try RawClient(port: port).request("GET", target) }
    }

    /// The outcome of the last reload, as `/readyz` has it.
    private static func outcome(_ larder: LarderProcess) async throws -> String? {
      try JSONValue(parsing: try await get("/readyz", larder).body)["reload"]?["outcome"]?.string
    }

    private static func isServed(_ field: String, by larder: LarderProcess) async -> Bool {
      await Moment.comes(withinSeconds: 20) {
        try await get("/api/films/f1", larder).text.contains("\"\(field)\"")
      }
    }

    @Test("SIGHUP serves changed operations, and says what has changed")
    func hangupReloads() async throws {
      let (folder, larder, demo) = try await Self.start(Self.film("title"))
      #expect(try await Self.get("/api/films/f1", larder).text.contains("\"title\""))
      #expect(try await Self.outcome(larder) == nil)
      try folder.write(Self.film("year") + Self.studios, to: "operations/films.graphql")
      larder.signal(SIGHUP)
      #expect(await Self.isServed("year", by: larder), "\(larder.errors)")
      #expect(try await Self.get("/v1/operations/Studios", larder).status == 200)
      #expect(try await Self.outcome(larder) == "applied")
      let isLogged = await Moment.comes(withinSeconds: 10) {
        let line = larder.errors.split(separator: "\n").first {
          $0.contains("operations and settings reloaded")
        }
        return line?.contains("added=Studios") == true && line?.contains("changed=Film") == true
      }
      #expect(isLogged, "\(larder.errors)")
      try folder.write(Self.film("year"), to: "operations/films.graphql")
      larder.signal(SIGHUP)
      let isGone = await Moment.comes(withinSeconds: 20) {
        try await Self.get("/v1/operations/Studios", larder).status == 404
      }
      #expect(isGone, "\(larder.errors)")
      let isRemoved = await Moment.comes(withinSeconds: 10) {
        larder.errors.contains("removed=Studios")
      }
      #expect(isRemoved, "\(larder.errors)")
      #expect(try await larder.terminate() == 0, "\(larder.errors)")
      #expect(try StoredFiles(of: folder).faults() == [])
      await demo.stop()
    }

    @Test("A reload in an outage of upstream knows that it goes on")
    func outagesOutliveReloads() async throws {
      let (folder, larder, demo) = try await Self.start(Self.film("title"))
      try await demo.change { $0.fail = .refuse }
      let isFailing = await Moment.comes(withinSeconds: 20) {
        _ = try await Self.get("/api/films/f1", larder)
        return try await Self.upstream(larder) == "failing"
      }
      #expect(isFailing, "\(larder.errors)")
      try folder.write(Self.film("year"), to: "operations/films.graphql")
      larder.signal(SIGHUP)
      let isApplied = await Moment.comes(withinSeconds: 20) {
        try await Self.outcome(larder) == "applied"
      }
      #expect(isApplied, "\(larder.errors)")
      #expect(try await Self.upstream(larder) == "failing")
      try await demo.change { $0.fail = .off }
      let isOver = await Moment.comes(withinSeconds: 30) {
        _ = try await Self.get("/api/films/f2", larder)
        return larder.errors.contains("upstream responds again")
      }
      #expect(isOver, "\(larder.errors)")
      #expect(try await larder.terminate() == 0)
      await demo.stop()
    }

    /// The state of upstream, as `/readyz` has it.
    private static func upstream(_ larder: LarderProcess) async throws -> String? {
      try JSONValue(parsing: try await get("/readyz", larder).body)["upstream"]?.string
    }

    @Test("SIGHUP without a change keeps streams open")
    func hangupWithoutChange() async throws {
      let (folder, larder, demo) = try await Self.start(Self.film("title"))
      let stream = try await EventClient.open(
        port: larder.port, "/v1/changes/stream?since=now")
      #expect(try await stream.nextEvent()?.event == "bookmark")
      larder.signal(SIGHUP)
      let isLogged = await Moment.comes(withinSeconds: 10) {
        larder.errors.contains("those in service already")
      }
      #expect(isLogged, "\(larder.errors)")
      #expect(try await Self.get("/api/films/f1", larder).status == 200)
      #expect(try await stream.nextEvent() != nil)
      #expect(try await larder.terminate() == 0)
      #expect(try StoredFiles(of: folder).faults() == [])
      await demo.stop()
    }

    @Test(
      "A watched file is taken when it is saved, and faults keep what is served",
      arguments: [Data.WritingOptions.atomic, []])
    func watchedFilesAreTaken(options: Data.WritingOptions) async throws {
      let (folder, larder, demo) = try await Self.start(Self.film("title"), "--watch")
      let path = URL(filePath: "\(folder.path)/operations/films.graphql")
      try Data(Self.film("year").utf8).write(to: path, options: options)
      #expect(await Self.isServed("year", by: larder), "\(larder.errors)")

      let faulty = Self.film("yeer") + "query Other { nothing }\n"
      try Data(faulty.utf8).write(to: path, options: options)
      let isReported = await Moment.comes(withinSeconds: 20) {
        try await Self.outcome(larder) == "refused"
      }
      #expect(isReported, "\(larder.errors)")
      // As the command prints it, each line indented.
      let check = try await LarderProcess.run("check", in: folder)
      #expect(check.status == 65)
      let lines = check.errors.dropLast().split(separator: "\n", omittingEmptySubsequences: false)
      let report = lines.map { "  \($0)" }.joined(separator: "\n")
      #expect(report.contains("films.graphql:1:") && report.contains("films.graphql:2:"))
      #expect(report.contains("^"))
      let isPrinted = await Moment.comes(withinSeconds: 10) { larder.errors.contains(report) }
      #expect(isPrinted, "\(larder.errors)\n\(report)")
      #expect(try await Self.get("/api/films/f2", larder).text.contains("\"year\""))

      try Data(Self.film("runtimeMinutes").utf8).write(to: path, options: options)
      #expect(await Self.isServed("runtimeMinutes", by: larder), "\(larder.errors)")
      #expect(try await larder.terminate() == 0)
      await demo.stop()
    }

    @Test("Changed settings are taken, and those that need a restart are named")
    func settingsAreTaken() async throws {
      let (folder, larder, demo) = try await Self.start(
        Self.film("title"), "--watch", settings: "cors: {origins: ['https://a.example']}")
      let text = try String(contentsOfFile: folder.settingsPath, encoding: .utf8)
      let changed = text.replacing("https://a.example", with: "https://b.example")
        .replacing("data: \(folder.dataPath)", with: "data: \(folder.path)/elsewhere")
        .replacing("listen: 127.0.0.1:0", with: "listen: 127.0.0.1:1")
      try folder.write(changed, to: "larder.yaml")
      let port = larder.port
      let isTaken = await Moment.comes(withinSeconds: 20) {
        try await onOwnThread {
          try RawClient(port: port).request(
            "GET", "/api/films/f1", headers: [("Origin", "https://b.example")])
        }["access-control-allow-origin"] == "https://b.example"
      }
      #expect(isTaken, "\(larder.errors)")
      let line = larder.errors.split(separator: "\n").first {
        $0.contains("restart the service to apply them")
      }
      #expect(line?.contains("settings=\"listen, data\"") == true, "\(larder.errors)")
      #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/elsewhere"))

      try folder.write(changed + "\nunknown: 1\n", to: "larder.yaml")
      let isReported = await Moment.comes(withinSeconds: 20) {
        larder.errors.contains("unknown")
      }
      #expect(isReported, "\(larder.errors)")
      #expect(try await Self.outcome(larder) == "refused")
      #expect(try await larder.terminate() == 0)
      await demo.stop()
    }

    @Test("The console's session outlives a reload, unless the admin token has changed")
    func consoleSessionsOutliveReloads() async throws {
      let (folder, larder, demo) = try await Self.start(Self.film("title"))
      let port = larder.port
      let signedIn = try await onOwnThread {
        try RawClient(port: port).request(
          "POST", "/v1/admin/session", headers: [("Content-Type", "application/json")],
          body: #"{"token":"\#(ServiceFolder.adminToken)"}"#)
      }
      #expect(signedIn.status == 201, "\(signedIn.text)")
      let cookie = String(try #require(signedIn["set-cookie"]).prefix { $0 != ";" })
      @Sendable func session() async throws -> RawResponse {
        try await onOwnThread {
          try RawClient(port: port).request(
            "GET", "/v1/admin/session", headers: [("Cookie", cookie)])
        }
      }
      let csrfToken = try JSONValue(parsing: try await session().body)["csrfToken"]
      try folder.write(Self.film("year"), to: "operations/films.graphql")
      larder.signal(SIGHUP)
      #expect(await Self.isServed("year", by: larder), "\(larder.errors)")
      let kept = try await session()
      #expect(kept.status == 200, "\(kept.text)")
      #expect(try JSONValue(parsing: kept.body)["csrfToken"] == csrfToken)
      let text = try String(contentsOfFile: folder.settingsPath, encoding: .utf8)
      try folder.write(
        text.replacing(ServiceFolder.adminToken, with: String(repeating: "b", count: 40)),
        to: "larder.yaml")
      larder.signal(SIGHUP)
      #expect(await Moment.comes(withinSeconds: 20) { try await session().status == 401 })
      let ended = try JSONValue(parsing: try await session().body)
      #expect(ended["code"] == "session_expired", "\(ended)")
      #expect(try await larder.terminate() == 0)
      await demo.stop()
    }

    @Test("A change that the store refuses gives way to the former operations")
    func refusedChangesAreReverted() async throws {
      let before = "type Note @local { id: ID! text: String }\n"
      let (folder, larder, demo) = try await Self.start(Self.film("title"), local: before)
      let port = larder.port
      let (token, id) = try await onOwnThread { () -> (String, String) in
        let client = try RawClient(port: port)
        let token = try client.registerDevice()
        let made = try client.request(
          "POST", "/v1/entities/Note",
          headers: [("Device-Token", token), ("Content-Type", "application/json")],
          body: #"{"text":"no number"}"#)
        let id = try JSONValue(parsing: made.body)["id"]?.string
        return (token, try #require(id, "\(made.text)"))
      }
      func note() async throws -> RawResponse {
        try await onOwnThread {
          try RawClient(port: port).request(
            "GET", "/v1/entities/Note/\(id)", headers: [("Device-Token", token)])
        }
      }
      #expect(try await note().text.contains("no number"))
      try folder.write("type Note @local { id: ID! text: Int }\n", to: "local.graphql")
      try folder.write(Self.film("year"), to: "operations/films.graphql")
      larder.signal(SIGHUP)
      let isReverted = await Moment.comes(withinSeconds: 20) {
        try await Self.outcome(larder) == "reverted"
      }
      #expect(isReverted, "\(larder.errors)")
      #expect(try await note().text.contains("no number"))
      #expect(try await Self.get("/api/films/f1", larder).text.contains("\"title\""))
      #expect(larder.errors.contains("the former ones are served again"), "\(larder.errors)")

      try folder.write(before, to: "local.graphql")
      larder.signal(SIGHUP)
      #expect(await Self.isServed("year", by: larder), "\(larder.errors)")
      #expect(try await note().text.contains("no number"))
      #expect(try await larder.terminate() == 0)
      #expect(try StoredFiles(of: folder).faults() == [])
      await demo.stop()
    }
  }
}
