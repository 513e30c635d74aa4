import Composition
import DemoUpstream
import Foundation
import Synchronization
import TestSupport
import Testing

extension Ways {
  /// `larder init` and `larder schema pull` in front of the film library and of servers that give no schema.
  struct InitTests {
    /// The lines that a command prints.
    private final class Lines: Sendable {
      private let state = Mutex<[String]>([])
      var text: String { state.withLock { $0.joined(separator: "\n") } }
      func add(_ line: String) { state.withLock { $0.append(line) } }
    }

    private static func films() async throws -> DemoServer {
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      return demo
    }

    private static func run(
      _ url: String, in folder: String, headers: [String] = []
    ) async throws -> String {
      var request = InitCommand.Request(url: url)
      request.folder = folder
      request.headers = headers
      let lines = Lines()
      try await InitCommand(request, print: lines.add).run()
      return lines.text
    }

    private static func names(_ folder: String) -> [String] {
      (FileManager.default.subpaths(atPath: folder) ?? []).sorted()
    }

    @Test("A project begins with an operation for each root field, which is tried and checked")
    func beginsAProject() async throws {
      let demo = try await Self.films()
      let folder = try TestFolder("init")
      defer { folder.remove() }
      let output = try await Self.run(demo.url, in: folder.path)
      for part in [
        "28 operations in", "GET  /api/films/{id}  (Film)", "POST /api/rate-film  (RateFilm)",
        "GET  /api/film-changed/stream  (FilmChanged)", "Checked: 28 operations, no faults",
        "Written: \(folder.path)/.gitignore", "fwd=uri-miss; stored", "larder; hit",
        "curl -i http://127.0.0.1:8080/api/films/f1",
        "cd \(folder.path)", "larder serve",
      ] {
        #expect(output.contains(part), "no \(part) in\n\(output)")
      }
      #expect(!output.split(separator: "\n").contains("Left out:"))
      #expect(Self.names(folder.path).count == 4 + 28)
      // Two requests: the second of the list was a hit, and nothing else was asked.
      #expect(demo.report["Films"].requests == 1)
      #expect(demo.report["Film"].requests == 1)
      let loaded = try Workspace.settings(path: "\(folder.path)/larder.yaml", flags: [])
      let report = CheckReport(try Workspace.open(loaded)).text
      #expect(report.hasSuffix("28 operations checked, no faults."), "\(report)")
      #expect(!report.contains("Not cached"), "\(report)")
      await demo.stop()
    }

    @Test(
      "With a credential of the service the requests are a user's, and the credential is in no file"
    )
    func keepsCredentialsOut() async throws {
      let demo = try await Self.films()
      let folder = try TestFolder("init")
      defer { folder.remove() }
      let output = try await Self.run(
        demo.url, in: folder.path, headers: ["X-Api-Key: a-secret-of-the-tests"])
      #expect(output.contains("as a signed-in user"))
      #expect(output.contains("-H \"Authorization: Bearer $TOKEN\""))
      #expect(output.contains("larder; hit"))
      #expect(output.contains(#"LARDER_UPSTREAM_HEADERS='{"X-Api-Key": "VALUE"}'"#))
      #expect(!output.contains("a-secret-of-the-tests"))
      for name in Self.names(folder.path) {
        let text = (try? String(contentsOfFile: "\(folder.path)/\(name)", encoding: .utf8)) ?? ""
        #expect(!text.contains("a-secret-of-the-tests"), "\(name)")
      }
      await demo.stop()
    }

    @Test("An API that fails the trial still has its project")
    func keepsTheProjectOfAFailingAPI() async throws {
      let demo = try await Self.films()
      let folder = try TestFolder("init")
      defer { folder.remove() }
      try await Self.pull(demo, folder.path)
      try await demo.change { $0.fail = .refuse }
      var request = InitCommand.Request(url: demo.url)
      request.folder = "\(folder.path)/project"
      request.schemaFile = "\(folder.path)/schema.graphql"
      let lines = Lines()
      try await InitCommand(request, print: lines.add).run()
      #expect(lines.text.contains("503"))
      #expect(lines.text.contains("larder doctor"))
      #expect(Self.names(request.folder).contains("operations/Film.graphql"))
      await demo.stop()
    }

    private static func pull(_ demo: DemoServer, _ folder: String) async throws {
      let text = "upstream: {url: \"\(demo.url)\"}\n"
      let loaded = try Settings.load(
        from: SettingsSources(file: .init(name: "\(folder)/larder.yaml", text: text)))
      try await SchemaPull(loaded.settings, print: { _ in }).run(output: nil)
    }

    @Test("schema pull names what changes before it replaces a file, and --check writes nothing")
    func namesDrift() async throws {
      let demo = try await Self.films()
      let folder = try TestFolder("pull")
      defer { folder.remove() }
      let path = "\(folder.path)/schema.graphql"
      let settings = try Settings.load(
        from: SettingsSources(
          file: .init(
            name: "\(folder.path)/larder.yaml", text: "upstream: {url: \"\(demo.url)\"}\n"))
      ).settings
      func run(isCheck: Bool) async throws -> (isCurrent: Bool, text: String) {
        let lines = Lines()
        let isCurrent = try await SchemaPull(settings, print: lines.add)
          .run(output: nil, isCheck: isCheck)
        return (isCurrent, lines.text)
      }
      let missing = try await run(isCheck: true)
      #expect(!missing.isCurrent)
      #expect(missing.text.contains("does not exist"))
      #expect(!FileManager.default.fileExists(atPath: path))
      #expect(try await run(isCheck: false).text == "schema written to \(path)")
      #expect(try await run(isCheck: true).isCurrent)
      let present = try String(contentsOfFile: path, encoding: .utf8)
      let old = present.replacing("  filmsCount(filter: FilmFilter): Int!\n", with: "")
      #expect(old != present)
      try Data(old.utf8).write(to: URL(filePath: path))
      let drift = try await run(isCheck: true)
      #expect(!drift.isCurrent)
      #expect(drift.text.contains("+ Query.filmsCount: Int!"))
      #expect(try String(contentsOfFile: path, encoding: .utf8) == old)
      let pulled = try await run(isCheck: false)
      #expect(pulled.text.contains("+ Query.filmsCount: Int!"))
      #expect(try String(contentsOfFile: path, encoding: .utf8) == present)
      await demo.stop()
    }

    @Test(
      "Without a schema nothing is written, and the message says what to do",
      arguments: [
        ("http://127.0.0.1:1/graphql", "Connection refused"),
        ("http://nowhere.invalid/graphql", "has no address"),
        ("https://127.0.0.1:PORT/graphql", "TLS failed"),
        ("http://127.0.0.1:PORT/healthz", "not a GraphQL endpoint"),
        ("http://127.0.0.1:PORT/nothing", "not a GraphQL endpoint"),
      ])
    func saysWhatToDo(url: String, part: String) async throws {
      let demo = try await Self.films()
      let folder = try TestFolder("init")
      defer { folder.remove() }
      let port = demo.url.split(separator: ":").last?.prefix { $0 != "/" } ?? ""
      let url = url.replacing("PORT", with: port)
      let failure = await #expect(throws: StartFailure.self) {
        _ = try await Self.run(url, in: folder.path)
      }
      #expect(failure?.kind == .upstreamUnavailable)
      #expect(failure?.description.contains(part) == true, "\(failure?.description ?? "")")
      #expect(failure?.description.contains(url) == true)
      #expect(Self.names(folder.path).isEmpty)
      await demo.stop()
    }
  }
}
