import FoundationEssentials
import HTTPClient
import Model
import Storage
import Transport
import Upstream

/// What `larder doctor` finds: each part looked at by itself, so that one fault hides no other.
package struct DoctorReport: Sendable {
  package struct Finding: Sendable {
    package enum Verdict: String, Sendable {
      case good = "ok"
      case note
      case bad = "FAULT"
    }

    package let part: String
    package let verdict: Verdict
    package let text: String
  }

  package let findings: [Finding]
  private let settingsText: String

  package var isHealthy: Bool { !findings.contains { $0.verdict == .bad } }

  package var text: String {
    let lines = findings.map { "\($0.verdict.rawValue)\t\($0.part): \($0.text)" }
    return "Settings in force:\n\(settingsText)\n" + lines.joined(separator: "\n")
  }

  package static func examine(_ loaded: LoadedSettings) async -> DoctorReport {
    var findings = loaded.notes.map { Finding(part: "settings", verdict: .note, text: "\($0)") }
    findings.append(operations(loaded))
    findings += certificates(loaded.settings.tls)
    findings += database(loaded.settings)
    findings += await accounts(loaded.settings)
    findings += await files(loaded.settings.files)
    findings += await push(loaded.settings.push)
    findings.append(await upstream(loaded.settings))
    return DoctorReport(findings: findings, settingsText: SettingsDump.yaml(loaded))
  }

  private static func operations(_ loaded: LoadedSettings) -> Finding {
    do throws(StartFailure) {
      let workspace = try Workspace.open(loaded)
      let count = workspace.registry.operations.count
      let warnings = workspace.warnings.count
      return Finding(
        part: "operations", verdict: warnings == 0 ? .good : .note,
        text: "\(count) operations, \(warnings) warnings; see larder check")
    } catch {
      return Finding(part: "operations", verdict: .bad, text: error.description)
    }
  }

  private static func database(_ settings: Settings) -> [Finding] {
    let path = settings.dataFolder
    guard FileManager.default.fileExists(atPath: path) else {
      return [
        Finding(part: "data", verdict: .note, text: "\(path) will be made at the first start")
      ]
    }
    do throws(StorageError) {
      let found = try Store.inspect(folder: path)
      guard !found.isNewerSchema else { throw .newerSchema(folder: path) }
      let counts = found.statistics.map { statistics in
        let entities = statistics.tables.reduce(0) { $0 + $1.entities }
        return "\(statistics.databaseBytes) bytes, \(entities) entities, "
          + "\(statistics.results) results"
      }
      let state = found.isInUse ? "in use by a running service, " : ""
      let problems = found.problems.joined(separator: "; ")
      return [
        Finding(
          part: "database", verdict: found.problems.isEmpty ? .good : .bad,
          text: found.problems.isEmpty ? state + (counts ?? "empty") : "damaged: \(problems)"),
        sqlite(version: found.sqliteVersion),
      ]
    } catch {
      return [
        Finding(
          part: "database", verdict: .bad, text: StorageComplaint.text(error, folder: path))
      ]
    }
  }

  /// Before 3.51.3, two connections that write or checkpoint at once can lose pages. Larder has one
  /// that does; another program might be a second.
  private static func sqlite(version: String) -> Finding {
    let parts = version.split(separator: ".").compactMap { Int($0) }
    let isOld = parts.lexicographicallyPrecedes([3, 51, 3])
    return Finding(
      part: "SQLite", verdict: isOld ? .note : .good,
      text: isOld
        ? "\(version): let no other program write to the live database; versions before 3.51.3 can "
          + "lose pages then" : version)
  }

  private static func upstream(_ settings: Settings) async -> Finding {
    guard let url = settings.upstream.url?.text else {
      return Finding(part: "upstream", verdict: .bad, text: "upstream.url is not set")
    }
    do {
      let group = try EventLoopGroup(count: 1)
      let client = HTTPClient(
        group: group, tls: try TLSClientContext(), random: { Double.random(in: 0..<1) })
      let upstream = UpstreamClient(
        settings: Upstream.UpstreamSettings(settings, url: url), clock: SystemClock.wall,
        client: client)
      let finding = await ask(upstream, url: url)
      await client.close()
      await group.shutdown()
      return finding
    } catch {
      return Finding(part: "upstream", verdict: .bad, text: "\(error)")
    }
  }

  private static func ask(_ upstream: UpstreamClient, url: String) async -> Finding {
    do throws(UpstreamFailure) {
      let answer = try await upstream.introspect(call: UpstreamCall())
      return Finding(
        part: "upstream", verdict: answer.data == nil ? .note : .good,
        text: answer.data == nil
          ? "\(url) answers, and refuses introspection" : "\(url) answers introspection")
    } catch {
      return Finding(part: "upstream", verdict: .bad, text: "\(url): \(error)")
    }
  }
}
