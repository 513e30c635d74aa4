import FoundationEssentials
import Gateway
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

  /// - Parameter isDeep: reads every page of the database and compares indexes with tables.
  package static func examine(
    _ loaded: LoadedSettings, isDeep: Bool = false,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) async -> DoctorReport {
    var findings = loaded.notes.map { Finding(part: "settings", verdict: .note, text: "\($0)") }
    findings += operations(loaded)
    findings += certificates(loaded.settings.tls)
    findings += disk(loaded.settings.dataFolder)
    findings += database(loaded.settings, isDeep: isDeep)
    findings += folder(loaded.settings, environment: environment)
    findings += await accounts(loaded.settings)
    findings += await files(loaded.settings.files)
    findings += await push(loaded.settings.push)
    findings.append(await upstream(loaded.settings))
    return DoctorReport(findings: findings, settingsText: SettingsDump.yaml(loaded))
  }

  private static func operations(_ loaded: LoadedSettings) -> [Finding] {
    do throws(StartFailure) {
      let workspace = try Workspace.open(loaded)
      let count = workspace.registry.operations.count
      let warnings = workspace.warnings.count
      let finding = Finding(
        part: "operations", verdict: warnings == 0 ? .good : .note,
        text: "\(count) operations, \(warnings) warnings; see larder check")
      return [finding] + queue(workspace)
    } catch {
      return [Finding(part: "operations", verdict: .bad, text: error.description)]
    }
  }

  /// Damage is the database's finding, not the queue's.
  private static func queue(_ workspace: Workspace) -> [Finding] {
    guard let misfits = try? QueuedOperations.misfits(workspace) else { return [] }
    return misfits.map { Finding(part: "queue", verdict: .bad, text: $0) }
  }

  /// Whether database, folder and key belong together.
  private static func folder(
    _ settings: Settings, environment: [String: String]
  ) -> [Finding] {
    let folder = DataFolder(path: settings.dataFolder)
    guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
    let marker: StoreMarker?
    do throws(StorageError) {
      marker = try Store.marker(folder: folder.path)
    } catch {
      // The database's own finding says it.
      return []
    }
    do throws(StartFailure) {
      if let name = folder.markerName, name != marker?.folder {
        let error: StorageError =
          marker == nil
          ? .noDatabase(folder: folder.path) : .otherDatabase(folder: folder.path)
        throw StartFailure(.dataFolder, StorageStartError.text(error, folder: folder.path))
      }
      try folder.checkKeyIsThere(for: marker, environment: environment)
      guard let marker else { return [] }
      // It is there, so none is made.
      let key = try folder.key(environment: environment) { 0 }
      guard KeyRing(root: key).digest != marker.keyDigest else {
        return [Finding(part: "folder", verdict: .good, text: "database and key belong together")]
      }
      return [
        Finding(
          part: "key", verdict: .bad,
          text: "it is not the one that secrets in the database are sealed with; put that one back")
      ]
    } catch {
      return [Finding(part: "folder", verdict: .bad, text: error.description)]
    }
  }

  /// Less than this keeps a service from writing soon.
  private static let freeBytesMin = 16 << 20

  private static func disk(_ folder: String) -> [Finding] {
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    if FileSystem.isReadOnly(at: folder) {
      return [
        Finding(
          part: "disk", verdict: .bad,
          text: "\(folder) is on a read-only file system: reads alone can be served")
      ]
    }
    guard let free = FileSystem.freeBytes(at: folder), free < freeBytesMin else { return [] }
    return [
      Finding(
        part: "disk", verdict: .bad, text: "\(free) bytes are free at \(folder): make room")
    ]
  }

  private static func database(_ settings: Settings, isDeep: Bool) -> [Finding] {
    let path = settings.dataFolder
    guard FileManager.default.fileExists(atPath: path) else {
      return [
        Finding(part: "data", verdict: .note, text: "\(path) will be made at the first start")
      ]
    }
    do throws(StorageError) {
      let found = try Store.inspect(folder: path, isDeep: isDeep)
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
          part: "database", verdict: .bad, text: StorageStartError.text(error, folder: path))
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
