import Foundation
import LosslessJSON
import Testing

@testable import Composition

/// The forms of reports: what comes first, and the JSON that programs read.
struct ReportFormTests {
  private static func report(_ findings: [DoctorReport.Finding]) throws -> DoctorReport {
    DoctorReport(findings: findings, loaded: try SettingsFixture(yaml: "push: off").load())
  }

  private static let findings: [DoctorReport.Finding] = [
    .init(part: "data", verdict: .good, text: "fine"),
    .init(part: "clock", verdict: .note, text: "odd"),
    .init(part: "upstream", verdict: .bad, text: "gone", cure: "Start it."),
    .init(part: "key", verdict: .bad, text: "lost"),
  ]

  @Test("The doctor begins with faults and their cures, and ends with a sum")
  func worstFirst() throws {
    let report = try Self.report(Self.findings)
    #expect(
      report.text() == """
        FAULT\tupstream: gone
        \t  Start it.
        FAULT\tkey: lost
        note\tclock: odd
        ok\tdata: fine
        2 faults, 1 note, 1 ok.
        """)
    #expect(!report.isHealthy)
  }

  @Test("With --quiet what is good is left out, and nothing remains of a healthy report")
  func quiet() throws {
    let lines = try Self.report(Self.findings).text(isQuiet: true).split(separator: "\n")
    #expect(lines.map { $0.prefix { $0 != "\t" } } == ["FAULT", "", "FAULT", "note"])
    #expect(try Self.report([Self.findings[0]]).text(isQuiet: true).isEmpty)
  }

  @Test("Settings follow the findings only on request")
  func settingsOnRequest() throws {
    let report = try Self.report(Self.findings)
    #expect(!report.text().contains("listen:"))
    let text = report.text(withSettings: true)
    let sum = try #require(text.range(of: "1 ok."))
    let settings = try #require(text.range(of: "Settings in force:"))
    #expect(sum.upperBound < settings.lowerBound)
  }

  @Test("The doctor's JSON has verdicts, parts, texts and cures, worst first")
  func doctorJSON() throws {
    let report = try Self.report(Self.findings)
    let document = try JSONValue(parsing: Array(report.json().utf8))
    #expect(document["healthy"] == false)
    #expect(
      document["findings"]?[0]
        == ["verdict": "fault", "part": "upstream", "text": "gone", "cure": "Start it."])
    #expect(document["findings"]?.array?.map { $0["verdict"] } == ["fault", "fault", "note", "ok"])
    #expect(document["findings"]?[1]?["cure"] == .null)
    #expect(document["settings"] == nil)
    let whole = try JSONValue(parsing: Array(report.json(withSettings: true).utf8))
    #expect(whole["settings"]?.array?.isEmpty == false)
  }

  @Test("The settings' JSON has each value as YAML with its origin, and no secret")
  func settingsJSON() throws {
    let token = String(repeating: "s3cret", count: 8)
    let loaded = try SettingsFixture(
      yaml: "push: off\nadmin: {token: \(token)}", environment: ["LARDER_LOG_LEVEL": "debug"]
    ).load()
    let text = SettingsDump.json(loaded)
    #expect(!text.contains("s3cret"))
    let items = try #require(try JSONValue(parsing: Array(text.utf8))["items"]?.array)
    func item(_ name: String) -> JSONValue? { items.first { $0["name"]?.string == name } }
    #expect(
      item("push.enabled") == [
        "name": "push.enabled", "value": "false", "origin": "larder.yaml:1:7",
        "isDefault": false, "isSecret": false,
      ])
    #expect(item("log.level")?["origin"] == "LARDER_LOG_LEVEL")
    #expect(item("admin.token")?["isSecret"] == true)
    #expect(item("publicUrl")?["value"] == .null)
    #expect(item("cache.maxAge")?["isDefault"] == true)
    #expect(items.count >= 80)
  }

  @Test("A check that fails names each fault with its place")
  func checkJSON() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "larder-\(UUID())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = "\(folder)/larder.yaml"
    try Data("listn: :1\nupstream: {url: nowhere}\n".utf8).write(to: URL(filePath: path))
    var failure: StartFailure?
    do throws(StartFailure) {
      _ = try Workspace.settings(path: path, flags: [])
    } catch {
      failure = error
    }
    let json = CheckReport.json(try #require(failure))
    let document = try JSONValue(parsing: Array(json.utf8))
    #expect(document["valid"] == false)
    #expect(document["operations"] == .null)
    let faults = try #require(document["faults"]?.array)
    #expect(faults.map { $0["line"] } == [1, 2])
    #expect(faults[0]["file"]?.string?.hasSuffix("larder.yaml") == true)
    #expect(faults[0]["column"] == 1)
    #expect(faults[0]["message"]?.string?.contains("`listn`") == true)
    #expect(document["warnings"] == .array([]))
  }

  @Test("The check's JSON has all that its text has")
  func checkJSONIsComplete() throws {
    let folder = try OperationsFolder(
      schema: "type Query { film: String }",
      operations: ["a.graphql": "query Film { film }", "b.graphql": "# nothing"])
    let report = CheckReport(
      try folder.open("files: off\nschemas: ./schemas\n", upstream: ", forward: [authorization]"))
    let document = try JSONValue(parsing: Array(report.json().utf8))
    #expect(document["valid"] == true && document["operations"] == 1)
    let notes = (document["notes"]?.array ?? []).compactMap(\.string)
    #expect(notes.contains { $0.contains("`schemas` has no effect") })
    let warnings = document["warnings"]?.array ?? []
    #expect(warnings.map { $0["file"] } == [.string("\(folder.path)/operations/b.graphql")])
    let sections = document["sections"]?.array ?? []
    #expect(sections.contains(["title": "Switched off", "lines": ["files, s3"]]))
    #expect(sections.contains(["title": "Open to anyone", "lines": ["Film"]]))
    #expect(sections.contains { $0["title"] == "Forwarded to upstream" && $0["lines"]?[1] == nil })
    for section in sections {
      #expect(report.text.contains(section["title"]?.string ?? "-"))
      for line in section["lines"]?.array ?? [] {
        #expect(report.text.contains(line.string ?? "-"))
      }
    }
    #expect(document["comparison"] == nil)
  }

  @Test("With an old version the check's JSON has each change")
  func comparisonJSON() throws {
    let folder = try OperationsFolder(
      schema: "type Query { film: String }", operations: ["a.graphql": "query Film { film }"])
    let report = CheckReport(try folder.open())
    var changes = InterfaceChanges()
    changes.add(.breaking, "Film", "it is gone")
    changes.add(.note, "Films", "it is new")
    changes.add(.note, "People", "it is new")
    let comparison = VersionComparison.Report(
      text: "", isBreaking: true, document: changes.document(against: "old"))
    let document = try JSONValue(parsing: Array(report.json(comparison: comparison).utf8))
    #expect(document["comparison"]?["against"] == "old")
    #expect(document["comparison"]?["breaking"] == 1 && document["comparison"]?["other"] == 2)
    #expect(
      document["comparison"]?["changes"]?[0]
        == ["gravity": "breaking", "subject": "Film", "message": "it is gone"])
    #expect(document["comparison"]?["changes"]?.array?.count == 3)
    #expect(
      changes.report(against: "old").hasSuffix(
        "Compared with old: 1 breaking change, 2 other changes."))
  }

  @Test("A check names the parts that are off, with those that went along")
  func checkNamesPartsThatAreOff() throws {
    let folder = try OperationsFolder(
      schema: "type Query { film: String }", operations: ["a.graphql": "query Film { film }"])
    let text = CheckReport(try folder.open("files: off", upstream: "")).text
    #expect(text.contains("Switched off: files, s3"), "\(text)")
    #expect(!CheckReport(try folder.open("", upstream: "")).text.contains("Switched off"))
  }

  @Test("A failure without places is one fault")
  func plainFailure() throws {
    let json = CheckReport.json(StartFailure(.dataFolder, "The folder is gone."))
    let faults = try JSONValue(parsing: Array(json.utf8))["faults"]
    #expect(faults == [["message": "The folder is gone."]])
  }
}
